//! Ends conversations. If the conversation's agent is a model that this server runs, the model is asked for a summary
//! first.
//!
//! The conversation ends with or without that summary: the wait is bounded, a server that is stopping does not wait,
//! and the work runs in a task of its own that continues if the client disconnects.

use crate::state::AppState;
use domain::{Scope, id::SessionId, limit::CLOSING_MS_MAX, session::Status};
use ledger::{
    Error, Result,
    thread::{self, Closing, Ended, Ending},
};
use std::time::Duration;
use tokio::time::timeout;

/// Ends a conversation as [`thread::end`] does. The summary has the text of the agent where the agent can be asked.
///
/// # Errors
/// See [`thread::end`].
pub async fn end(state: &AppState, scope: &Scope, id: SessionId, ending: Ending) -> Result<Ended> {
    let (state, scope) = (state.clone(), *scope);
    let ended = tokio::spawn(async move {
        let lock = state.summary_agents.lock_of(id);
        let _guard = lock.lock().await;
        let closing = if ending.summary { summarize(&state, &scope, id).await } else { None };
        thread::end_with(&state.ledger, &scope, id, ending, closing).await
    });
    ended.await.unwrap_or_else(|error| Err(Error::Internal(format!("an ending broke off: {error}"))))
}

/// Asks the agent for a summary, for at most [`CLOSING_MS_MAX`]. `None` if the caller may not end the conversation, the
/// conversation is empty or not idle, or no such agent runs here.
async fn summarize(state: &AppState, scope: &Scope, id: SessionId) -> Option<Closing> {
    let (session, turns) = thread::get(&state.ledger, scope, id).await.ok()?;
    let is_idle = session.status() == Status::Idle && turns > 0 && thread::is_own(scope, &session);
    let agent = state.summary_agents.agent_of(&session).filter(|_| is_idle)?;
    let id = session.id.to_string();
    let asked = agent.adapter.summarize(&*agent.api, &id)?;
    let missing = |why: String| Closing { head_sequence: session.head_sequence, words: Err(why), usage: None };
    let summary = tokio::select! {
        summary = timeout(Duration::from_millis(CLOSING_MS_MAX), asked) => summary,
        () = state.shutdown.begun() => return Some(missing("the server is stopping".into())),
    };
    let Ok(summary) = summary else {
        let seconds = CLOSING_MS_MAX / 1_000;
        return Some(missing(format!("the agent took longer than {seconds} seconds")));
    };
    if let Err(failure) = &summary.text {
        tracing::info!(session = %id, code = failure.code, "a conversation ends without a summary of its agent");
    }
    Some(Closing {
        head_sequence: session.head_sequence,
        words: summary.text.map_err(|failure| failure.message),
        usage: summary.usage.map(|usage| usage.get().to_owned()),
    })
}
