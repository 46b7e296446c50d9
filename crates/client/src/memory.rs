//! Calls on memory documents, character cards and memory writers of agents, and those that forget a person.

use crate::{Client, Result, limit};
use domain::{Timestamp, id::SessionId};
use reqwest::Method;
use wire::{
    Page,
    interaction::ForgottenInteractions,
    memory::{
        CharacterCard, MemoryDocument, MemoryDocumentText, MemoryToolAnswer, MemoryToolCommand, MemoryVersion,
        RevertMemory, UploadedCard, WriteMemory,
    },
    memory_forget::{ForgetPerson, ForgottenPerson, RememberPerson, RememberedPerson},
    memory_revert::{RevertMemorySession, RevertedMemorySession},
    memory_writer::{MemoryFlush, MemoryRuns},
    relevance::{RateMemories, RatedMemories},
};

fn path_query(path: &str) -> [(&'static str, Option<String>); 1] {
    [("path", Some(path.to_owned()))]
}

impl Client {
    /// `GET /api/agents/{slug}/memory`, one page.
    pub async fn list_memory(&self, agent: &str, cursor: Option<&str>) -> Result<Page<MemoryDocument>> {
        let query = [("limit", Some("1000".to_owned())), ("cursor", cursor.map(str::to_owned))];
        self.get(&["api", "agents", agent, "memory"], &query).await
    }

    /// `GET /api/agents/{slug}/memory/document`
    pub async fn get_memory(&self, agent: &str, path: &str) -> Result<MemoryDocumentText> {
        self.get(&["api", "agents", agent, "memory", "document"], &path_query(path)).await
    }

    /// `PUT /api/agents/{slug}/memory/document`. A repeat after a success changes nothing.
    pub async fn write_memory(&self, agent: &str, path: &str, write: &WriteMemory) -> Result<MemoryDocument> {
        let body = serde_json::to_vec(write).map_err(|error| crate::Error::protocol(None, error.to_string()))?;
        let to = ["api", "agents", agent, "memory", "document"];
        self.send_bytes(Method::PUT, &to, &path_query(path), "application/json", body).await
    }

    /// `GET /api/agents/{slug}/memory/versions`, one page: of one document, or of all.
    pub async fn list_memory_versions(&self, agent: &str, path: Option<&str>, max: u32) -> Result<Page<MemoryVersion>> {
        let query = [("path", path.map(str::to_owned)), ("limit", Some(max.to_string()))];
        self.get(&["api", "agents", agent, "memory", "versions"], &query).await
    }

    /// `POST /api/agents/{slug}/memory/revert`. A repeat after a success is refused, because the version has changed.
    pub async fn revert_memory(&self, agent: &str, revert: &RevertMemory) -> Result<MemoryDocument> {
        self.post(&["api", "agents", agent, "memory", "revert"], revert).await
    }

    /// `POST /api/agents/{slug}/memory/revert-session`. A repeat changes nothing.
    pub async fn revert_memory_session(
        &self,
        agent: &str,
        revert: &RevertMemorySession,
    ) -> Result<RevertedMemorySession> {
        self.post(&["api", "agents", agent, "memory", "revert-session"], revert).await
    }

    /// `POST /api/agents/{slug}/memory/tool`, for the agent of this session. The sequence is that of the event in which
    /// the agent calls the tool. Without it the server takes the newest event of the session.
    pub async fn call_memory_tool(
        &self,
        agent: &str,
        (session_id, sequence): (SessionId, Option<u64>),
        command: &MemoryToolCommand,
    ) -> Result<MemoryToolAnswer> {
        let body = serde_json::to_string(command).map_err(|error| crate::Error::protocol(None, error.to_string()))?;
        let sequence = sequence.map(|sequence| sequence.to_string());
        let query = [("sessionId", Some(session_id.to_string())), ("sequence", sequence)];
        self.post_document(&["api", "agents", agent, "memory", "tool"], &query, body, limit::CALL_TIMEOUT).await
    }

    /// `POST /api/sessions/{id}/memory-feedback`. A repeat changes nothing.
    pub async fn rate_memories(&self, session_id: SessionId, rate: &RateMemories) -> Result<RatedMemories> {
        self.post(&["api", "sessions", &session_id.to_string(), "memory-feedback"], rate).await
    }

    /// `GET /api/agents/{slug}/card`
    pub async fn get_card(&self, agent: &str) -> Result<CharacterCard> {
        self.get(&["api", "agents", agent, "card"], &[]).await
    }

    /// `GET /api/agents/{slug}/card/original`: the bytes as they were uploaded.
    pub async fn download_card(&self, agent: &str) -> Result<Vec<u8>> {
        self.get_bytes(&["api", "agents", agent, "card", "original"]).await
    }

    /// `PUT /api/agents/{slug}/card`. The same card again changes nothing. Without `overwrite` a card is refused that
    /// would change documents that were changed since the last card.
    pub async fn put_card(
        &self,
        agent: &str,
        media_type: &'static str,
        card: Vec<u8>,
        overwrite: bool,
    ) -> Result<UploadedCard> {
        let query = [("overwrite", overwrite.then(|| "true".to_owned()))];
        self.send_bytes(Method::PUT, &["api", "agents", agent, "card"], &query, media_type, card).await
    }
}

impl Client {
    /// `POST /api/memory/forget`
    pub async fn forget_person(&self, person: &ForgetPerson) -> Result<ForgottenPerson> {
        self.post(&["api", "memory", "forget"], person).await
    }

    /// `DELETE /api/sessions/{id}/interactions`
    pub async fn forget_interactions(&self, id: SessionId) -> Result<ForgottenInteractions> {
        let path = ["api", "sessions", &id.to_string(), "interactions"];
        self.send(Method::DELETE, &path, &serde_json::json!({}), limit::CALL_TIMEOUT).await
    }

    /// `POST /api/memory/remember`
    pub async fn remember_person(&self, person: &RememberPerson) -> Result<RememberedPerson> {
        self.post(&["api", "memory", "remember"], person).await
    }
}

impl Client {
    /// `POST /api/agents/{slug}/memory/flush`. With `since` the sessions that began then or later are read too.
    pub async fn flush_memory(&self, agent: &str, since: Option<Timestamp>) -> Result<MemoryFlush> {
        let query = [("since", since.map(|since| since.to_rfc3339()))];
        let to = ["api", "agents", agent, "memory", "flush"];
        self.send_bytes(Method::POST, &to, &query, "application/json", b"null".to_vec()).await
    }

    /// `GET /api/agents/{slug}/memory/runs`
    pub async fn memory_runs(&self, agent: &str) -> Result<MemoryRuns> {
        self.get(&["api", "agents", agent, "memory", "runs"], &[]).await
    }
}
