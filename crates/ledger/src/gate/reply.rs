//! Answers an agent's question outside of the inbox. The answer takes effect at once, without an undo window.

use super::{
    announce::announce_gate,
    decide::check_answer,
    decision_event::decision_event_of,
    decisions_of,
    request::AnswerDetails,
    settle::{SettleContext, settle},
    visibility::lock,
};
use crate::{
    Error, Ledger, Result,
    commit::{Minter, append_server_events},
    guard::{Fields, require},
    visibility::{own_or_managed, require_visible},
};
use domain::{
    Caller, Scope,
    feedback_request::Outcome,
    gate::{Gate, GateKind, Verdict, canonical_digest},
    id::{EventId, GateId, SessionId, UserId},
    limit::GATE_DECISIONS_MAX,
    notification::Topic,
    role::Permission,
    session::{Refusal, Session, Status},
};
use serde_json::Value;
use store::{DecisionRecord, WriteTx, thread::KnownEvent};

/// The reply to a question.
#[derive(Debug, Clone)]
pub enum Reply {
    /// The answer.
    Accept(Value),
    /// The person declines to answer.
    Decline,
    /// The person closes the question without a word.
    Cancel,
}

/// Who answers a question outside of the inbox.
#[derive(Debug, Clone)]
pub(crate) struct AnswerBy {
    /// Party that the log names.
    pub(crate) caller: Caller,
    /// The person, if the party is one.
    pub(crate) user_id: Option<UserId>,
    /// Actor of the decision: the caller, or the key of a stranger.
    pub(crate) actor: String,
    /// Text for the agent.
    pub(crate) note: Option<String>,
    /// How the answer was given; `None` if the decision says it all.
    pub(crate) details: Option<AnswerDetails>,
}

/// Answers the question at which a session waits, and queues the session. Allowed for the person who started the
/// session, for reviewers of the question, and for operators and admins.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session or the caller cannot see it; [`Error::Refused`] if it does not wait
/// at a question; [`Error::Forbidden`] for other callers; [`Error::Invalid`] for an answer that the question does not
/// take; [`Error::GateClosed`] unless the gate is open; [`Error::LimitReached`] if the gate has too many decisions.
pub async fn reply(ledger: &Ledger, scope: &Scope, id: SessionId, reply: Reply) -> Result<Session> {
    reply_as(ledger, scope, id, None, reply).await
}

/// Does the same as [`reply`] with an event id made by the client, so that a repeat is detected.
///
/// # Errors
/// Those of [`reply`]; [`Error::IdConflict`] if the session already has an event with this id, whatever its content.
pub async fn reply_as(
    ledger: &Ledger,
    scope: &Scope,
    id: SessionId,
    event_id: Option<EventId>,
    reply: Reply,
) -> Result<Session> {
    require(scope, Permission::StartSession)?;
    let mut fields = Fields::default();
    if let Reply::Accept(answer) = &reply {
        fields.value("content", Some(answer));
    }
    fields.check()?;
    let minter = Minter::new(ledger, ledger.now()).with_first_event(event_id);
    let scope = *scope;
    ledger
        .write((&scope).into(), async move |tx| {
            let session = store::session::find_locked(tx, scope.tenant_id, id).await?;
            let session = require_visible(tx.conn(), &scope, session).await?;
            let gate = store::gate::waiting_locked(tx, scope.tenant_id, id).await?;
            let gate = gate.filter(|gate| gate.kind == GateKind::Question);
            let Some(gate) = gate.filter(|_| session.status() == Status::WaitingHuman) else {
                return Err(Refusal::WrongStatus { status: session.status() }.into());
            };
            may_reply(tx, &scope, &session, &gate).await?;
            if let Some(event_id) = event_id
                && store::thread::known(tx.conn(), scope.tenant_id, id, event_id).await? != KnownEvent::New
            {
                return Err(Error::IdConflict { detail: "this id is recorded in the session".into() });
            }
            let outcome = reply.outcome();
            let details = (outcome == Outcome::Cancelled).then(|| AnswerDetails::of_decision(&gate, &scope, outcome));
            let (caller, user_id) = (scope.caller, scope.user_id());
            let by = AnswerBy { caller, user_id, actor: caller.to_string(), note: None, details };
            settle_question(tx, session, gate, by, reply, minter).await
        })
        .await
}

