//! Calls on conversations.

use crate::{Client, Result};
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
    pub async fn get_thread(&self, id: &str) -> Result<Thread> {
        self.get(&["api", "threads", id], &[]).await
    }

    /// `POST /api/threads/{id}/messages`. Can be repeated with an id, a UUID.
    pub async fn send_message(&self, id: &str, message: &NewMessage) -> Result<MessageReceipt> {
        self.post(&["api", "threads", id, "messages"], message).await
    }

    /// `POST /api/threads/{id}/interrupt`. Can be repeated.
    pub async fn interrupt_thread(&self, id: &str) -> Result<Thread> {
        self.post(&["api", "threads", id, "interrupt"], &serde_json::json!({})).await
    }

    /// `POST /api/threads/{id}/end`. Can be repeated.
    pub async fn end_thread(&self, id: &str, ending: &EndThread) -> Result<EndedThread> {
        self.post(&["api", "threads", id, "end"], ending).await
    }

    /// `GET /api/memory/status`
    pub async fn memory_status(&self, thread_id: Option<&str>) -> Result<MemoryStatus> {
        self.get(&["api", "memory", "status"], &[("thread_id", thread_id.map(str::to_owned))]).await
    }

    /// `POST /api/sessions/{id}/elicitation-reply`: answers the question that a session waits for.
    pub async fn reply(&self, session_id: &str, reply: &ElicitationReply) -> Result<Session> {
        self.post(&["api", "sessions", session_id, "elicitation-reply"], reply).await
    }
}
