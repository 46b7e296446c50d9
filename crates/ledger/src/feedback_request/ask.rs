//! Asking people in the middle of a session.

use super::{list::fields_of, not_found};
use crate::{
    Error, Ledger, RequestRecord, Result, ViewRecord, ViewVersionRecord,
    commit::{Change, Minter, append_server_events, state, write},
    gate::{RequestTerms, ask_or_approve, pause},
    guard::{Fields, require},
    view::{self, publish_on},
    visibility::require_visible_or_claimed,
};
use chrono::TimeDelta;
use domain::{
    Scope, Timestamp,
    event::kind::FeedbackRequested,
    feedback_request::{OnExpiry, RequestState},
    gate::{Question, Task, canonical_digest},
    id::{FeedbackRequestId, GateId, SessionId, TenantId, ViewId},
    issue::Issue,
    limit::{APPROVAL_SECONDS_MAX, FEEDBACK_REQUESTS_MAX, KEY_CHARS_MAX, REASON_CHARS_MAX, TITLE_CHARS_MAX},
    line::changes_direction,
    role::Permission,
    session::{Actor, Command, Report, Session, YieldTo, decide},
    view::{Availability, Field, FormSchema, Gate, Publication, State as ViewState, to_schema},
};
use serde_json::json;
use store::{AnswerRecord, WriteTx};

/// The form that people fill in.
#[derive(Debug, Clone)]
pub enum Form {
    /// A published view.
    View(ViewId),
    /// A form of these fields, at least one.
    Fields(Vec<Field>),
    /// The fields that a JSON Schema describes.
    Schema(FormSchema),
    /// No questions: the answer is a text under the key `answer`.
    Text,
}

/// What an agent asks.
#[derive(Debug, Clone)]
pub struct NewRequest {
    /// The attempt of the claim, which is the fencing token.
    pub attempt: u32,
    /// What people fill in.
    pub form: Form,
    /// The question, 1 to 4,000 characters.
    pub message: String,
    /// Whether the session waits for the answer.
    pub blocking: bool,
    /// Who may open the form; the view's own rule, or members only, when `None`.
    pub access: Option<Gate>,
    /// Slug of the group whose members may answer.
    pub audience: Option<String>,
    /// Instant from which answers are late.
    pub expires_at: Option<Timestamp>,
    /// What happens to the session then.
    pub on_expiry: OnExpiry,
    /// Key of the agent: a repeat with it is the same request.
    pub idempotency_key: String,
}

/// A request and its present state.
#[derive(Debug, Clone)]
pub struct RecordedRequest {
    /// As it is recorded, without regard to the end of its session.
    pub request: RequestRecord,
    /// Session after the call.
    pub session: Session,
    /// Slug of the view with the form.
    pub view_slug: String,
    /// Questions of the form.
    pub fields: Vec<Field>,
    /// The answer in time, if there is one already. The session does not wait then.
    pub answer: Option<AnswerRecord>,
    /// Whether this call made the request.
    pub is_new: bool,
}

impl NewRequest {
    fn check(&self) -> Result<()> {
        let mut fields = Fields::default();
        fields.text("message", Some(&self.message), REASON_CHARS_MAX);
        if self.message.trim().is_empty() {
            fields.refuse("message", "needs a text");
        }
        fields.key("idempotencyKey", Some(&self.idempotency_key), KEY_CHARS_MAX);
        fields.slug("audience", self.audience.as_deref());
        if self.on_expiry == OnExpiry::Fail && (!self.blocking || self.expires_at.is_none()) {
            fields.refuse("onExpiry", "`fail` goes with a blocking request that expires");
        }
        fields.check()
    }

    /// Refuses a deadline that is not ahead. Only for a new request: the deadline of a repeat may have passed.
    fn check_deadline(&self, now: Timestamp) -> Result<()> {
        if self.expires_at.is_some_and(|at| at <= now || at > now + TimeDelta::seconds(APPROVAL_SECONDS_MAX)) {
            return Err(Error::invalid("expiresAt", "an instant in the next 366 days"));
        }
        Ok(())
    }

    /// Digest of the question. The deadline is not part of it, because clients compute it from the present.
    fn digest(&self) -> domain::chain::Digest {
        let form = match &self.form {
            Form::View(id) => json!({ "view": id }),
            Form::Fields(fields) => json!({ "fields": fields }),
            Form::Schema(schema) => json!({ "schema": schema }),
            Form::Text => json!({ "text": true }),
        };
        let (access, audience) = (self.access.map(Gate::as_str), &self.audience);
        canonical_digest(&json!({
            "form": form, "message": self.message, "blocking": self.blocking, "access": access, "audience": audience,
            "onExpiry": self.on_expiry,
        }))
    }
}

