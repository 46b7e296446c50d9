//! Submitting a form.

use super::{
    Respondent,
    notify::notify,
    of_request::OfRequest,
    open::{private_to, published, require_open, takes_one},
    save::{Filled, begin_session, draft_locked, narrow, raced, start},
};
use crate::{
    Error, Ledger, Result,
    commit::{self, Change, Minter},
};
use domain::{
    event::kind::FormSubmit,
    id::{EntityId, SessionId, TenantId, ViewId},
    issue::Issue,
    response::{Closed, NamedEntity, Scores, is_submission_id, named_entities, scores},
    session::{Actor, Command, Report, Session, Status, decide},
    view::{Answers, Field, check_answers},
};
use serde_json::json;
use store::{Conn, ResponseRecord, ResponseState, WriteTx, response::submitted_of};
use uuid::Uuid;

/// Answers to submit.
#[derive(Debug, Clone)]
pub struct Submission {
    /// The agent's question that the form answers; `None` for a plain form.
    pub request_id: Option<Uuid>,
    /// Version that the respondent saw; `None` for the published one.
    pub version: Option<u64>,
    /// `rev` of the draft that the respondent saw; `None` if that does not matter.
    pub rev: Option<u64>,
    /// Id that the client made: a repeat with the same id is answered with what is recorded.
    pub submission_id: String,
    /// Values by key of the field, as typed.
    pub answers: Answers,
}

/// A submitted response.
#[derive(Debug, Clone, PartialEq)]
pub struct Submitted {
    /// What is recorded now.
    pub response: ResponseRecord,
    /// Whether it was recorded by an earlier request.
    pub is_repeat: bool,
}

/// Submits a form: records the answers and completes the response's session in one transaction.
///
/// A repeat is answered with what is recorded: by the submission id, and by the respondent if the form takes one
/// response of each.
///
/// # Errors
///
/// - [`Error::NotFound`] for an unknown view, and for a member who may not see the session of the agent's question.
/// - [`Error::Forbidden`] for a member who may not answer that question.
/// - [`Error::FormClosed`] if the form takes no answer.
/// - [`Error::FormChanged`] if another version was published since the respondent saw the form.
/// - [`Error::Invalid`] for wrong answers, by the key of the field.
/// - [`Error::StaleVersion`] if the draft was saved elsewhere since `rev`.
/// - [`Error::IdConflict`] if the submission id was used for other answers.
///
/// For the question of an agent also those of [`crate::feedback_request::answer()`].
pub async fn submit(
    ledger: &Ledger,
    respondent: &Respondent,
    view_id: ViewId,
    submission: Submission,
) -> Result<Submitted> {
    if !is_submission_id(&submission.submission_id) {
        return Err(Error::invalid("submissionId", "1 to 200 visible ASCII characters"));
    }
    match attempt(ledger, respondent, view_id, submission.clone()).await {
        // Another request of the same respondent was committed first. The second attempt finds its response.
        Err(Error::Unavailable(_)) => attempt(ledger, respondent, view_id, submission).await,
        done => done,
    }
}

async fn attempt(
    ledger: &Ledger,
    respondent: &Respondent,
    view_id: ViewId,
    submission: Submission,
) -> Result<Submitted> {
    let (respondent, now) = (*respondent, ledger.now());
    let new_id = SessionId::new(now, ledger.entropy());
    let of_request = OfRequest::new(ledger, &respondent, submission.request_id);
    let of = ledger.clone();
    let minters = [(); 2].map(|()| Minter::new(ledger, now));
    ledger
        .write(respondent.scope().into(), async move |tx| {
            if let Some(known) = repeated(tx.conn(), &respondent, view_id, &submission).await? {
                return Ok(known);
            }
            let version = published(&of, tx.conn(), respondent.tenant_id(), view_id, submission.request_id).await?;
            if takes_one(&version.publication, submission.request_id) {
                let key = respondent.response_key(view_id, submission.request_id);
                if let Some(response) = submitted_of(tx.conn(), key).await? {
                    return Ok(Submitted { response, is_repeat: true });
                }
            }
            require_open(tx.conn(), &respondent, (&version, submission.request_id), now).await?;
            if submission.version.is_some_and(|given| given != version.version) {
                return Err(Error::FormChanged { current: version.version });
            }
            let answers = check_answers(&version.fields, &submission.answers)?;
            check_entities(tx.conn(), respondent.tenant_id(), &version.fields, &answers).await?;
            let private_to = private_to(tx.conn(), respondent.tenant_id(), submission.request_id).await?;
            let form = Filled { respondent, version, request_id: submission.request_id, answers, private_to };
            let response = record(tx, form, submission, (new_id, of_request), minters).await?;
            Ok(Submitted { response, is_repeat: false })
        })
        .await
}

