//! Drafts of runs: sessions of tools whose fields a person fills in before the run begins. A draft is a session in the
//! status `draft`. Its log has each change of a field; private values are neither in the log nor in the draft.

mod begin;
mod change;
mod of_form;
mod open;
mod read;

pub use begin::{BeginRun, begin};
pub use change::{ChangeFields, change_fields};
pub use of_form::of_form;
pub use open::{OpenDraft, SaveForm, open, save_form};
pub(crate) use read::newest_on;
pub use read::{get, of_sessions};

use crate::{
    Error, Ledger, Result, ToolDraftRecord,
    commit::{Minter, state},
    guard::Fields as Checks,
    instance_key::InstanceKey,
    left_open::{self, LeftOpen},
    visibility::{is_own, require_visible},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use chrono::TimeDelta;
use domain::{
    Scope,
    event::kind::FieldChanged,
    gate::canonical_digest,
    id::SessionId,
    limit::{NAME_CHARS_MAX, TOOL_DRAFT_FIELDS_MAX},
    session::{Actor, Command, Session, Type, decide},
    tool::{
        Definition,
        draft::{Draft, FieldChange, Fields},
    },
};
use serde_json::Value;
use store::{PreparedEvent, WriteTx};

/// Name of the fields in error messages. The name of one follows.
const FIELDS: &str = "fields";
/// Name of the purpose for which the digests of private values are derived from the instance key.
const PRIVATE_FIELD: &str = "tool draft field";

/// Abandons drafts of runs that were not saved for `left_for`. Returns how many.
pub async fn sweep(ledger: &Ledger, left_for: TimeDelta) -> Result<u64> {
    left_open::sweep(ledger, LeftOpen::ToolDraft, left_for).await
}

/// A session of a tool with its draft.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolDraft {
    /// Session of the type `tool`.
    pub session: Session,
    /// The draft; `None` once the run has begun or the session has ended.
    pub draft: Option<ToolDraftRecord>,
}

/// Checks the names and the size of fields.
fn check_fields(changes: &Fields) -> Result<()> {
    let mut checks = Checks::default();
    if changes.len() > TOOL_DRAFT_FIELDS_MAX {
        checks.refuse(FIELDS, format!("at most {TOOL_DRAFT_FIELDS_MAX} fields"));
    }
    for name in changes.keys().take(TOOL_DRAFT_FIELDS_MAX) {
        if name.is_empty() || name.chars().count() > NAME_CHARS_MAX || name.contains('\0') {
            checks.refuse(FIELDS, format!("names of fields have 1 to {NAME_CHARS_MAX} characters"));
        }
    }
    checks.value(FIELDS, Some(&Value::Object(changes.clone())));
    checks.check()
}

/// Refuses a draft with too many fields, or whose fields are too large together.
fn check_whole(draft: &Draft) -> Result<()> {
    let mut checks = Checks::default();
    if draft.len() > TOOL_DRAFT_FIELDS_MAX {
        checks.refuse(FIELDS, format!("at most {TOOL_DRAFT_FIELDS_MAX} fields"));
    }
    checks.value(FIELDS, Some(&Value::Object(draft.fields.clone())));
    checks.check()
}

/// Changes the fields of a draft and returns the events that its log gets. `key` keeps digests of private values from
/// being guessed; without it only the first change of a private field is noticed.
fn apply(
    draft: &mut Draft,
    (definition, changes): (&Definition, &Fields),
    (id, key): (SessionId, Option<&InstanceKey>),
    is_leaving: bool,
    minter: &mut Minter,
) -> Vec<PreparedEvent> {
    draft.change(definition, changes, |field, value| {
        let digest = canonical_digest(value).0;
        let of: [&[u8]; 4] = [id.0.as_bytes(), field.as_bytes(), &[0], &digest];
        key.map(|key| URL_SAFE_NO_PAD.encode(key.derive(PRIVATE_FIELD, &of))).unwrap_or_default()
    });
    let due = draft.take_due(definition, minter.at(), is_leaving);
    let event = |change: FieldChange| {
        let changed = FieldChanged { text: None, field: Some(change.field), old: change.old, new: change.new };
        minter.event(&changed)
    };
    due.into_iter().map(event).collect()
}

/// Returns the caller's own session of a tool, locked until the transaction ends.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session of a tool; [`Error::Forbidden`] if it belongs to someone else.
async fn own_locked(tx: &mut WriteTx<'_>, scope: &Scope, id: SessionId) -> Result<Session> {
    let found = store::session::find_locked(tx, scope.tenant_id, id).await?;
    let session = require_visible(tx.conn(), scope, found).await?;
    if session.session_type != Type::Tool {
        return Err(Error::NotFound("session of a tool"));
    }
    if is_own(scope, &session) { Ok(session) } else { Err(Error::Forbidden("this draft belongs to someone else")) }
}

/// Returns the draft of a session that the transaction has locked.
///
/// # Errors
/// [`Error::Refused`] if its run has begun or it has ended; [`Error::NotFound`] if it waits for other sessions and has
/// no draft.
async fn draft_of(tx: &mut WriteTx<'_>, session: &Session) -> Result<ToolDraftRecord> {
    decide(state(session), Actor::Caller, Command::Start)?;
    let found = store::tool_draft::find(tx.conn(), session.tenant_id, session.id).await?;
    found.ok_or(Error::NotFound("draft of a run"))
}
