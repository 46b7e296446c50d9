//! Answering a request, from inside the workspace and in the submit of a response.

use super::not_found;
use crate::{
    Error, Ledger, RequestRecord, Result,
    commit::{Minter, append_server_events},
    gate::{AnswerBy, AnswerDetails, Reply, answer_to, by_role, check_form, settle_question},
    guard::{Fields, require},
    retention::is_erased,
    visibility::{own_or_managed, require_visible},
};
use domain::{
    Caller, Scope,
    event::kind::{FormSubmit, RequestAnswer},
    feedback_request::{Admission, Outcome, RecordedAnswer, RequestPosition, RequestState, Respondent, admit},
    gate::{Gate, GateState, canonical_digest},
    id::{FeedbackRequestId, RequestAnswerId, SessionId, TenantId},
    limit::{REASON_CHARS_MAX, REQUEST_ANSWERS_MAX},
    role::Permission,
    session::{Session, Status},
    view::{self, Answers},
};
use serde_json::Value;
use store::{AnswerRecord, Conn, WriteTx};

/// An answer that a member or a program sends.
#[derive(Debug, Clone)]
pub struct NewAnswer {
    /// Answered, declined or cancelled.
    pub outcome: Outcome,
    /// Answers by key of the field; only with [`Outcome::Answered`].
    pub answers: Option<Answers>,
    /// Text for the agent.
    pub note: Option<String>,
}

impl NewAnswer {
    pub(super) fn check(&self) -> Result<()> {
        let mut fields = Fields::default();
        fields.text("note", self.note.as_deref(), REASON_CHARS_MAX);
        match (self.outcome, &self.answers) {
            (Outcome::Answered, None) => fields.refuse("content", "an answer needs content"),
            (Outcome::Declined | Outcome::Cancelled, Some(_)) => {
                fields.refuse("content", "only an accepted question has content");
            }
            (Outcome::NobodyAnswered, _) => fields.refuse("action", "accept, decline or cancel"),
            (Outcome::Answered, Some(_)) | (Outcome::Declined | Outcome::Cancelled, None) => {}
        }
        fields.check()
    }
}

/// An answer as it is recorded.
#[derive(Debug, Clone)]
pub struct Answered {
    /// What the log and the agent have: the caller's answer, or the one that it repeats.
    pub answer: AnswerRecord,
    /// Whether this call recorded it. `false` for a repeat.
    pub is_new: bool,
}

/// Who answers how, and what a transaction cannot make itself.
#[derive(Clone)]
pub(crate) struct AnswerOf {
    pub(crate) id: RequestAnswerId,
    pub(crate) respondent: Respondent,
    pub(crate) response_session_id: Option<SessionId>,
    pub(crate) caller: Caller,
    pub(crate) minter: Minter,
}

impl AnswerOf {
    /// Draws the ids for an answer.
    pub(crate) fn new(ledger: &Ledger, caller: Caller, respondent: Respondent) -> Self {
        let now = ledger.now();
        let id = RequestAnswerId::new(now, ledger.entropy());
        let minter = Minter::new(ledger, now);
        Self { id, respondent, response_session_id: None, caller, minter }
    }
}

/// Answers a request as a member of the workspace, or as a program. A repeat returns the recorded answer.
///
/// # Errors
/// [`Error::NotFound`] if there is no such request or the caller cannot see its session; [`Error::Forbidden`] if others
/// are asked; [`Error::Invalid`] for answers that the form does not take; [`Error::AlreadyAnswered`] if the caller gave
/// another answer before; [`Error::RequestClosed`] if the request was cancelled or erased with its session;
/// [`Error::GateClosed`] while the decision of a member can still be undone; [`Error::LimitReached`] if the request has
/// too many answers.
pub async fn answer(ledger: &Ledger, scope: &Scope, id: FeedbackRequestId, new: NewAnswer) -> Result<Answered> {
    require(scope, Permission::StartSession)?;
    new.check()?;
    let respondent = Respondent::of_actor(&scope.caller.to_string(), scope.user_id());
    let of = AnswerOf::new(ledger, scope.caller, respondent);
    let scope = *scope;
    ledger
        .write((&scope).into(), async move |tx| {
            let request = store::feedback_request::find(tx.conn(), scope.tenant_id, id).await?;
            let request = request.ok_or_else(not_found)?;
            let session = store::session::find_locked(tx, scope.tenant_id, request.session_id).await?;
            let session = require_visible(tx.conn(), &scope, session).await.map_err(|_| not_found())?;
            may_answer(tx.conn(), &scope, &session, &request).await?;
            answer_on(tx, scope.tenant_id, id, of, new).await
        })
        .await
}

