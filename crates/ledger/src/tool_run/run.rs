//! Running a tool: creates the session of the run.

use super::{
    admit::admit,
    input::{CheckedInput, check_ahead, valid_input},
};
use crate::{
    Error, Ledger, Result, ToolVersionRecord,
    audit::Act,
    commit::Minter,
    composition::advance,
    guard::{Fields, require},
    instance_key::{InstanceKey, SealNonce},
    session::{
        NewSession,
        create::{draft, repeated},
        graph::lock_relations,
    },
    tool::{INPUT, get_on, gets_secrets, published_on, require_audience, run_of, seal_private, with_versions},
    tool_output::{self, PromoteRun},
};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    event::kind::{Created, ToolOpened},
    gate::canonical_digest,
    id::{SessionId, ToolLinkId},
    limit::KEY_CHARS_MAX,
    role::Permission,
    session::{Session, Status, Type},
    tool::{
        Definition,
        run::{TEST_SOURCE, ToolRun, agent_of, take_private},
    },
};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use store::{
    WriteTx,
    session::{Idempotency, Inserted},
};

/// Name of the purpose for which the digests of requests are derived from the instance key.
const REQUEST: &str = "tool run request";

/// A run to start.
#[derive(Debug, Clone, Default)]
pub struct RunTool {
    /// The input, a JSON object. `None` takes the defaults of the tool's schema.
    pub input: Option<String>,
    /// The session that starts this one.
    pub parent_id: Option<SessionId>,
    /// A repeat with the same key returns the session that the first request created.
    pub idempotency_key: Option<String>,
    /// Task that writes the result to an entity when the run completes.
    pub output: Option<PromoteRun>,
}

/// Runs the published version of a tool: creates a session that a worker claims, that a server runs, or that starts the
/// steps of a composite tool. The values of
/// private fields are stored encrypted beside the session until it ends; the session's input has no such values.
///
/// # Errors
/// [`Error::NotFound`] if the workspace has no such tool or parent; [`Error::WrongState`] if the tool is not published;
/// [`Error::Forbidden`] for a caller outside of its audience; [`Error::Invalid`] for an input that its schema refuses,
/// with the JSON Pointer of each problem after `input`; [`Error::Refused`] if the parent was stopped;
/// [`Error::LimitReached`] if sessions nest too deeply; [`Error::IdConflict`] if the key was used for something else;
/// [`Error::NoInstanceKey`] if there are private values and no key.
pub async fn run(ledger: &Ledger, scope: &Scope, slug: &str, run: RunTool) -> Result<Session> {
    begin(ledger, scope, slug, run, Way::Published).await
}

/// Runs the published version of a tool for a person without an account who opened a link. The session names the link.
///
/// # Errors
/// Those of [`run`]; [`Error::NotFound`] if the link does not work any more; [`Error::LimitReached`] if it has begun
/// too many runs within an hour.
pub(crate) async fn run_by_link(
    ledger: &Ledger,
    scope: &Scope,
    slug: &str,
    run: RunTool,
    link: ToolLinkId,
) -> Result<Session> {
    begin(ledger, scope, slug, run, Way::Link(link)).await
}

/// Tests the working copy of a tool: runs it in a session that is marked as a test, whether or not the tool is
/// published. Its steps are real runs, and its calls are real calls. Insights leave tests out.
///
/// # Errors
/// Those of [`run`] but for an unpublished tool and for callers outside of the audience; [`Error::Forbidden`] for a
/// caller who may not change tools, and for one who is no admin if the tool has secrets and its call differs from that
/// of the version published last; [`Error::Invalid`] for a working copy that could not be published.
pub async fn test(ledger: &Ledger, scope: &Scope, slug: &str, run: RunTool) -> Result<Session> {
    require(scope, Permission::ManageTools)?;
    begin(ledger, scope, slug, run, Way::Test).await
}

/// What is run, and for whom.
#[derive(Clone, Copy)]
enum Way {
    /// The published version, for a caller of the workspace.
    Published,
    /// The working copy.
    Test,
    /// The published version, for whoever opened this link.
    Link(ToolLinkId),
}

