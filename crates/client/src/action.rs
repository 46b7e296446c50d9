//! Calls on actions, and on the caller's own account.

use crate::{Client, Result, limit};
use domain::id::ActionId;
use reqwest::Method;
use wire::{
    Page,
    action::{Action, CreateAction, TaskStatus, Trigger, UpdateAction},
    count::WorkQueueCounts,
    me::Me,
    session::Session,
};

impl Client {
    /// `GET /api/me`
    pub async fn me(&self) -> Result<Me> {
        self.get(&["api", "me"], &[]).await
    }

    /// `GET /api/today/work-queue-counts`; `timezone` is an IANA name such as `Europe/Athens`.
    pub async fn work_queue_counts(&self, timezone: &str) -> Result<WorkQueueCounts> {
        self.get(&["api", "today", "work-queue-counts"], &[("timezone", Some(timezone.to_owned()))]).await
    }

    /// `POST /api/actions`
    pub async fn create_action(&self, action: &CreateAction) -> Result<Action> {
        self.post(&["api", "actions"], action).await
    }

    /// `GET /api/actions`
    pub async fn list_actions(&self, limit: Option<u32>, cursor: Option<&str>) -> Result<Page<Action>> {
        let query = [("limit", limit.map(|n| n.to_string())), ("cursor", cursor.map(str::to_owned))];
        self.get(&["api", "actions"], &query).await
    }

    /// `GET /api/actions/{id}`
    pub async fn get_action(&self, id: ActionId) -> Result<Action> {
        self.get(&["api", "actions", &id.to_string()], &[]).await
    }

    /// `PATCH /api/actions/{id}`
    pub async fn update_action(&self, id: ActionId, change: &UpdateAction) -> Result<Action> {
        self.send(Method::PATCH, &["api", "actions", &id.to_string()], change, limit::CALL_TIMEOUT).await
    }

    /// `POST /api/actions/{id}/trigger`. Can be repeated with an idempotency key.
    pub async fn trigger(&self, id: ActionId, trigger: &Trigger) -> Result<Session> {
        self.post(&["api", "actions", &id.to_string(), "trigger"], trigger).await
    }

    /// `GET /api/actions/{id}/task-status`
    pub async fn task_status(&self, id: ActionId) -> Result<TaskStatus> {
        self.get(&["api", "actions", &id.to_string(), "task-status"], &[]).await
    }
}
