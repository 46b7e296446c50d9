//! Recording one hook.

use super::{
    apply::{Injected, apply},
    session::{SessionLookup, find_or_create},
};
use crate::{Error, Ledger, Result, commit::EventFactory, guard::require, human::recent_activity::recent_activity};
use domain::{
    Scope, Timestamp,
    hook::{ParsedHook, Source, read},
    id::SessionId,
    limit::HOOK_CONTEXT_CHARS_MAX,
    role::Permission,
};
use uuid::Uuid;

/// How often a hook starts over because another one made the session at the same instant.
const TRIES_MAX: u32 = 4;
/// Events that one hook can write: a new session's three, its own, up to three changes of status, and the context.
const EVENTS_MAX: usize = 8;

/// A hook as it arrives.
#[derive(Debug, Clone)]
pub struct Hook {
    /// Which agent calls.
    pub source: Source,
    /// The agent's JSON, as it was sent.
    pub body: String,
    /// Made by whoever forwards it, so that a repeat is recognised. Where the payload has an id of its own, that counts.
    pub id: Option<Uuid>,
    /// When the hook was called; now when absent.
    pub at: Option<Timestamp>,
}

/// What the agent is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The hook's name, as it was sent.
    pub event_name: String,
    /// What its person was doing lately, for the agent to know.
    pub additional_context: Option<String>,
}

/// Why one try did not write.
pub(super) enum AttemptError {
    /// Another hook made the session meanwhile: look again.
    Again,
    /// It cannot be done.
    Failed(Error),
}

impl From<Error> for AttemptError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<store::Error> for AttemptError {
    fn from(error: store::Error) -> Self {
        Self::Failed(error.into())
    }
}

/// What a try needs, made before its transaction.
pub(super) struct Attempted {
    pub(super) scope: Scope,
    pub(super) source: Source,
    pub(super) parsed: ParsedHook,
    pub(super) external_id: Option<String>,
    pub(super) at: Option<Timestamp>,
    pub(super) context: Option<Injected>,
    pub(super) fresh: SessionId,
    pub(super) minter: EventFactory,
}

/// Records a hook and answers what the agent may be told. A repeat writes nothing and is answered the same.
///
/// A hook that comes after the end of its session and opens no new turn is answered, and not recorded: what is final stays.
pub async fn record(ledger: &Ledger, scope: &Scope, hook: Hook) -> Result<Answer> {
    require(scope, Permission::StartSession)?;
    let parsed = read(hook.source, &hook.body).map_err(|e| Error::invalid(e.field, e.message.clone()))?;
    let external_id = parsed.external_id.clone().or_else(|| hook.id.map(|id| format!("{}:{id}", parsed.event_name)));
    let context = if parsed.takes_context { context(ledger, scope).await } else { None };
    let told = context.as_ref().map(|context| context.text.clone());
    let answer = Answer { event_name: parsed.event_name.clone(), additional_context: told };
    for _ in 0..TRIES_MAX {
        let now = ledger.now();
        let attempted = Attempted {
            scope: *scope,
            source: hook.source,
            parsed: parsed.clone(),
            external_id: external_id.clone(),
            at: hook.at,
            context: context.clone(),
            fresh: SessionId::new(now, ledger.entropy()),
            minter: EventFactory::new(ledger, now, EVENTS_MAX),
        };
        let tried = ledger.write::<_, AttemptError, _>(scope.into(), move |tx| {
            Box::pin(async move {
                let mut attempted = attempted;
                match find_or_create(tx, &mut attempted).await? {
                    SessionLookup::Session(session) => apply(tx, session, attempted).await,
                    SessionLookup::Recorded | SessionLookup::Over => Ok(()),
                }
            })
        });
        match tried.await {
            Ok(()) => return Ok(answer),
            Err(AttemptError::Again) => {}
            Err(AttemptError::Failed(error)) => return Err(error),
        }
    }
    Err(Error::Unavailable("the same session is being made again and again".into()))
}

/// What the token's person was doing just now. An agent goes on without it where it cannot be read.
async fn context(ledger: &Ledger, scope: &Scope) -> Option<Injected> {
    scope.acting_user()?;
    match recent_activity(ledger, scope).await {
        Ok(block) => {
            let block = block.filter(|block| block.text.chars().count() <= HOOK_CONTEXT_CHARS_MAX)?;
            Some(Injected { text: block.text, about: block.session_id })
        }
        Err(error) => {
            tracing::warn!(%error, "no context for a coding agent");
            None
        }
    }
}