async fn begin(ledger: &Ledger, scope: &Scope, slug: &str, run: RunTool, way: Way) -> Result<Session> {
    require(scope, Permission::StartSession)?;
    let is_test = matches!(way, Way::Test);
    let link = if let Way::Link(id) = way { Some(id) } else { None };
    let mut fields = Fields::default();
    fields.object(INPUT, run.input.as_deref());
    fields.key("idempotencyKey", run.idempotency_key.as_deref(), KEY_CHARS_MAX);
    fields.check()?;
    let input = match run.input.as_deref().map(serde_json::from_str::<Map<String, Value>>).transpose() {
        Ok(input) => input,
        Err(error) => return Err(Error::invalid(INPUT, format!("not readable as JSON: {error}"))),
    };
    let now = ledger.now();
    let key = ledger.instance_key().ok().cloned();
    let asked = if is_test { format!("test {slug}") } else { slug.to_owned() };
    if let Some(to) = &run.output {
        tool_output::check(scope, to)?;
        if is_test {
            return Err(Error::invalid("output", "a test writes its result nowhere"));
        }
    }
    let digest = request_digest(key.as_ref(), &asked, input.as_ref(), (run.parent_id, run.output.as_ref()));
    let new = NewRun {
        id: SessionId::new(now, ledger.entropy()),
        slug: slug.to_owned(),
        is_test,
        link,
        checked: check_ahead(ledger, scope, (slug, is_test), input.as_ref()).await?,
        input,
        output: run.output,
        parent_id: run.parent_id,
        idempotency: run.idempotency_key.map(|key| Idempotency { key, digest }),
        seal: key.map(|key| (key, InstanceKey::nonce(ledger.entropy()))),
        minter: Minter::new(ledger, now),
    };
    let caller = *scope;
    let session = ledger.write(scope.into(), async move |tx| insert(tx, caller, new).await).await?;
    if !session.status().is_final() {
        ledger.runs_for_server().notify_one();
    }
    Ok(session)
}

/// Everything that the transaction of a run needs.
struct NewRun {
    id: SessionId,
    slug: String,
    /// Whether the working copy is run.
    is_test: bool,
    /// The link by which a person without an account runs it.
    link: Option<ToolLinkId>,
    input: Option<Map<String, Value>>,
    checked: Option<CheckedInput>,
    output: Option<PromoteRun>,
    parent_id: Option<SessionId>,
    idempotency: Option<Idempotency>,
    /// What private values are encrypted with; `None` without an instance key.
    seal: Option<(InstanceKey, SealNonce)>,
    minter: Minter,
}

/// The digest of a request, which requests with the same key must share. It covers private values, so it is derived
/// from the instance key if there is one: no one can guess a value and compare.
fn request_digest(
    key: Option<&InstanceKey>,
    slug: &str,
    input: Option<&Map<String, Value>>,
    (parent_id, output): (Option<SessionId>, Option<&PromoteRun>),
) -> [u8; 32] {
    let input = canonical_digest(&input.cloned().map_or(Value::Null, Value::Object)).0;
    // Without a parent and an output it is the digest of earlier versions, so that repeats across an update are
    // recognised.
    let mut rest: Vec<u8> = parent_id.map(|id| id.0.as_bytes().to_vec()).unwrap_or_default();
    if let Some(to) = output {
        rest.extend(json!([to.action_id, to.entity_id, to.fields]).to_string().as_bytes());
    }
    match key {
        Some(key) => key.derive(REQUEST, &[slug.as_bytes(), &[0], &input, &rest]),
        None => {
            let digest = Sha256::new().chain_update(slug.as_bytes()).chain_update([0]).chain_update(input);
            digest.chain_update(rest).finalize().into()
        }
    }
}

