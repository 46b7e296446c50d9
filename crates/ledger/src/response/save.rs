//! Saving a draft.

use super::{
    Respondent,
    open::{is_cancelled, private_to, published, require_open, takes_one},
};
use crate::{
    Error, Ledger, Result, ViewVersionRecord,
    commit::{self, Change, Minter},
};
use domain::{
    event::kind::{Created, FormAnswers, FormDraft},
    id::{FeedbackRequestId, SessionId, ViewId},
    limit::VIEW_DRAFTS_MAX,
    response::{Closed, DraftEvents, SOURCE, Scores, event_content, fitting, has_answer},
    session::{Actor, Command, Report, Session, Status, Type, decide},
    view::{Answers, check_draft},
};
use serde_json::json;
use store::{
    Conn, PreparedEvent, ResponseRecord, ResponseState, WriteTx,
    response::{act_for, draft_of, submitted_of},
    session::Inserted,
};
use uuid::Uuid;
/// Answers to keep.
#[derive(Debug, Clone, Default)]
pub struct DraftSave {
    /// The agent's question that the form answers; `None` for a plain form.
    pub request_id: Option<Uuid>,
    /// `rev` of the draft that the respondent changed; 0 if there was none.
    pub rev: u64,
    /// All answers so far, as typed. Answers without a field are dropped.
    pub answers: Answers,
    /// Whether the respondent leaves the form.
    pub is_leaving: bool,
}

/// Saves a draft. The first save creates its session; the first answer runs it. A repeat changes nothing.
///
/// # Errors
///
/// - [`Error::NotFound`] for an unknown view, and for a member who may not see the session of the agent's question.
/// - [`Error::Forbidden`] for a member who may not answer that question.
/// - [`Error::FormClosed`] if the form takes no answer now.
/// - [`Error::Invalid`] for answers that cannot be kept.
/// - [`Error::StaleVersion`] if the draft was saved elsewhere since `rev`, so that two tabs never overwrite each other.
/// - [`Error::LimitReached`] if the view has too many open drafts.
pub async fn save_draft(
    ledger: &Ledger,
    respondent: &Respondent,
    view_id: ViewId,
    save: DraftSave,
) -> Result<ResponseRecord> {
    match attempt(ledger, respondent, view_id, save.clone()).await {
        // Another request of the same respondent was committed first. The second attempt finds its draft.
        Err(Error::Unavailable(_)) => attempt(ledger, respondent, view_id, save).await,
        done => done,
    }
}

async fn attempt(ledger: &Ledger, respondent: &Respondent, view_id: ViewId, save: DraftSave) -> Result<ResponseRecord> {
    let (respondent, now) = (*respondent, ledger.now());
    let new_id = SessionId::new(now, ledger.entropy());
    let minter = Minter::new(ledger, now);
    let of = ledger.clone();
    ledger
        .write(respondent.scope().into(), async move |tx| {
            let version = published(&of, tx.conn(), respondent.tenant_id(), view_id, save.request_id).await?;
            require_open(tx.conn(), &respondent, (&version, save.request_id), now).await?;
            if is_cancelled(tx.conn(), respondent.tenant_id(), save.request_id).await? {
                return Err(Closed::Cancelled.into());
            }
            let answers = fitting(&version.fields, save.answers);
            check_draft(&version.fields, &answers)?;
            let key = respondent.response_key(view_id, save.request_id);
            let once = takes_one(&version.publication, save.request_id);
            if once && submitted_of(tx.conn(), key).await?.is_some() {
                return Err(Closed::Answered.into());
            }
            let private_to = private_to(tx.conn(), respondent.tenant_id(), save.request_id).await?;
            let form = Filled { respondent, version, request_id: save.request_id, answers, private_to };
            match draft_locked(tx, &form).await? {
                Some((draft, _)) if draft.answers == form.answers => Ok(draft),
                Some((draft, _)) if draft.rev != save.rev => {
                    Err(Error::StaleVersion { given: save.rev, current: draft.rev })
                }
                Some((draft, session)) => update(tx, form, draft, session, save.is_leaving, minter).await,
                None if save.rev != 0 => Err(Error::StaleVersion { given: save.rev, current: 0 }),
                None => insert(tx, form, new_id, minter).await,
            }
        })
        .await
}

