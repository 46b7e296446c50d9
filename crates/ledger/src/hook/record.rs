//! Recording one hook.

use super::{
    apply::apply,
    attempt::{AttemptError, Attempted},
    session::{SessionLookup, find_newest, find_or_create},
};
use crate::{
    Error, Ledger, Result,
    commit::Minter,
    guard::require,
    human::recent_activity::recent_activity_within,
    memory_block::{self, About, Learning, MemoryBlock, Rated},
    relevance, telemetry,
};
use domain::{
    Scope, Timestamp,
    event::kind::{Context, ContextInjected},
    hook::{ParsedHook, Source, read},
    id::SessionId,
    role::Permission,
    telemetry::PROMPT,
};
use uuid::Uuid;

/// How often a hook is tried again because another hook created the session at the same time.
const TRIES_MAX: u32 = 4;
/// A hook as it arrives.
#[derive(Debug, Clone)]
pub struct Hook {
    /// The agent that calls.
    pub source: Source,
    /// The agent's JSON payload, unchanged.
    pub body: String,
    /// Id made by the program that forwards the hook, so that a repeat is detected. An id in the payload takes
    /// precedence.
    pub id: Option<Uuid>,
    /// When the hook was called; now when `None`.
    pub at: Option<Timestamp>,
}

/// The response to the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Name of the hook, as it was sent.
    pub event_name: String,
    /// Recent activity of the agent's person and memories of the agent, as context for the agent.
    pub additional_context: Option<String>,
}

/// Records a hook and returns the context for the agent. A repeat writes nothing and gets the same kind of
/// response.
///
/// A hook that arrives after its session ended, and that starts no new turn, is answered but not recorded,
/// because final sessions do not change.
///
/// # Errors
/// [`Error::Invalid`] if the payload cannot be read; [`Error::IdConflict`] if another program made a session with the
/// agent's key; [`Error::Forbidden`] if the session is of another person's agent; [`Error::LimitReached`] if the
/// session is full; [`Error::Unavailable`] if other hooks created the session first each time.
pub async fn record(ledger: &Ledger, scope: &Scope, hook: Hook) -> Result<Answer> {
    require(scope, Permission::StartSession)?;
    let parsed = read(hook.source, &hook.body).map_err(|e| Error::invalid(e.field, e.message.clone()))?;
    let external_id = parsed.external_id.clone().or_else(|| hook.id.map(|id| format!("{}:{id}", parsed.event_name)));
    let (mut context, mut considered) = (Vec::new(), (String::new(), Vec::new()));
    if parsed.takes_context {
        let source = hook.source;
        context.extend(activity(ledger, scope, source).await);
        let used = context.iter().map(|block| source.context_size(&block.text)).sum::<usize>();
        let room = source.context_max().saturating_sub(used);
        if let Some(block) = memory(ledger, scope, (hook.source, &parsed), room).await {
            context.push(block.injected());
            considered = (block.ranker, block.considered);
        }
    }
    let mut texts: Vec<&str> = context.iter().map(|context| context.text.as_str()).collect();
    if parsed.takes_context && parsed.event_name == SESSION_START {
        let question = question(ledger, scope, hook.source, &texts).await;
        texts.extend(question);
    }
    let text = (!texts.is_empty()).then(|| texts.join("\n\n"));
    let answer = Answer { event_name: parsed.event_name.clone(), additional_context: text };
    for _ in 0..TRIES_MAX {
        let now = ledger.now();
        let attempted = Attempted {
            scope: *scope,
            source: hook.source,
            parsed: parsed.clone(),
            external_id: external_id.clone(),
            at: hook.at,
            context: context.clone(),
            considered: considered.clone(),
            settings: ledger.relevance(),
            rated: Vec::new(),
            fresh: SessionId::new(now, ledger.entropy()),
            minter: Minter::new(ledger, now),
        };
        let tried = ledger.write_or_refuse(scope.into(), async move |tx| {
            let mut attempted = attempted;
            match find_or_create(tx, &mut attempted).await? {
                SessionLookup::Session(session) => apply(tx, session, attempted).await,
                SessionLookup::Recorded | SessionLookup::Over => Ok(Vec::new()),
            }
        });
        match tried.await {
            Ok(rated) => {
                for report in &rated {
                    relevance::follow_up(ledger, scope.tenant_id, report).await;
                }
                return Ok(answer);
            }
            Err(AttemptError::Again) => {}
            Err(AttemptError::Failed(error)) => return Err(error),
        }
    }
    Err(Error::Unavailable("the same session is being made again and again".into()))
}

/// Returns what makes the agent ask its person about telemetry, if it is time and there is room. If that cannot be
/// read, no request is made.
async fn question(ledger: &Ledger, scope: &Scope, source: Source, texts: &[&str]) -> Option<&'static str> {
    let used: usize = texts.iter().map(|text| source.context_size(text) + BETWEEN).sum();
    if used + source.context_size(PROMPT) > source.context_max() {
        return None;
    }
    match telemetry::prompt(ledger, scope).await {
        Ok(question) => question,
        Err(error) => {
            tracing::warn!(%error, "a coding agent is not made to ask about telemetry");
            None
        }
    }
}

/// Returns the recent activity of the token's person, with as many events as the agent takes. If it cannot be read, the
/// agent continues without it.
async fn activity(ledger: &Ledger, scope: &Scope, source: Source) -> Option<ContextInjected> {
    scope.acting_user()?;
    let fits = |text: &str| source.context_size(text) <= source.context_max();
    match recent_activity_within(ledger, scope, fits).await {
        Ok(block) => {
            let block = block?;
            let context = Context::RecentActivity { session_id: block.session_id };
            Some(ContextInjected { text: block.text, context })
        }
        Err(error) => {
            tracing::warn!(%error, "no context for a coding agent");
            None
        }
    }
}

/// Name of the hook with which an agent's session starts.
const SESSION_START: &str = "SessionStart";

/// Size of the blank line between two blocks of context, in the unit of every agent.
const BETWEEN: usize = 2;

/// Returns memories about the person's prompt. If they cannot be read, the agent continues without them.
async fn memory(
    ledger: &Ledger,
    scope: &Scope,
    (source, parsed): (Source, &ParsedHook),
    room: usize,
) -> Option<MemoryBlock> {
    let (tenant_id, person, now) = (scope.tenant_id, scope.acting_user().map(memory_block::member), ledger.now());
    let said = domain::thread::text_of(&parsed.event.content);
    let bounds = ledger.memory_bounds().of(source.as_str());
    let learning =
        Learning::new(ledger.relevance(), (ledger.rankers(), ledger.vectors()), || Minter::new(ledger, now).seed());
    let agents_session = parsed.session_id.clone();
    let read = ledger.snapshot(scope, async move |conn| {
        let agent = source.as_str();
        if said.trim().is_empty() {
            return Ok(None);
        }
        // A coding agent has no channel.
        // No text has fewer bytes than UTF-16 units, so a block of so many bytes fits into any agent's context.
        let bytes_max = room.saturating_sub(BETWEEN);
        let session = find_newest(conn, tenant_id, source, &agents_session).await?;
        let rated = match session {
            Some(session) if session.is_private() => Rated::Never,
            session => Rated::Asked(session.map(|session| session.id)),
        };
        let (person, channel, said) = (person.as_ref(), None, said.as_str());
        let about = About { person, is_of_person: true, channel, said, bytes_max, bounds, rated, learning };
        memory_block::select(conn, tenant_id, agent, about, now).await
    });
    match read.await {
        Ok(block) => block,
        Err(error) => {
            tracing::warn!(%error, "no memories for a coding agent");
            None
        }
    }
}
