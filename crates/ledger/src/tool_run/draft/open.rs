//! Opening a draft, and saving the form of a page as one.

use super::{
    ToolDraft, apply,
    change::{ChangeFields, change_on},
    check_fields, check_whole,
};
use crate::{
    Error, Ledger, Result, ToolDraftRecord,
    commit::Minter,
    guard::{Fields as Checks, require},
    instance_key::InstanceKey,
    session::{
        NewSession,
        create::{draft, repeated},
        graph::LockedRelations,
    },
    tool::{published_on, require_audience, run_of},
};
use domain::{
    Scope,
    event::kind::{Created, ToolOpened},
    id::SessionId,
    limit::{KEY_CHARS_MAX, TOOL_DRAFTS_MAX},
    role::Permission,
    session::{Session, State, Type},
    tool::{
        draft::{Draft, Fields},
        run::agent_of,
    },
};
use sha2::{Digest as _, Sha256};
use store::{
    WriteTx,
    session::{Idempotency, Inserted},
};

/// Prefix of the slug in the digest of a request that opens a draft.
const REQUEST: &str = "tool draft ";

/// The request for a new draft of a run.
#[derive(Debug, Clone, Default)]
pub struct OpenDraft {
    /// The fields that are filled in already.
    pub fields: Fields,
    /// A repeat with the same key returns the session that the first request created.
    pub idempotency_key: Option<String>,
}

/// The form of a page to keep.
#[derive(Debug, Clone, Default)]
pub struct SaveForm {
    /// The id of the session of a draft that is continued, or a key of its own for a new one.
    pub id: String,
    /// `rev` of the draft that the page shows; 0 for a new one.
    pub rev: u64,
    /// All fields that are filled in. Others are removed from the draft.
    pub fields: Fields,
    /// Whether the person leaves the page.
    pub is_leaving: bool,
}

/// Opens a draft of a run of the published version.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool; [`Error::WrongState`] if it is not published;
/// [`Error::Forbidden`] for a caller outside of its audience; [`Error::Invalid`] for fields that cannot be kept;
/// [`Error::LimitReached`] if the caller has too many drafts of the tool; [`Error::IdConflict`] if the key was used for
/// something else.
pub async fn open(ledger: &Ledger, scope: &Scope, slug: &str, new: OpenDraft) -> Result<ToolDraft> {
    require(scope, Permission::StartSession)?;
    let mut checks = Checks::default();
    checks.key("idempotencyKey", new.idempotency_key.as_deref(), KEY_CHARS_MAX);
    checks.check()?;
    check_fields(&new.fields)?;
    let opening = Opening::new(ledger, slug, new.fields, new.idempotency_key);
    let caller = *scope;
    ledger
        .write(scope.into(), async move |tx| match repeated(tx, &caller, opening.idempotency.as_ref()).await? {
            Some(session) => known(tx, session).await,
            None => insert(tx, caller, opening).await,
        })
        .await
}

/// Keeps the form of a page: in the draft that it continues, or in a new one.
///
/// # Errors
/// As [`open`] and [`super::change_fields`].
pub async fn save_form(ledger: &Ledger, scope: &Scope, slug: &str, form: SaveForm) -> Result<ToolDraft> {
    require(scope, Permission::StartSession)?;
    let mut checks = Checks::default();
    checks.key("id", Some(&form.id), KEY_CHARS_MAX);
    checks.check()?;
    check_fields(&form.fields)?;
    let (named, caller) = (form.id.parse::<SessionId>().ok(), *scope);
    let opening = Opening::new(ledger, slug, form.fields.clone(), Some(form.id));
    let change = ChangeFields { rev: form.rev, fields: form.fields, is_whole: true, is_leaving: form.is_leaving };
    ledger
        .write(scope.into(), async move |tx| {
            let continued = match named {
                Some(id) => {
                    store::tool_draft::find(tx.conn(), caller.tenant_id, id).await?.map(|draft| draft.session_id)
                }
                None => None,
            };
            let id = match continued {
                Some(id) => Some(id),
                None => repeated(tx, &caller, opening.idempotency.as_ref()).await?.map(|session| session.id),
            };
            match id {
                Some(id) => change_on(tx, &caller, id, change, (opening.minter, opening.key.as_ref())).await,
                None if change.rev != 0 => Err(Error::StaleVersion { given: change.rev, current: 0 }),
                None => insert(tx, caller, opening).await,
            }
        })
        .await
}