/// Closes the question of a gate without an answer. It takes effect at once, and a repeat of the same person changes
/// nothing. Allowed for the same callers as [`reply`].
///
/// # Errors
/// [`Error::NotFound`] if there is no such gate or the caller cannot see its session; [`Error::Invalid`] for a gate
/// that is no question; [`Error::Forbidden`] for other callers; [`Error::GateClosed`] if it was decided;
/// [`Error::LimitReached`] if it has too many decisions.
pub async fn cancel_question(ledger: &Ledger, scope: &Scope, id: GateId) -> Result<()> {
    require(scope, Permission::StartSession)?;
    let minter = Minter::new(ledger, ledger.now());
    let scope = *scope;
    ledger
        .write((&scope).into(), async move |tx| {
            let (session, gate) = lock(tx, &scope, id).await?;
            let session = require_visible(tx.conn(), &scope, Some(session)).await?;
            if gate.kind != GateKind::Question {
                let message = format!("a gate of kind {} cannot be closed without an answer", gate.kind);
                return Err(Error::invalid("decision", message));
            }
            may_reply(tx, &scope, &session, &gate).await?;
            let last = decisions_of(tx.conn(), &gate).await?.pop();
            let is_repeat = last.is_some_and(|last| {
                let is_own = last.user_id.is_some() && last.user_id == scope.user_id();
                is_own && last.verdict == Some(Verdict::Deny) && last.note.is_none()
            });
            if is_repeat && !gate.state.is_open() {
                return Ok(());
            }
            let details = Some(AnswerDetails::of_decision(&gate, &scope, Outcome::Cancelled));
            let (caller, user_id) = (scope.caller, scope.user_id());
            let by = AnswerBy { caller, user_id, actor: caller.to_string(), note: None, details };
            settle_question(tx, session, gate, by, Reply::Cancel, minter).await.map(drop)
        })
        .await
}

async fn may_reply(tx: &mut WriteTx<'_>, scope: &Scope, session: &Session, gate: &Gate) -> Result<()> {
    if let Some(user_id) = scope.user_id() {
        let by = super::by_role(scope);
        if store::gate::is_reviewer(tx.conn(), scope.tenant_id, gate.id, user_id, by).await? {
            return Ok(());
        }
    }
    own_or_managed(scope, session)
}

impl Reply {
    const fn outcome(&self) -> Outcome {
        match self {
            Self::Accept(_) => Outcome::Answered,
            Self::Decline => Outcome::Declined,
            Self::Cancel => Outcome::Cancelled,
        }
    }
}

/// Records the answer to a question, which takes effect at once. The caller has locked the session, then the gate,
/// and has checked who may answer.
///
/// # Errors
/// [`Error::GateClosed`] unless the gate is open. [`Error::Invalid`] for an answer that the question does not take.
pub(crate) async fn settle_question(
    tx: &mut WriteTx<'_>,
    session: Session,
    gate: Gate,
    by: AnswerBy,
    reply: Reply,
    mut minter: Minter,
) -> Result<Session> {
    if !gate.state.is_open() {
        return Err(Error::GateClosed { state: gate.state.name() });
    }
    // A refusal and a closed question are the same verdict. Only the event tells them apart.
    let outcome = Some(reply.outcome()).filter(|outcome| *outcome == Outcome::Cancelled);
    let (verdict, value, digest) = match reply {
        Reply::Accept(answer) => {
            let answer = check_answer(&gate, answer)?;
            let digest = canonical_digest(&answer);
            (Verdict::Respond, Some(answer), digest)
        }
        Reply::Decline | Reply::Cancel => (Verdict::Deny, None, gate.task_digest),
    };
    let earlier = decisions_of(tx.conn(), &gate).await?.len();
    if earlier as u64 >= u64::from(GATE_DECISIONS_MAX) {
        return Err(Error::LimitReached(format!("a gate records at most {GATE_DECISIONS_MAX} decisions")));
    }
    let decision = DecisionRecord {
        number: u32::try_from(earlier).unwrap_or(u32::MAX).saturating_add(1),
        user_id: by.user_id,
        actor: by.actor,
        email: String::new(),
        verdict: Some(verdict),
        undoes: None,
        value: value.as_ref().map(Value::to_string),
        value_digest: digest,
        note: by.note,
        at: minter.at(),
        entity_version: None,
    };
    store::gate::add_decision(tx, gate.tenant_id, gate.id, &decision).await?;
    // The answer takes effect in this transaction, so the message has the state after it.
    let settled = Gate { state: gate.state.settle(verdict, minter.at())?, ..gate.clone() };
    announce_gate(tx, &minter, Topic::ApprovalDecided, &settled, Some(&decision)).await?;
    let event = decision_event_of(&mut minter, &gate, &decision, value, outcome);
    let session = append_server_events(tx, session, vec![event], by.caller, minter.at()).await?;
    let context = SettleContext { caller: by.caller, minter, details: by.details, stamp: None };
    settle(tx, session, gate, context).await
}
