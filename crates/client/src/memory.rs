//! Calls on memory documents and character cards of agents.

use crate::{Client, Result, limit};
use domain::id::SessionId;
use reqwest::Method;
use wire::{
    Page,
    memory::{
        CharacterCard, MemoryDocument, MemoryDocumentText, MemoryToolAnswer, MemoryToolCommand, MemoryVersion,
        RevertMemory, UploadedCard, WriteMemory,
    },
    memory_revert::{RevertMemorySession, RevertedMemorySession},
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
