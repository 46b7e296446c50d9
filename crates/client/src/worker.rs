//! The calls of workers. Each can be repeated with the same attempt: the repeat is answered as the first call was.

use crate::{Client, Result, limit};
use domain::id::SessionId;
use reqwest::Method;
use std::time::Duration;
use wire::{
    Json,
    session::{Session, SessionError},
    worker::{Attempt, Claim, Claimed, Complete, Delta, Fail, Lease, Progress, Wake, Yield},
};

impl Client {
    /// `POST /api/sessions/claim`. If the answer is lost, its sessions stay leased until the leases expire.
    pub async fn claim(&self, claim: &Claim) -> Result<Claimed> {
        let wait = Duration::from_secs(u64::from(claim.wait_seconds.unwrap_or_default()));
        self.send(Method::POST, &["api", "sessions", "claim"], claim, wait + limit::CLAIM_MARGIN).await
    }

    /// `POST /api/sessions/{id}/heartbeat`, with `allowed` as its timeout: a heartbeat that takes longer than the lease
    /// is useless.
    pub async fn heartbeat(&self, session_id: SessionId, attempt: u32, allowed: Duration) -> Result<Lease> {
        self.send(
            Method::POST,
            &["api", "sessions", &session_id.to_string(), "heartbeat"],
            &Attempt { attempt },
            allowed,
        )
        .await
    }

    /// `POST /api/sessions/{id}/deltas`: publishes a piece of an unfinished reply to current followers.
    pub async fn send_delta(&self, session_id: SessionId, delta: &Delta) -> Result<()> {
        self.post(&["api", "sessions", &session_id.to_string(), "deltas"], delta).await
    }

    /// `POST /api/sessions/{id}/progress`: publishes how far the session is to current followers.
    pub async fn send_progress(&self, session_id: SessionId, progress: &Progress) -> Result<()> {
        self.post(&["api", "sessions", &session_id.to_string(), "progress"], progress).await
    }

    /// `POST /api/sessions/{id}/complete`
    pub async fn complete(
        &self,
        session_id: SessionId,
        attempt: u32,
        result: Option<Json>,
        usage: Option<Json>,
    ) -> Result<Session> {
        self.report_completion(session_id, &Complete { attempt, result, usage, if_status: None }).await
    }

    /// `POST /api/sessions/{id}/complete` with all of its fields.
    pub async fn report_completion(&self, session_id: SessionId, completion: &Complete) -> Result<Session> {
        self.post(&["api", "sessions", &session_id.to_string(), "complete"], completion).await
    }

    /// `POST /api/sessions/{id}/fail`
    pub async fn fail(
        &self,
        session_id: SessionId,
        attempt: u32,
        message: &str,
        code: Option<&str>,
    ) -> Result<Session> {
        let error = SessionError { message: message.to_owned(), code: code.map(str::to_owned) };
        self.report_failure(session_id, &Fail { attempt, error, usage: None, if_status: None }).await
    }

    /// `POST /api/sessions/{id}/fail` with all of its fields.
    pub async fn report_failure(&self, session_id: SessionId, failure: &Fail) -> Result<Session> {
        self.post(&["api", "sessions", &session_id.to_string(), "fail"], failure).await
    }

    /// `POST /api/sessions/{id}/yield`: parks the session until what it waits for is there.
    pub async fn yield_to(&self, session_id: SessionId, to: &Yield) -> Result<Session> {
        self.post(&["api", "sessions", &session_id.to_string(), "yield"], to).await
    }

    /// `POST /api/sessions/{id}/wake`: takes an idle session back under the attempt that left it.
    pub async fn wake(&self, session_id: SessionId, attempt: u32, lease_seconds: Option<u32>) -> Result<Session> {
        let wake = Wake { attempt, lease_seconds };
        self.post(&["api", "sessions", &session_id.to_string(), "wake"], &wake).await
    }

    /// `POST /api/sessions/{id}/release`: returns the session to the queue, unfinished.
    pub async fn release(&self, session_id: SessionId, attempt: u32) -> Result<Session> {
        self.post(&["api", "sessions", &session_id.to_string(), "release"], &Attempt { attempt }).await
    }
}
