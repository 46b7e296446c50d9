//! Calls on conversations.

use crate::{Client, Result};
use domain::id::SessionId;
use wire::{
    Page,
    approval::ElicitationReply,
    session::Session,
    thread::{EndThread, EndedThread, MemoryStatus, MessageReceipt, NewMessage, StartThread, Thread},
};

impl Client {
    /// `POST /api/threads`. Can be repeated with an idempotency key.
    pub async fn start_thread(&self, thread: &StartThread) -> Result<Thread> {
        self.post(&["api", "threads"], thread).await
    }

    /// `GET /api/threads`, one page.
    pub async fn list_threads(&self, cursor: Option<&str>) -> Result<Page<Thread>> {
        self.get(&["api", "threads"], &[("cursor", cursor.map(str::to_owned))]).await
    }

    /// `GET /api/threads/{id}`
    pub async fn get_thread(&self, id: SessionId) -> Result<Thread> {
        self.get(&["api", "threads", &id.to_string()], &[]).await
    }

    /// `POST /api/threads/{id}/messages`. Can be repeated with an id, a UUID.
    pub async fn send_message(&self, id: SessionId, message: &NewMessage) -> Result<MessageReceipt> {
        self.post(&["api", "threads", &id.to_string(), "messages"], message).await
    }

    /// `POST /api/threads/{id}/interrupt`. Can be repeated.
    pub async fn interrupt_thread(&self, id: SessionId) -> Result<Thread> {
        self.post(&["api", "threads", &id.to_string(), "interrupt"], &serde_json::json!({})).await
    }

    /// `POST /api/threads/{id}/end`. Can be repeated.
    pub async fn end_thread(&self, id: SessionId, ending: &EndThread) -> Result<EndedThread> {
        self.post(&["api", "threads", &id.to_string(), "end"], ending).await
    }

    /// `GET /api/memory/status`
    pub async fn memory_status(&self, thread_id: Option<SessionId>) -> Result<MemoryStatus> {
        self.get(&["api", "memory", "status"], &[("thread_id", thread_id.map(|id| id.to_string()))]).await
    }

    /// `POST /api/sessions/{id}/elicitation-reply`: answers the question that a session waits for.
    pub async fn reply(&self, session_id: SessionId, reply: &ElicitationReply) -> Result<Session> {
        self.post(&["api", "sessions", &session_id.to_string(), "elicitation-reply"], reply).await
    }
}
