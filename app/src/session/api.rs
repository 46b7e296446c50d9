//! The server functions of a session: cancel it, run it again, acknowledge its failure, make an entity from it if it is
//! a response, and rate it. Forms post to them; the rating panel calls those that it needs.

#[cfg(feature = "ssr")]
use crate::server_function::backend;
use crate::server_function::{Client, Created, Refusal};
use leptos::prelude::server;

/// What the server does for these functions.
#[cfg(feature = "ssr")]
#[async_trait::async_trait]
pub trait SessionBackend: Send + Sync {
    /// See [`cancel_session`].
    async fn cancel(&self, session_id: String, reason: Option<String>) -> Result<(), Refusal>;
    /// See [`retry_session`].
    async fn retry(&self, session_id: String) -> Result<Created, Refusal>;
    /// See [`acknowledge_failure`].
    async fn acknowledge(&self, session_id: String) -> Result<(), Refusal>;
    /// See [`promote_response`].
    async fn promote(&self, session_id: String, to: String, title: Option<String>) -> Result<(), Refusal>;
    /// See [`rate_session`].
    async fn rate(&self, session_id: String, label: String) -> Result<(), Refusal>;
    /// See [`undo_rating`].
    async fn undo_rating(&self, session_id: String) -> Result<(), Refusal>;
    /// See [`dismiss_rating`].
    async fn dismiss_rating(&self, session_id: String) -> Result<(), Refusal>;
}

/// Cancels a session and the open sessions that it started.
#[server(prefix = "/fn", endpoint = "session/cancel", client = Client)]
pub async fn cancel_session(session_id: String, #[server(default)] reason: Option<String>) -> Result<(), Refusal> {
    backend::<dyn SessionBackend>()?.cancel(session_id, reason).await
}

/// Creates a session like one that has ended.
#[server(prefix = "/fn", endpoint = "session/retry", client = Client)]
pub async fn retry_session(session_id: String) -> Result<Created, Refusal> {
    backend::<dyn SessionBackend>()?.retry(session_id).await
}

/// Marks the failure of a session as seen. One that is acknowledged already stays as it is.
#[server(prefix = "/fn", endpoint = "session/acknowledge", client = Client)]
pub async fn acknowledge_failure(session_id: String) -> Result<(), Refusal> {
    backend::<dyn SessionBackend>()?.acknowledge(session_id).await
}

/// Makes an entity from a submitted response. `to` says by what: `type:ID` by an entity type, `task:ID` by a task. A
/// repeat makes nothing.
#[server(prefix = "/fn", endpoint = "session/promote", client = Client)]
pub async fn promote_response(
    session_id: String,
    to: String,
    #[server(default)] title: Option<String>,
) -> Result<(), Refusal> {
    backend::<dyn SessionBackend>()?.promote(session_id, to, title).await
}

/// Records the caller's rating of a completed session: `positive`, `negative` or `skip`. It replaces an earlier one.
#[server(prefix = "/fn", endpoint = "session/rate", client = Client)]
pub async fn rate_session(session_id: String, label: String) -> Result<(), Refusal> {
    backend::<dyn SessionBackend>()?.rate(session_id, label).await
}

/// Removes the caller's rating of a session.
#[server(prefix = "/fn", endpoint = "session/undo-rating", client = Client)]
pub async fn undo_rating(session_id: String) -> Result<(), Refusal> {
    backend::<dyn SessionBackend>()?.undo_rating(session_id).await
}

/// Lets this browser ask the caller no more for a rating of a session. Nothing is recorded on the server.
#[server(prefix = "/fn", endpoint = "session/dismiss-rating", client = Client)]
pub async fn dismiss_rating(session_id: String) -> Result<(), Refusal> {
    backend::<dyn SessionBackend>()?.dismiss_rating(session_id).await
}

#[cfg(feature = "hydrate")]
mod calls {
    use super::{DismissRating, RateSession, UndoRating};
    use crate::server_function::{Arguments, Call, fields};

    impl Call for RateSession {
        fn arguments(self) -> Arguments {
            Arguments::Form(fields(&[("session_id", &self.session_id), ("label", &self.label)]))
        }
    }

    impl Call for UndoRating {
        fn arguments(self) -> Arguments {
            Arguments::Form(fields(&[("session_id", &self.session_id)]))
        }
    }

    impl Call for DismissRating {
        fn arguments(self) -> Arguments {
            Arguments::Form(fields(&[("session_id", &self.session_id)]))
        }
    }
}
