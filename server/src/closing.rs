//! Ending conversations: where the agent is a model that this server runs, it is asked for closing words first.
//!
//! The conversation ends whatever comes of that: the wait is bounded, a stopping server does not wait, and the ending is a
//! task of its own that goes on without whoever asked for it.

use crate::state::AppState;
use domain::{
    Scope,
    id::{SessionId, TenantId},
    limit::CLOSING_MS_MAX,
    session::Status,
};
use ledger::{
    Error, Result, SessionRecord,
    thread::{self, Closing, Ended, Ending},
};
use runner::execute::{Adapter, Desk};
use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::time::timeout;

/// An agent at work in a workspace, and how it reads logs there.
#[derive(Debug, Clone)]
pub struct Speaker {
    /// What it is.
    pub adapter: Arc<dyn Adapter>,
    /// Its way to the log.
    pub desk: Arc<dyn Desk>,
}

/// The agents of this server that can be asked, and the conversations that are being ended.
#[derive(Default)]
pub struct Closings {
    speakers: Mutex<HashMap<(TenantId, String), Speaker>>,
    ending: Mutex<HashMap<SessionId, Arc<tokio::sync::Mutex<()>>>>,
}

impl fmt::Debug for Closings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Closings").finish_non_exhaustive()
    }
}

impl Closings {
    /// An agent is at work from now on.
    pub fn register(&self, tenant_id: TenantId, slug: &str, speaker: Speaker) {
        held(&self.speakers).insert((tenant_id, slug.to_owned()), speaker);
    }

    fn speaker(&self, session: &SessionRecord) -> Option<Speaker> {
        let slug = session.agent_slug.clone()?;
        held(&self.speakers).get(&(session.tenant_id, slug)).cloned()
    }

    /// One of several who end a conversation at once: its agent is asked once.
    fn turn(&self, id: SessionId) -> Arc<tokio::sync::Mutex<()>> {
        let mut ending = held(&self.ending);
        // Those that nobody holds any more have ended.
        ending.retain(|_, turn| Arc::strong_count(turn) > 1);
        Arc::clone(ending.entry(id).or_default())
    }
}

fn held<T>(what: &Mutex<T>) -> MutexGuard<'_, T> {
    what.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends a conversation as [`thread::end`] does, with its agent's closing words in the summary where it can be asked for them.
///
/// # Errors
/// See [`thread::end`].
pub async fn end(state: &AppState, scope: &Scope, id: SessionId, ending: Ending) -> Result<Ended> {
    let (state, scope) = (state.clone(), *scope);
    let ended = tokio::spawn(async move {
        let turn = state.closings.turn(id);
        let _turn = turn.lock().await;
        let closing = if ending.summary { closing(&state, &scope, id).await } else { None };
        thread::end_with(&state.ledger, &scope, id, ending, closing).await
    });
    ended.await.unwrap_or_else(|error| Err(Error::Internal(format!("an ending broke off: {error}"))))
}

/// What its agent says, where there is something to sum up and an agent to ask. Whoever may not end it has nobody asked.
async fn closing(state: &AppState, scope: &Scope, id: SessionId) -> Option<Closing> {
    let (session, turns) = thread::get(&state.ledger, scope, id).await.ok()?;
    let is_at_rest = session.status == Status::Idle && turns > 0 && thread::is_own(scope, &session);
    let speaker = state.closings.speaker(&session).filter(|_| is_at_rest)?;
    let id = session.id.to_string();
    let asked = speaker.adapter.close(&*speaker.desk, &id)?;
    let not_said = |why: String| Closing { head_sequence: session.head_sequence, words: Err(why), usage: None };
    let said = tokio::select! {
        said = timeout(Duration::from_millis(CLOSING_MS_MAX), asked) => said,
        () = state.shutdown.begun() => return Some(not_said("the server is stopping".into())),
    };
    let Ok(said) = said else {
        let seconds = CLOSING_MS_MAX / 1_000;
        return Some(not_said(format!("the agent took longer than {seconds} seconds")));
    };
    if let Err(failure) = &said.words {
        tracing::info!(session = %id, code = failure.code, "a conversation ends without its agent's closing words");
    }
    Some(Closing {
        head_sequence: session.head_sequence,
        words: said.words.map_err(|failure| failure.message),
        usage: said.usage.map(|usage| usage.get().to_owned()),
    })
}