/// Asks people. A blocking request parks the session, unless an answer is recorded already. A repeat with the same key
/// returns the same request, even if it is answered.
///
/// # Errors
/// [`Error::Invalid`] for wrong fields, and for a view that does not exist, is not open now or has other rules on who
/// answers; [`Error::NotFound`] if there is no such session, or if the caller neither can see it nor claimed it last;
/// [`Error::Refused`] if the worker does not hold it; [`Error::IdConflict`] if the key was used for something else;
/// [`Error::LimitReached`] if the session has asked too often.
pub async fn ask(ledger: &Ledger, scope: &Scope, id: SessionId, new: NewRequest) -> Result<RecordedRequest> {
    require(scope, Permission::Work)?;
    let now = ledger.now();
    new.check()?;
    let request_id = FeedbackRequestId::new(now, ledger.entropy());
    let prepared = own_view(ledger, scope, &new, request_id)?;
    let gate_id = GateId::new(now, ledger.entropy());
    let minter = Minter::new(ledger, now);
    let caller = *scope;
    ledger
        .write(scope.into(), async move |tx| {
            let session = store::session::find_locked(tx, caller.tenant_id, id).await?;
            let session = require_visible_or_claimed(tx.conn(), &caller, session).await?;
            let ids = (request_id, gate_id);
            Asking { caller, new, ids, minter }.run(tx, session, prepared).await
        })
        .await
}

/// Returns the view that the request gets for itself; `None` if it names one.
fn own_view(ledger: &Ledger, scope: &Scope, new: &NewRequest, id: FeedbackRequestId) -> Result<Option<ViewRecord>> {
    let fields = match &new.form {
        Form::View(_) => return Ok(None),
        Form::Fields(fields) if fields.is_empty() => return Err(Error::invalid("fields", "at least one field")),
        Form::Fields(fields) => fields.clone(),
        Form::Schema(schema) => schema.fields().map_err(|issues| {
            let at = |issue: Issue| Issue::new(format!("requestedSchema.{}", issue.field), issue.message);
            Error::Invalid(issues.into_iter().map(at).collect())
        })?,
        Form::Text => vec![text_field()?],
    };
    let now = ledger.now();
    let words = new.message.split_whitespace().collect::<Vec<_>>().join(" ");
    let title: String =
        words.chars().filter(|c| !c.is_control() && !changes_direction(*c)).take(TITLE_CHARS_MAX).collect();
    let actor = scope.caller.to_string();
    let record = ViewRecord {
        id: ViewId::new(now, ledger.entropy()),
        slug: format!("ask-{}", id.0.simple()),
        introduction: if title == new.message { String::new() } else { new.message.clone() },
        title,
        fields: view::without_dimensions(fields),
        publication: Publication {
            gate: new.access.unwrap_or_default(),
            audience: new.audience.clone(),
            closes_at: None,
            ..Publication::default()
        },
        state: ViewState::Draft,
        version: None,
        revision: 1,
        published_revision: None,
        listed: false,
        created_by: actor.clone(),
        updated_by: actor,
        created_at: now,
        updated_at: now,
    };
    view::check(ledger, &record)?;
    Ok(Some(record))
}

/// The field of a question that is answered with a text.
fn text_field() -> Result<Field> {
    let field = json!({ "key": "answer", "label": "Your answer", "type": "long_text", "required": true });
    serde_json::from_value(field).map_err(|error| Error::Internal(error.to_string()))
}

/// One call of [`ask`], with everything that is prepared before the transaction.
struct Asking {
    caller: Scope,
    new: NewRequest,
    ids: (FeedbackRequestId, GateId),
    minter: Minter,
}

impl Asking {
    async fn run(
        self,
        tx: &mut WriteTx<'_>,
        session: Session,
        own_view: Option<ViewRecord>,
    ) -> Result<RecordedRequest> {
        let (tenant_id, key) = (session.tenant_id, &self.new.idempotency_key);
        let known = store::feedback_request::find_by_key(tx.conn(), tenant_id, session.id, key).await?;
        if let Some(known) = known {
            return self.again(tx, session, known).await;
        }
        self.new.check_deadline(self.minter.at())?;
        let command = if self.new.blocking { Command::Yield(YieldTo::WaitingHuman) } else { Command::Append };
        decide(state(&session), Actor::Worker { attempt: self.new.attempt }, command)?;
        let asked = store::feedback_request::count(tx.conn(), tenant_id, session.id).await?;
        if asked >= u64::from(FEEDBACK_REQUESTS_MAX) {
            return Err(Error::LimitReached(format!("a session asks at most {FEEDBACK_REQUESTS_MAX} times")));
        }
        let at = self.minter.at();
        let (slug, version) = match own_view {
            Some(view) => {
                if !store::view::insert(tx, tenant_id, &view).await? {
                    return Err(Error::Internal(format!("the slug {} is taken", view.slug)));
                }
                let view = publish_on(tx, tenant_id, view, (&self.caller.caller.to_string(), at)).await?;
                let version = version_of(tx, tenant_id, &view).await?;
                (view.slug, version)
            }
            None => self.published(tx).await?,
        };
        let request = RequestRecord {
            tenant_id,
            id: self.ids.0,
            session_id: session.id,
            attempt: self.new.attempt,
            gate_id: self.new.blocking.then_some(self.ids.1),
            view_id: version.view_id,
            version: version.version,
            message: self.new.message.clone(),
            blocking: self.new.blocking,
            access: version.publication.gate,
            audience: version.publication.audience.clone(),
            asked_by: self.caller.caller.to_string(),
            asked_at: at,
            expires_at: self.new.expires_at,
            on_expiry: self.new.on_expiry,
            idempotency_key: self.new.idempotency_key.clone(),
            digest: self.new.digest(),
            state: RequestState::Waiting,
            closed_at: None,
        };
        store::feedback_request::insert(tx, &request).await?;
        let fields = version.fields;
        let session = self.notify(tx, session, &request, fields.clone()).await?;
        Ok(RecordedRequest { request, session, view_slug: slug, fields, answer: None, is_new: true })
    }