async fn insert(tx: &mut WriteTx<'_>, scope: Scope, new: NewRun) -> Result<Session> {
    // A repeat gets its session even if the tool was withdrawn since.
    if let Some(known) = repeated(tx, &scope, new.idempotency.as_ref()).await? {
        return Ok(known);
    }
    if let Some(link) = new.link {
        admit(tx, scope.tenant_id, link, new.minter.at()).await?;
    }
    let (version, test) = version_to_run(tx, &scope, &new).await?;
    let definition = &version.definition;
    let mut input = valid_input(definition, new.input, new.checked)?;
    let private = take_private(&mut input, definition.private_pointers());
    let sealed = match (&new.seal, private.is_empty()) {
        (_, true) => None,
        (None, false) => return Err(Error::NoInstanceKey),
        (Some((key, nonce)), false) => Some(seal_private(key, (scope.tenant_id, new.id), *nonce, &private)?),
    };
    let run = run_of(&new.slug, &version, sealed.is_some());
    let run = match test {
        Some(Test { revision, gets_secrets }) => {
            ToolRun { revision: Some(revision), test_gets_secrets: gets_secrets, ..run }
        }
        None => run,
    };
    let mut minter = new.minter;
    let tested = run.revision.map(|revision| {
        let act = Act::new(Kind::ToolTested, scope.caller, minter.at()).on(TargetKind::Tool, run.id.0);
        act.with(json!({ "revision": revision, "session": new.id }))
    });
    let mut session = new_session(tx, scope, (new.id, new.parent_id), &minter, &run, definition, input).await?;
    let created = minter.session_created(&session, Created::of_type(session.session_type))?;
    let version = run.revision.is_none().then_some(run.version);
    let opened = ToolOpened { tool: Some(run.slug), version, link: new.link, ..ToolOpened::default() };
    let (status, why) = match session.status() {
        Status::Running => (Status::Running, "its steps begin"),
        _ => (Status::Pending, "dispatched"),
    };
    let events = [created, minter.event(&opened), minter.status_change(Some(Status::Draft), status, why)];
    match store::session::insert(tx, &mut session, new.idempotency.as_ref(), &events).await? {
        Inserted::New => {}
        Inserted::KeyTaken => {
            // Only a server of an earlier version, which does not lock the key, can have taken it.
            return Err(Error::Unavailable("the same request is still being handled; send it again".into()));
        }
        Inserted::AlreadyWorking => return Err(Error::Internal("a run of a tool met a working session".into())),
    }
    if let Some(sealed) = sealed {
        store::tool_run::insert_private(tx, scope.tenant_id, session.id, &sealed).await?;
    }
    if let Some(link) = new.link {
        store::tool_link::insert_run(tx, scope.tenant_id, (link, session.id), minter.at()).await?;
    }
    if let Some(to) = new.output {
        tool_output::insert(tx, &scope, session.id, (to, definition)).await?;
    }
    let key = new.seal.map(|(key, _)| key);
    let begun = advance(tx, session, minter, key.as_ref()).await?;
    if let Some(act) = tested {
        act.record(tx, scope.tenant_id).await?;
    }
    Ok(begun)
}

/// What a test has that a run of a version has not.
struct Test {
    /// Revision of the working copy.
    revision: u64,
    /// Whether its call gets the secrets of the tool.
    gets_secrets: bool,
}

/// The published version of a tool; for a test the working copy as a version.
async fn version_to_run(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    new: &NewRun,
) -> Result<(ToolVersionRecord, Option<Test>)> {
    if !new.is_test {
        let (_, version) = published_on(tx.conn(), scope.tenant_id, &new.slug).await?;
        require_audience(tx.conn(), scope, &version.definition).await?;
        return Ok((version, None));
    }
    let tool = get_on(tx.conn(), scope.tenant_id, &new.slug).await?;
    let definition = with_versions(tx.conn(), scope.tenant_id, &tool).await?;
    let gets_secrets = gets_secrets(tx.conn(), scope, &tool, &definition).await?;
    let (published_by, published_at) = (scope.caller.to_string(), new.minter.at());
    let version = ToolVersionRecord { tool_id: tool.id, version: 0, definition, published_by, published_at };
    Ok((version, Some(Test { revision: tool.revision, gets_secrets })))
}

async fn new_session(
    tx: &mut WriteTx<'_>,
    scope: Scope,
    (id, parent_id): (SessionId, Option<SessionId>),
    minter: &Minter,
    run: &ToolRun,
    definition: &Definition,
    input: Value,
) -> Result<Session> {
    let is_test = run.revision.is_some();
    let name = &definition.name;
    let new = NewSession {
        agent_slug: Some(agent_of(definition.kind(), &run.slug)),
        title: Some(if is_test { format!("Test of {name}") } else { name.clone() }),
        input: Some(input.to_string()),
        metadata: Some(if is_test { run.to_test_metadata(definition) } else { run.to_metadata() }),
        parent_id,
        ..NewSession::of_type(Type::Tool)
    };
    let place = lock_relations(tx, &scope, &new, false).await?;
    let (mut session, _) = draft(tx, scope, id, minter, new, (None, &place)).await?;
    session.source = is_test.then(|| TEST_SOURCE.to_owned());
    ToolRun::bound(&mut session);
    Ok(session)
}