/// Answers of a respondent to a version of a view.
pub(super) struct Filled {
    pub(super) respondent: Respondent,
    pub(super) version: ViewVersionRecord,
    pub(super) request_id: Option<Uuid>,
    pub(super) answers: Answers,
    /// The person to whom the asking session is private.
    pub(super) private_to: Option<String>,
}

impl Filled {
    /// The answers as events record them. `rev` is how often they were saved.
    pub(super) fn recorded(&self, rev: u64) -> FormAnswers {
        let Self { respondent, version, request_id, .. } = self;
        FormAnswers {
            content: event_content(&version.fields, &self.answers),
            view_id: version.view_id,
            version: version.version,
            request_id: *request_id,
            rev,
            respondent_kind: respondent.kind(),
            lead_entity_id: respondent.lead_entity_id(),
        }
    }

    /// The row of a new draft.
    pub(super) fn response(&self, session_id: SessionId, minter: &Minter) -> ResponseRecord {
        ResponseRecord {
            session_id,
            view_id: self.version.view_id,
            version: self.version.version,
            request_id: self.request_id,
            link_id: self.respondent.link_id(),
            respondent_kind: self.respondent.kind(),
            respondent: self.respondent.id(),
            lead_entity_id: self.respondent.lead_entity_id(),
            state: ResponseState::Draft,
            rev: 1,
            answers: self.answers.clone(),
            submission_id: None,
            once: takes_one(&self.version.publication, self.request_id),
            late: false,
            draft_events: DraftEvents { count: 0, last_at: None },
            created_at: minter.at(),
            saved_at: minter.at(),
            submitted_at: None,
            promotion: None,
            scores: Scores::new(),
            promotion_session_id: None,
        }
    }
}

/// Finds the respondent's draft and locks it with its session, the session first. The rest of the transaction is
/// limited to the responses of a respondent without an account.
pub(super) async fn draft_locked(tx: &mut WriteTx<'_>, form: &Filled) -> Result<Option<(ResponseRecord, Session)>> {
    let (tenant_id, key) =
        (form.respondent.tenant_id(), form.respondent.response_key(form.version.view_id, form.request_id));
    let Some(draft) = draft_of(tx.conn(), key).await? else { return Ok(None) };
    let session = store::session::find_locked(tx, tenant_id, draft.session_id).await?;
    let session = session.ok_or_else(|| Error::Internal("a response has no session".into()))?;
    // Another save or the submission may have been committed while the lock was awaited.
    let draft = store::response::find_locked(tx, tenant_id, draft.session_id).await?;
    Ok(draft.filter(|draft| draft.state == ResponseState::Draft).map(|draft| (draft, session)))
}

/// The session of a form as it begins, which is not stored yet, and its first events. It runs if something is answered.
pub(super) fn begin_session(
    form: &Filled,
    id: SessionId,
    runs: bool,
    minter: &mut Minter,
) -> Result<(Session, Vec<PreparedEvent>)> {
    let (scope, version, now) = (form.respondent.scope(), &form.version, minter.at());
    let metadata = json!({ "viewId": version.view_id, "version": version.version, "requestId": form.request_id });
    let mut session = Session {
        user_id: scope.acting_user(),
        source: Some(SOURCE.into()),
        metadata: metadata.to_string(),
        // What is answered in an incognito session is as private as the session.
        private_to: form.private_to.clone(),
        ..Session::draft(scope.tenant_id, id, Type::Response, version.title.clone(), scope.caller.to_string(), now)
    };
    let created = Created::of_type(session.session_type).by_source(Some(SOURCE));
    let created = Created { view_id: Some(version.view_id), ..created };
    let mut events = vec![minter.session_created(&session, created)?];
    if runs {
        session.start(Actor::Server, now)?;
        events.push(minter.status_change(Some(Status::Draft), session.status(), "answering started"));
    }
    Ok((session, events))
}