    /// Returns the named view's published version.
    async fn published(&self, tx: &mut WriteTx<'_>) -> Result<(String, ViewVersionRecord)> {
        let Form::View(id) = self.new.form else { return Err(not_found()) };
        let found = store::view::find(tx.conn(), self.caller.tenant_id, id).await?.filter(|view| view.listed);
        let view = found.ok_or_else(|| Error::invalid("viewId", "there is no such view"))?;
        if view.state != ViewState::Published {
            return Err(Error::invalid("viewId", "the view is not published"));
        }
        let version = version_of(tx, self.caller.tenant_id, &view).await?;
        let publication = &version.publication;
        if publication.availability(self.minter.at()) != Availability::Open {
            return Err(Error::invalid("viewId", "the view is not open now"));
        }
        if self.new.access.is_some_and(|access| access != publication.gate) {
            return Err(Error::invalid("gate", format!("the view has the gate `{}`", publication.gate)));
        }
        if self.new.audience.is_some() && self.new.audience != publication.audience {
            return Err(Error::invalid("audience", "the view has another audience"));
        }
        Ok((view.slug, version))
    }

    /// Writes the event of the request, and parks the session if it waits.
    async fn notify(
        mut self,
        tx: &mut WriteTx<'_>,
        session: Session,
        request: &RequestRecord,
        fields: Vec<Field>,
    ) -> Result<Session> {
        let event = self.minter.event(&FeedbackRequested {
            message: Some(request.message.clone()),
            request_id: request.id,
            view_id: request.view_id,
            version: request.version,
            blocking: request.blocking,
            gate: request.access,
            audience: request.audience.clone(),
            expires_at: request.expires_at,
            on_expiry: request.on_expiry,
            attempt: request.attempt,
        });
        let Some(gate_id) = request.gate_id else {
            // A session that continues changes no status, which would tell the pages that something waits.
            tx.counts_changed(request.tenant_id);
            return append_server_events(tx, session, vec![event], self.caller.caller, self.minter.at()).await;
        };
        let schema = serde_json::to_value(to_schema(&fields)).map_err(|error| Error::Internal(error.to_string()))?;
        let question =
            Question { message: request.message.clone(), schema: Some(schema), fields, request_id: Some(request.id) };
        let of = RequestTerms { due_at: request.expires_at, audience: request.audience.clone() };
        let (gate, opened) = pause(tx, &session, (gate_id, Task::Question(question)), of, &mut self.minter).await?;
        let actor = Actor::Worker { attempt: request.attempt };
        let command = Command::Yield(YieldTo::WaitingHuman);
        let transition = decide(state(&session), actor, command)?;
        let (caller, reason) = (self.caller.caller, "waiting for an answer".into());
        let minter = self.minter.clone();
        let change = Change { id: session.id, actor, command, caller, reason, minter: self.minter };
        let waiting = write(tx, session, transition, change, vec![event, opened], Report::default()).await?;
        ask_or_approve(tx, waiting, gate, minter).await
    }

    /// Answers a repeat. The session does not wait again: its request is open, or what ended it is in the answer.
    async fn again(self, tx: &mut WriteTx<'_>, session: Session, known: RequestRecord) -> Result<RecordedRequest> {
        if known.digest != self.new.digest() {
            let detail = format!("the key was used for the request {}", known.id);
            return Err(Error::IdConflict { detail });
        }
        let tenant_id = session.tenant_id;
        let view = store::view::find(tx.conn(), tenant_id, known.view_id).await?.ok_or_else(not_found)?;
        let answer = store::feedback_request::answer_of_request(tx.conn(), tenant_id, known.id).await?;
        let fields = fields_of(tx.conn(), &known).await?;
        Ok(RecordedRequest { request: known, session, view_slug: view.slug, fields, answer, is_new: false })
    }
}

async fn version_of(tx: &mut WriteTx<'_>, tenant_id: TenantId, view: &ViewRecord) -> Result<ViewVersionRecord> {
    let number = view.version.unwrap_or_default();
    store::view::version_of(tx.conn(), tenant_id, view.id, number)
        .await?
        .ok_or_else(|| Error::Internal(format!("view {} has no version {number}", view.id)))
}