/// Refuses callers who may not answer a question. Every way of answering a request asks here, except links: people
/// without an account are admitted by the gate. The caller has checked that the session is visible. Allowed for
///
/// - the people who are asked: the members of the audience; without one, the reviewers of the gate at which the session
///   waits, or everyone who may decide if the session continues;
/// - everyone in the workspace and their programs, if people without an account may answer too;
/// - whoever started the session or may manage it.
pub(super) async fn may_answer(
    conn: &mut Conn<'_>,
    scope: &Scope,
    session: &Session,
    request: &RequestRecord,
) -> Result<()> {
    let is_public = request.access != view::Gate::Member;
    // Workers hold no conversations: an agent does not answer itself.
    if is_public && scope.may(Permission::Converse) {
        return Ok(());
    }
    if let Some(user_id) = scope.user_id() {
        let is_asked = match (&request.audience, request.gate_id) {
            (Some(slug), _) => {
                let group = store::group::find_by_slug(conn, scope.tenant_id, slug).await?;
                let groups = store::group::ids_of(conn, scope.tenant_id, user_id).await?;
                group.is_some_and(|group| groups.contains(&group.id))
            }
            (None, Some(gate_id)) => {
                store::gate::is_reviewer(conn, scope.tenant_id, gate_id, user_id, by_role(scope)).await?
            }
            (None, None) => scope.may(Permission::Decide),
        };
        if is_asked {
            return Ok(());
        }
    }
    own_or_managed(scope, session)
}