/// The key of the session of a draft. A run that was never a draft can have the key of the request itself.
pub(super) fn idempotency_key(key: &str) -> String {
    format!("draft-{key}")
}

/// Everything that the transaction of a new draft needs.
struct Opening {
    id: SessionId,
    slug: String,
    fields: Fields,
    idempotency: Option<Idempotency>,
    key: Option<InstanceKey>,
    minter: Minter,
}

impl Opening {
    fn new(ledger: &Ledger, slug: &str, fields: Fields, key: Option<String>) -> Self {
        let now = ledger.now();
        // A repeat names the same draft, whatever was filled in since.
        let digest = Sha256::new().chain_update(REQUEST).chain_update(slug).finalize().into();
        Self {
            id: SessionId::new(now, ledger.entropy()),
            slug: slug.to_owned(),
            fields,
            idempotency: key.map(|key| Idempotency { key: idempotency_key(&key), digest }),
            key: ledger.instance_key().ok().cloned(),
            minter: Minter::new(ledger, now),
        }
    }
}

async fn known(tx: &mut WriteTx<'_>, session: Session) -> Result<ToolDraft> {
    let draft = store::tool_draft::find(tx.conn(), session.tenant_id, session.id).await?;
    Ok(ToolDraft { session, draft })
}

async fn insert(tx: &mut WriteTx<'_>, scope: Scope, opening: Opening) -> Result<ToolDraft> {
    let (tenant_id, created_by) = (scope.tenant_id, scope.caller.to_string());
    let (tool, version) = published_on(tx.conn(), tenant_id, &opening.slug).await?;
    require_audience(tx.conn(), &scope, &version.definition).await?;
    let open = store::tool_draft::list_of_caller(tx.conn(), tenant_id, tool.id, &created_by, TOOL_DRAFTS_MAX).await?;
    if open.len() >= TOOL_DRAFTS_MAX as usize {
        return Err(Error::LimitReached(format!("a caller has at most {TOOL_DRAFTS_MAX} drafts of one tool")));
    }
    let mut minter = opening.minter;
    let run = run_of(&opening.slug, &version, false);
    let mut content = Draft::default();
    let of = (&version.definition, &opening.fields);
    let changes = apply(&mut content, of, (opening.id, opening.key.as_ref()), false, &mut minter);
    check_whole(&content)?;
    let new = NewSession {
        agent_slug: Some(agent_of(version.definition.kind(), &run.slug)),
        title: Some(version.definition.name.clone()),
        metadata: Some(run.to_metadata()),
        ..NewSession::of_type(Type::Tool)
    };
    let (queued, _) = draft(tx, scope, opening.id, &minter, new, (None, &LockedRelations::default())).await?;
    let mut session = Session { state: State::Draft { waits_for_dependencies: false }, queued_at: None, ..queued };
    let opened = ToolOpened { tool: Some(run.slug), version: Some(run.version), ..ToolOpened::default() };
    let mut events = vec![minter.session_created(&session, Created::of_type(Type::Tool))?, minter.event(&opened)];
    events.extend(changes);
    match store::session::insert(tx, &mut session, opening.idempotency.as_ref(), &events).await? {
        Inserted::New => {}
        Inserted::KeyTaken | Inserted::AlreadyWorking => {
            return Err(Error::Internal("the session of a draft met another session".into()));
        }
    }
    let (session_id, saved_at) = (session.id, minter.at());
    let draft = ToolDraftRecord { session_id, tool_id: tool.id, created_by, rev: 1, content, saved_at };
    store::tool_draft::insert(tx, tenant_id, &draft).await?;
    Ok(ToolDraft { session, draft: Some(draft) })
}