/// Returns the response that an earlier request with the same submission id recorded.
async fn repeated(
    conn: &mut Conn<'_>,
    respondent: &Respondent,
    view_id: ViewId,
    submission: &Submission,
) -> Result<Option<Submitted>> {
    let tenant_id = respondent.tenant_id();
    let known = store::response::find_by_submission(conn, tenant_id, view_id, &submission.submission_id).await?;
    let Some(response) = known else { return Ok(None) };
    let conflict = || Error::IdConflict { detail: "this submission id was already used for other answers".into() };
    if response.respondent != respondent.id() || response.request_id != submission.request_id {
        return Err(conflict());
    }
    let version = store::view::version_of(conn, tenant_id, view_id, response.version).await?;
    let fields = version.map(|version| version.fields).unwrap_or_default();
    match check_answers(&fields, &submission.answers) {
        Ok(answers) if answers == response.answers => Ok(Some(Submitted { response, is_repeat: true })),
        _ => Err(conflict()),
    }
}

/// Refuses ids of entities that do not exist or have another type.
async fn check_entities(conn: &mut Conn<'_>, tenant_id: TenantId, fields: &[Field], answers: &Answers) -> Result<()> {
    let mut issues = Vec::new();
    for NamedEntity { key, type_slug, id } in named_entities(fields, answers) {
        let found = match id.parse::<EntityId>() {
            Ok(id) => store::entity::find(conn, tenant_id, id).await?,
            Err(_) => None,
        };
        if found.is_none_or(|entity| entity.type_slug != type_slug) {
            issues.push(Issue::new(key, format!("the id of an entity of type `{type_slug}`")));
        }
    }
    if issues.is_empty() { Ok(()) } else { Err(issues.into()) }
}

/// Writes the response, its event and the end of its session.
async fn record(
    tx: &mut WriteTx<'_>,
    form: Filled,
    submission: Submission,
    (new_id, of_request): (SessionId, Option<OfRequest>),
    [mut beginning, mut ending]: [Minter; 2],
) -> Result<ResponseRecord> {
    let (tenant_id, now) = (form.respondent.tenant_id(), ending.at());
    // Everyone reads the number of a view's responses.
    if form.private_to.is_none() {
        let submitted = store::response::count_one(tx, tenant_id, form.version.view_id).await?;
        if submitted > u64::from(form.version.publication.most_responses()) {
            return Err(Closed::Full.into());
        }
    }
    narrow(tx.conn(), &form.respondent, form.request_id).await?;
    let draft = draft_locked(tx, &form).await?;
    // A save of the same answers that came first overwrites nothing.
    if let (Some((draft, _)), Some(given)) = (&draft, submission.rev)
        && draft.rev != given
        && draft.answers != submission.answers
    {
        return Err(Error::StaleVersion { given, current: draft.rev });
    }
    let (response, session, first_events) = match draft {
        Some((draft, session)) if session.status() == Status::Draft => {
            (draft, start(tx, session, Vec::new(), &form, beginning).await?, None)
        }
        Some((draft, session)) => (draft, session, None),
        None => {
            let (session, events) = begin_session(&form, new_id, true, &mut beginning)?;
            (ResponseRecord { rev: 0, ..form.response(new_id, &beginning) }, session, Some(events))
        }
    };
    let is_new = first_events.is_some();
    let late = match of_request {
        Some(of) => of.answer(tx, &form.respondent, response.session_id, &form.answers).await?,
        None => false,
    };
    let response = ResponseRecord {
        late,
        version: form.version.version,
        respondent_kind: form.respondent.kind(),
        lead_entity_id: form.respondent.lead_entity_id(),
        state: ResponseState::Submitted,
        rev: response.rev + 1,
        answers: form.answers.clone(),
        scores: scores(&form.version.fields, &form.answers),
        submission_id: Some(submission.submission_id),
        once: takes_one(&form.version.publication, form.request_id),
        saved_at: now,
        submitted_at: Some(now),
        ..response
    };
    let event = ending.event(&FormSubmit::Response(form.recorded(response.rev)));
    notify(tx, &form, &response, (ending.messages(), now)).await?;
    complete(tx, &form, (session, first_events), (event, &response.scores), ending).await?;
    let written = match is_new {
        true => store::response::insert(tx, tenant_id, &response).await?,
        false => store::response::save(tx, tenant_id, &response).await?,
    };
    if written { Ok(response) } else { Err(raced()) }
}

/// Completes the session. Its result holds the answers, and the results of the safety gate if it has ratings. A session
/// that is not stored yet comes with its first events, and is stored as completed.
async fn complete(
    tx: &mut WriteTx<'_>,
    form: &Filled,
    (session, first_events): (Session, Option<Vec<store::PreparedEvent>>),
    (event, scores): (store::PreparedEvent, &Scores),
    minter: Minter,
) -> Result<Session> {
    let version = &form.version;
    let mut result = json!({ "viewId": version.view_id, "version": version.version, "answers": form.answers });
    if !scores.is_empty() {
        result["scores"] = json!(scores);
    }
    let transition = decide(commit::state(&session), Actor::Server, Command::Submit)?;
    let change = Change {
        id: session.id,
        actor: Actor::Server,
        command: Command::Submit,
        caller: form.respondent.scope().caller,
        reason: "submitted".into(),
        minter,
    };
    let report = Report { result: Some(result.to_string()), ..Report::default() };
    match first_events {
        None => commit::write(tx, session, transition, change, vec![event], report).await,
        Some(mut events) => {
            events.push(event);
            commit::insert_completed(tx, session, transition, change, events, report).await
        }
    }
}
