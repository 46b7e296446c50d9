//! Rating the memories of a session.

use super::propose::propose_harmful;
use crate::{
    Error, Ledger, Result,
    guard::require,
    visibility::{claimed_last, is_own, require_visible_or_claimed},
};
use domain::{
    Scope, Timestamp,
    id::{SessionId, TenantId},
    relevance::{Ratings, Refusal, Refused, Settings, Source, is_memory_id},
    role::Permission,
    session::{self, Session},
    thread::cut,
};
use serde::Deserialize;
use std::collections::HashMap;
use store::{Conn, WriteTx, relevance::NewRating};

/// The rater of all ratings by the agent of a session.
pub(crate) const AGENT: &str = "agent";
/// Longest name of a model that is stored, characters.
const MODEL_CHARS_MAX: usize = 200;

/// A rating that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct RatedMemory {
    /// Id of the memory in the block.
    pub memory_id: String,
    /// Sequence of the event with the block that it was in: the newest one.
    pub turn: u64,
    /// From -1 to 1.
    pub value: f64,
}

/// Results of the ratings of one request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Those that count.
    pub accepted: Vec<RatedMemory>,
    /// Those that do not.
    pub refused: Vec<Refused>,
    /// Number of those that were not read, because there were too many.
    pub not_read: u64,
}

/// Rates memories of a session. The rating of a person who is signed in is that person's own; all others are of the
/// agent. `attempt` is that of the worker that runs the session, if it is one. A later rating of the same memory for
/// the same prompt by the same rater replaces the earlier one.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session, or if the caller neither can see it nor claimed it last;
/// [`Error::Forbidden`] unless the caller is its person, its agent, an operator or an admin; [`Error::Refused`] if
/// another attempt runs the session. Ratings that do not count are no errors, see [`Report`].
pub async fn rate(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    attempt: Option<u32>,
    ratings: Ratings,
) -> Result<Report> {
    require(scope, Permission::Read)?;
    let (caller, now, settings) = (*scope, ledger.now(), ledger.relevance());
    let (source, rater) = match (scope.user_id(), attempt) {
        (Some(_), _) => (Source::Person, scope.caller.to_string()),
        (None, Some(_)) => (Source::Tool, AGENT.to_owned()),
        (None, None) => (Source::Api, AGENT.to_owned()),
    };
    let written = ledger.write(scope.into(), async move |tx| {
        let session = store::session::find_locked(tx, caller.tenant_id, id).await?;
        let session = require_visible_or_claimed(tx.conn(), &caller, session).await?;
        require_rater(tx.conn(), &caller, &session).await?;
        if let Some(given) = attempt.filter(|given| *given != session.attempt) {
            return Err(session::Refusal::StaleAttempt { given, current: session.attempt }.into());
        }
        rate_on(tx, &session, ratings, (source, &rater), (&settings, now)).await
    });
    let report = written.await?;
    follow_up(ledger, scope.tenant_id, &report).await;
    Ok(report)
}

/// Counts ratings for `/metrics`, and proposes to remove those of the rated memories that are harmful now. The ratings
/// are stored already, and stay if a proposal cannot be made.
pub(crate) async fn follow_up(ledger: &Ledger, tenant_id: TenantId, report: &Report) {
    let refused = report.refused.iter().map(|one| one.reason);
    ledger.activity().memories_rated(report.accepted.len() as u64, refused, report.not_read);
    let ids = report.accepted.iter().map(|one| one.memory_id.clone()).collect();
    if let Err(error) = propose_harmful(ledger, tenant_id, ids).await {
        tracing::warn!(%error, %tenant_id, "a harmful memory could not be proposed for review");
    }
}

/// Whether a person or a program may rate the memories of a session. Its agent may do so too.
pub fn may_rate(scope: &Scope, session: &Session) -> bool {
    is_own(scope, session) || scope.may(Permission::ManageSessions)
}

/// Refuses callers that have no part in the session.
async fn require_rater(conn: &mut Conn<'_>, scope: &Scope, session: &Session) -> Result<()> {
    if may_rate(scope, session) || claimed_last(conn, scope, session).await? {
        return Ok(());
    }
    Err(Error::Forbidden("only the person of a session, its agent, operators and admins can rate its memories"))
}

/// Stores ratings of a locked session, each for the newest prompt that had the memory. Those of memories that the
/// session was not given are refused, and all ratings of agents if the settings say so.
pub(crate) async fn rate_on(
    tx: &mut WriteTx<'_>,
    session: &Session,
    ratings: Ratings,
    (source, rater): (Source, &str),
    (settings, now): (&Settings, Timestamp),
) -> Result<Report> {
    let (tenant_id, id) = (session.tenant_id, session.id);
    let is_agents = source != Source::Person;
    let is_off = is_agents && !settings.agent_feedback;
    let Ratings { accepted, refused, not_read } = ratings;
    let mut report = Report { accepted: Vec::new(), refused, not_read };
    let known = accepted.iter().filter(|one| !is_off && is_memory_id(&one.memory_id));
    let known: Vec<String> = known.map(|one| one.memory_id.clone()).collect();
    let turns = match known.as_slice() {
        [] => HashMap::new(),
        ids => store::relevance::newest_turns(tx.conn(), tenant_id, id, ids).await?,
    };
    let model = if is_agents { model_of(session) } else { None };
    for one in accepted {
        let Some(turn) = turns.get(&one.memory_id).copied() else {
            let reason = if is_off { Refusal::Disabled } else { Refusal::NotInjected };
            report.refused.push(Refused::new(&one.memory_id, reason));
            continue;
        };
        let (memory_id, value) = (one.memory_id.as_str(), one.value);
        let rating = NewRating { turn, memory_id, rater, source, value, model: model.as_deref() };
        store::relevance::rate(tx, tenant_id, id, rating, now).await?;
        report.accepted.push(RatedMemory { memory_id: one.memory_id, turn, value });
    }
    Ok(report)
}

/// What the metadata of a session says about its agent.
#[derive(Deserialize)]
struct AboutAgent {
    model: Option<String>,
}

/// The model of a session's agent, if the session's metadata names it.
fn model_of(session: &Session) -> Option<String> {
    let about: AboutAgent = serde_json::from_str(&session.metadata).ok()?;
    let model = about.model.filter(|model| !model.is_empty() && !model.contains('\0'))?;
    Some(cut(&model, MODEL_CHARS_MAX))
}