/// Records an answer. It queues a session that waits for it. The caller has checked whether the respondent may answer,
/// and holds no lock of another gate or request.
///
/// # Errors
/// As [`answer`].
pub(crate) async fn answer_on(
    tx: &mut WriteTx<'_>,
    tenant_id: TenantId,
    id: FeedbackRequestId,
    of: AnswerOf,
    new: NewAnswer,
) -> Result<Answered> {
    let found = store::feedback_request::find(tx.conn(), tenant_id, id).await?.ok_or_else(not_found)?;
    let session = store::session::find_locked(tx, tenant_id, found.session_id).await?.ok_or_else(not_found)?;
    let gate = match found.blocking {
        true => store::gate::waiting_locked(tx, tenant_id, session.id).await?,
        false => None,
    };
    let gate = gate.filter(|gate| gate.task.request_id() == Some(id));
    let request = store::feedback_request::find_locked(tx, tenant_id, id).await?.ok_or_else(not_found)?;
    let state = request.state.in_session(session.status().is_final());
    if is_erased(&session) {
        // Nothing would erase the answer any more.
        return Err(Error::RequestClosed { state });
    }
    let version = store::view::version_of(tx.conn(), tenant_id, request.view_id, request.version).await?;
    let fields = version.ok_or_else(not_found)?.fields;
    let value = match new.answers {
        Some(given) => Some(Value::Object(check_form(&fields, given, "content")?)),
        None => None,
    };
    let digest = canonical_digest(value.as_ref().unwrap_or(&Value::Null));
    let key = of.respondent.key.as_str();
    let own = store::feedback_request::own_answer(tx.conn(), tenant_id, id, key).await?;
    let position = RequestPosition {
        state,
        expires_at: request.expires_at,
        is_held: gate.as_ref().is_some_and(|gate| !gate.state.is_open()),
    };
    let known = own.as_ref().map(|own| RecordedAnswer { outcome: own.outcome, digest: own.digest });
    let given = RecordedAnswer { outcome: new.outcome, digest };
    let late = match (admit(position, known, given, of.minter.at()), own) {
        (Admission::Repeat, Some(answer)) => return Ok(Answered { answer, is_new: false }),
        (Admission::Conflict, Some(answer)) => return Err(Error::AlreadyAnswered(Box::new(answer))),
        (Admission::Closed | Admission::Repeat | Admission::Conflict, _) => {
            return Err(Error::RequestClosed { state: position.state });
        }
        (Admission::Held, _) => return Err(Error::GateClosed { state: GateState::Held }),
        (Admission::Record, _) => false,
        (Admission::RecordLate, _) => true,
    };
    if store::feedback_request::count_answers(tx.conn(), tenant_id, id).await? >= u64::from(REQUEST_ANSWERS_MAX) {
        return Err(Error::LimitReached(format!("a request takes at most {REQUEST_ANSWERS_MAX} answers")));
    }
    let mut answer = answer_to(&request, of.id, of.respondent.clone(), new.outcome, of.minter.at());
    answer.response_session_id = of.response_session_id;
    answer.answers = value.as_ref().map(Value::to_string);
    answer.note = new.note;
    answer.digest = digest;
    answer.late = late;
    let waiting = gate.filter(|_| !late && session.status() == Status::WaitingHuman);
    record(tx, session, waiting, &request, (&answer, value), of).await?;
    Ok(Answered { answer, is_new: true })
}

/// Writes a checked answer with its value. At an open gate it is the decision; else it waits to be taken.
async fn record(
    tx: &mut WriteTx<'_>,
    session: Session,
    gate: Option<Gate>,
    request: &RequestRecord,
    (answer, value): (&AnswerRecord, Option<Value>),
    mut of: AnswerOf,
) -> Result<()> {
    let (tenant_id, at) = (request.tenant_id, of.minter.at());
    if let Some(gate) = gate {
        let reply = match (answer.outcome, value) {
            (Outcome::Answered, Some(value)) => Reply::Accept(value),
            (Outcome::Declined, _) => Reply::Decline,
            _ => Reply::Cancel,
        };
        let details = AnswerDetails {
            id: answer.id,
            respondent: answer.respondent.clone(),
            response_session_id: answer.response_session_id,
            outcome: answer.outcome,
        };
        let (user_id, actor) = (of.respondent.user_id, of.respondent.key.clone());
        let by = AnswerBy { caller: of.caller, user_id, actor, note: answer.note.clone(), details: Some(details) };
        settle_question(tx, session, gate, by, reply, of.minter).await?;
        return Ok(());
    }
    store::feedback_request::insert_answer(tx, tenant_id, answer).await?;
    if answer.late {
        return Ok(());
    }
    if request.blocking {
        store::feedback_request::close(tx, tenant_id, request.id, RequestState::Answered, at).await?;
    }
    tx.counts_changed(tenant_id);
    let event = submitted(&mut of.minter, request, answer, value.unwrap_or_default());
    append_server_events(tx, session, vec![event], of.caller, at).await?;
    Ok(())
}

/// Creates the event that records an answer for which the session does not wait.
fn submitted(
    minter: &mut Minter,
    request: &RequestRecord,
    answer: &AnswerRecord,
    value: Value,
) -> store::PreparedEvent {
    minter.event(&FormSubmit::Answer(RequestAnswer {
        note: answer.note.clone(),
        request_id: request.id,
        answer_id: answer.id,
        outcome: answer.outcome,
        value,
        respondent_kind: answer.respondent.kind,
        assurance: answer.respondent.kind.assurance(),
        response_session_id: answer.response_session_id,
    }))
}
