//! Calls on canvases.

use crate::{Client, Result, limit};
use domain::id::SessionId;
use reqwest::Method;
use std::time::Duration;
use wire::{
    Page,
    canvas::{
        Canvas, CanvasParticipants, CanvasPatches, CanvasPresences, CanvasState, CanvasSummary, CanvasTemplates,
        CompleteCanvas, CreateCanvas, MarkPresence, PatchAnswer, PutParticipant, PutTemplate, SendPatch,
    },
    canvas_suggestion::{
        CanvasSuggestions, DecideSuggestion, DecideSuggestions, DecidedSuggestions, UndoSuggestionDecision,
    },
};

impl Client {
    /// `POST /api/canvases`
    pub async fn create_canvas(&self, canvas: &CreateCanvas) -> Result<Canvas> {
        self.post(&["api", "canvases"], canvas).await
    }

    /// `GET /api/canvases`
    pub async fn list_canvases(&self, limit: Option<u32>, cursor: Option<&str>) -> Result<Page<CanvasSummary>> {
        let query = [("limit", limit.map(|n| n.to_string())), ("cursor", cursor.map(str::to_owned))];
        self.get(&["api", "canvases"], &query).await
    }

    /// `GET /api/canvases/templates`
    pub async fn canvas_templates(&self) -> Result<CanvasTemplates> {
        self.get(&["api", "canvases", "templates"], &[]).await
    }

    /// `PUT /api/canvases/{id}/template`
    pub async fn put_canvas_template(&self, id: SessionId, template: &PutTemplate) -> Result<Canvas> {
        let path = ["api", "canvases", &id.to_string(), "template"];
        self.send(Method::PUT, &path, template, limit::CALL_TIMEOUT).await
    }

    /// `GET /api/canvases/{id}`
    pub async fn get_canvas(&self, id: SessionId) -> Result<Canvas> {
        self.get(&["api", "canvases", &id.to_string()], &[]).await
    }

    /// `GET /api/canvases/{id}/state`
    pub async fn canvas_state(&self, id: SessionId, version: Option<u64>) -> Result<CanvasState> {
        let query = [("version", version.map(|version| version.to_string()))];
        self.get(&["api", "canvases", &id.to_string(), "state"], &query).await
    }

    /// `POST /api/canvases/{id}/patches`. Can be repeated.
    pub async fn patch_canvas(&self, id: SessionId, patch: &SendPatch) -> Result<PatchAnswer> {
        self.post(&["api", "canvases", &id.to_string(), "patches"], patch).await
    }

    /// `GET /api/canvases/{id}/patches`. If there are none after this version, it waits for one.
    pub async fn canvas_patches(&self, id: SessionId, after: u64, wait_seconds: u32) -> Result<CanvasPatches> {
        let wait = (wait_seconds > 0).then(|| wait_seconds.to_string());
        let query = [("after", Some(after.to_string())), ("waitSeconds", wait)];
        let allowed = Duration::from_secs(wait_seconds.into()) + limit::CALL_TIMEOUT;
        self.get_within(&["api", "canvases", &id.to_string(), "patches"], &query, allowed).await
    }

    /// `GET /api/canvases/{id}/suggestions`
    pub async fn canvas_suggestions(&self, id: SessionId) -> Result<CanvasSuggestions> {
        self.get(&["api", "canvases", &id.to_string(), "suggestions"], &[]).await
    }

    /// `POST /api/canvases/{id}/suggestions`. Can be repeated.
    pub async fn decide_canvas_suggestion(&self, id: SessionId, decision: &DecideSuggestion) -> Result<PatchAnswer> {
        self.post(&["api", "canvases", &id.to_string(), "suggestions"], decision).await
    }

    /// `POST /api/canvases/{id}/suggestions/decisions`. Can be repeated.
    pub async fn decide_canvas_suggestions(
        &self,
        id: SessionId,
        decisions: &DecideSuggestions,
    ) -> Result<DecidedSuggestions> {
        self.post(&["api", "canvases", &id.to_string(), "suggestions", "decisions"], decisions).await
    }

    /// `POST /api/canvases/{id}/suggestions/undo`
    pub async fn undo_canvas_suggestion(&self, id: SessionId, undo: &UndoSuggestionDecision) -> Result<PatchAnswer> {
        self.post(&["api", "canvases", &id.to_string(), "suggestions", "undo"], undo).await
    }

    /// `GET /api/canvases/{id}/participants`
    pub async fn canvas_participants(&self, id: SessionId) -> Result<CanvasParticipants> {
        self.get(&["api", "canvases", &id.to_string(), "participants"], &[]).await
    }

    /// `PUT /api/canvases/{id}/participants`
    pub async fn put_canvas_participant(&self, id: SessionId, one: &PutParticipant) -> Result<CanvasParticipants> {
        let path = ["api", "canvases", &id.to_string(), "participants"];
        self.send(Method::PUT, &path, one, limit::CALL_TIMEOUT).await
    }

    /// `POST /api/canvases/{id}/presence`
    pub async fn mark_canvas_presence(&self, id: SessionId, place: &MarkPresence) -> Result<CanvasPresences> {
        self.post(&["api", "canvases", &id.to_string(), "presence"], place).await
    }

    /// `POST /api/canvases/{id}/complete`. Can be repeated.
    pub async fn complete_canvas(&self, id: SessionId, complete: &CompleteCanvas) -> Result<Canvas> {
        self.post(&["api", "canvases", &id.to_string(), "complete"], complete).await
    }
}