/// Refuses one more draft of a view that has too many. Concurrent saves may exceed the number by a few.
pub(super) async fn require_draft_capacity(tx: &mut WriteTx<'_>, form: &Filled) -> Result<()> {
    let (tenant_id, view_id) = (form.respondent.tenant_id(), form.version.view_id);
    let open = store::response::open_drafts(tx.conn(), tenant_id, view_id, VIEW_DRAFTS_MAX).await?;
    if open >= VIEW_DRAFTS_MAX {
        return Err(Error::LimitReached(format!("a form has at most {VIEW_DRAFTS_MAX} unfinished responses")));
    }
    Ok(())
}

/// The error for a row that another request of the same respondent added meanwhile.
pub(super) fn raced() -> Error {
    Error::Unavailable("another request for the same form is being handled; send it again".into())
}

/// Limits the rest of the transaction to the respondent's own rows and those of the session whose question is answered,
/// if the respondent has no account.
pub(super) async fn narrow(conn: &mut Conn<'_>, respondent: &Respondent, request_id: Option<Uuid>) -> Result<()> {
    if !respondent.is_stranger() {
        return Ok(());
    }
    let request = match request_id {
        Some(id) => store::feedback_request::find(conn, respondent.tenant_id(), FeedbackRequestId(id)).await?,
        None => None,
    };
    act_for(conn, respondent.id(), request.map(|request| request.session_id)).await?;
    Ok(())
}

async fn insert(tx: &mut WriteTx<'_>, form: Filled, id: SessionId, mut minter: Minter) -> Result<ResponseRecord> {
    require_draft_capacity(tx, &form).await?;
    narrow(tx.conn(), &form.respondent, form.request_id).await?;
    let mut response = form.response(id, &minter);
    let event = minter.event(&FormDraft(form.recorded(response.rev)));
    response.draft_events = DraftEvents { count: 1, last_at: Some(minter.at()) };
    let (mut session, mut events) = begin_session(&form, id, has_answer(&form.answers), &mut minter)?;
    events.push(event);
    match store::session::insert(tx, &mut session, None, &events).await? {
        Inserted::New => {}
        Inserted::KeyTaken | Inserted::AlreadyWorking => {
            return Err(Error::Internal("a response session met another session".into()));
        }
    }
    if store::response::insert(tx, form.respondent.tenant_id(), &response).await? { Ok(response) } else { Err(raced()) }
}

async fn update(
    tx: &mut WriteTx<'_>,
    form: Filled,
    draft: ResponseRecord,
    session: Session,
    is_leaving: bool,
    mut minter: Minter,
) -> Result<ResponseRecord> {
    narrow(tx.conn(), &form.respondent, form.request_id).await?;
    let now = minter.at();
    let mut draft_events = draft.draft_events;
    let mut events = Vec::new();
    if draft_events.records(now, is_leaving) {
        events.push(minter.event(&FormDraft(form.recorded(draft.rev + 1))));
        draft_events = DraftEvents { count: draft_events.count + 1, last_at: Some(now) };
    }
    let caller = form.respondent.scope().caller;
    if session.status() == Status::Draft && has_answer(&form.answers) {
        start(tx, session, events, &form, minter).await?;
    } else if !events.is_empty() {
        commit::append_server_events(tx, session, events, caller, now).await?;
    }
    let saved = ResponseRecord {
        version: form.version.version,
        respondent_kind: form.respondent.kind(),
        lead_entity_id: form.respondent.lead_entity_id(),
        rev: draft.rev + 1,
        answers: form.answers,
        draft_events,
        saved_at: now,
        ..draft
    };
    if store::response::save(tx, form.respondent.tenant_id(), &saved).await? { Ok(saved) } else { Err(raced()) }
}

/// Runs a session that was a draft.
pub(super) async fn start(
    tx: &mut WriteTx<'_>,
    session: Session,
    events: Vec<PreparedEvent>,
    form: &Filled,
    minter: Minter,
) -> Result<Session> {
    let transition = decide(commit::state(&session), Actor::Server, Command::Start)?;
    let change = Change {
        id: session.id,
        actor: Actor::Server,
        command: Command::Start,
        caller: form.respondent.scope().caller,
        reason: "answering started".into(),
        minter,
    };
    commit::write(tx, session, transition, change, events, Report::default()).await
}
