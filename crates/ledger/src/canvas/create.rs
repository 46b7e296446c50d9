//! Beginning a canvas.

use super::document::document_at;
use crate::{
    EntityRecord, Error, Ledger, Result,
    commit::{self, Minter},
    entity,
    guard::{Fields, require},
    output::{check_schema, pointer_errors},
    visibility::require_visible,
};
use domain::{
    Scope,
    canvas::{Document, FIRST_OP_ID, Operation, Patch, SOURCE, is_small_schema, spread},
    chain::{Digest, body_digest},
    event::kind::{CanvasPatch, Created, StatePatch},
    id::{EntityId, SessionId},
    limit::{ATTEMPTS_MAX, CANVAS_SCHEMA_NODES_MAX, TITLE_CHARS_MAX},
    role::Permission,
    session::{Actor, Command, Report, Session, State, Status, TimeLimits, Type, decide},
};
use serde_json::{Map, Value, json};
use store::{CanvasRecord, Conn, WriteTx, canvas::KnownPatch, session::Inserted};

/// A canvas to create. It begins with one of four documents, or with an empty one.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewCanvas {
    /// Title of the canvas, at most 300 characters.
    pub title: String,
    /// An object, for example the output of an agent.
    pub document: Option<Value>,
    /// Another canvas, which serves as a template: its newest document.
    pub from_canvas: Option<SessionId>,
    /// An entity: each of its fields is a block of text.
    pub from_entity: Option<EntityId>,
    /// A session that everyone in the workspace can see, such as one of an agent: its result is the document, or a
    /// block of text if it is no object.
    pub from_session: Option<SessionId>,
    /// JSON Schema that every version has to match.
    pub schema: Option<Value>,
}

/// Creates a canvas. Its creator edits it, and adds participants.
///
/// # Errors
/// [`Error::Invalid`] for a title, document or schema that is wrong, a document that does not match the schema, and a
/// session that is private or has no result; [`Error::NotFound`] if the canvas, entity or session to begin with does
/// not exist.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewCanvas) -> Result<SessionId> {
    require(scope, Permission::StartSession)?;
    check(&new)?;
    let now = ledger.now();
    let id = SessionId::new(now, ledger.entropy());
    let (minter, caller) = (Minter::new(ledger, now), *scope);
    ledger.write(scope.into(), async move |tx| begin(tx, &caller, id, new, minter).await).await?;
    Ok(id)
}

fn check(new: &NewCanvas) -> Result<()> {
    let mut fields = Fields::default();
    fields.title("title", &new.title, TITLE_CHARS_MAX);
    let given =
        [new.document.is_some(), new.from_canvas.is_some(), new.from_entity.is_some(), new.from_session.is_some()];
    if given.into_iter().filter(|is_given| *is_given).count() > 1 {
        fields.refuse("document", "only one of document, fromCanvas, fromEntity and fromSession");
    }
    fields.value("schema", new.schema.as_ref());
    match &new.schema {
        Some(schema) if !is_small_schema(schema) => {
            let most = format!("at most {CANVAS_SCHEMA_NODES_MAX} values with what it refers to, and never itself");
            fields.refuse("schema", most);
        }
        Some(schema) => {
            if let Some(wrong) = check_schema(schema, "schema") {
                fields.refuse("schema", wrong.message);
            }
        }
        None => {}
    }
    fields.check()
}

async fn begin(tx: &mut WriteTx<'_>, scope: &Scope, id: SessionId, new: NewCanvas, mut minter: Minter) -> Result<()> {
    let (value, field) = beginning(tx.conn(), scope, &new).await?;
    let (patch, document) = first_patch(value, field)?;
    if let Some(schema) = &new.schema {
        let wrong = pointer_errors(schema, document.value(), field);
        if !wrong.is_empty() {
            return Err(wrong.into());
        }
    }
    let now = minter.at();
    let mut session = running(scope, id, &new, &minter)?;
    let created = Created::of_type(session.session_type).by_source(Some(SOURCE));
    let digest = digest_of(&patch);
    let recorded = CanvasPatch {
        op_id: patch.op_id,
        base: 0,
        previous: 0,
        ops: patch.ops,
        overwrote: Vec::new(),
        suggested_by: None,
    };
    let events = [
        minter.session_created(&session, created)?,
        minter.status_change(Some(Status::Draft), session.status(), "started"),
        minter.event(&StatePatch { text: None, patch: Some(recorded) }),
    ];
    match store::session::insert(tx, &mut session, None, &events).await? {
        Inserted::New => {}
        Inserted::KeyTaken | Inserted::AlreadyWorking => {
            return Err(Error::Internal("a new canvas met another session".into()));
        }
    }
    let (key, version, text) = ((scope.tenant_id, id), session.head_sequence, document.text());
    let record = CanvasRecord {
        document: text.clone(),
        document_schema: new.schema.map(|schema| schema.to_string()),
        version,
        patches: 1,
        unkept_patches: 0,
        unkept_bytes: 0,
        changed_at: now,
    };
    store::canvas::insert(tx, scope.tenant_id, id, &record).await?;
    store::canvas::keep(tx, key, version, &text).await?;
    let known = KnownPatch { sequence: version, body_digest: digest };
    store::canvas::insert_patch(tx, key, FIRST_OP_ID, &known, (session.created_by.as_str(), now)).await?;
    Ok(())
}

/// Digest of a patch as it was sent. One that is sent again has the same.
pub(super) fn digest_of(patch: &Patch) -> Digest {
    body_digest(&json!(patch.ops).to_string(), &json!([patch.base, patch.is_strict]).to_string())
}

/// The patch that makes the first document of an empty one.
fn first_patch(value: Value, field: &str) -> Result<(Patch, Document)> {
    let operation = json!({ "op": "replace", "path": "", "value": value });
    let operation = Operation::read(&operation).map_err(|(_, reason)| Error::invalid(field, reason))?;
    let patch = Patch { op_id: FIRST_OP_ID.into(), base: 0, ops: vec![operation], is_strict: true };
    patch.check().map_err(|invalid| Error::invalid(field, invalid.reason))?;
    let applied = Document::default().apply(&patch.ops).map_err(|_| Error::invalid(field, "an object"))?;
    applied.document.check().map_err(|limit| Error::invalid(field, limit.to_string()))?;
    Ok((patch, applied.document))
}

/// The first document, and the field of the request that names it.
async fn beginning(conn: &mut Conn<'_>, scope: &Scope, new: &NewCanvas) -> Result<(Value, &'static str)> {
    if let Some(from) = new.from_canvas {
        return Ok((of_canvas(conn, scope, from).await?, "fromCanvas"));
    }
    if let Some(from) = new.from_entity {
        return Ok((blocks(entity::get_on(conn, scope.tenant_id, from).await?)?, "fromEntity"));
    }
    if let Some(from) = new.from_session {
        return Ok((of_session(conn, scope, from).await?, "fromSession"));
    }
    Ok((new.document.clone().unwrap_or_else(|| json!({})), "document"))
}

/// The result of a session: an object is the document, anything else a block of text. Everyone in the workspace reads a
/// canvas, so the session must not be private.
async fn of_session(conn: &mut Conn<'_>, scope: &Scope, id: SessionId) -> Result<Value> {
    let session = store::session::find(conn, scope.tenant_id, id).await?;
    let session = require_visible(conn, scope, session).await?;
    if session.private_to.is_some() {
        let why = "this session is private, and everyone in the workspace reads a canvas";
        return Err(Error::invalid("fromSession", why));
    }
    let result: Option<Value> = session.result().and_then(|result| serde_json::from_str(result).ok());
    let text = match result.unwrap_or_default() {
        Value::Null => return Err(Error::invalid("fromSession", "this session has no result")),
        Value::Object(document) => return Ok(Value::Object(document)),
        Value::String(text) => text,
        other => other.to_string(),
    };
    let orders = spread(1).map_err(|_| Error::Internal("a list of one block has no order".into()))?;
    Ok(json!({ "blocks": { "result": { "type": "text", "text": text, "order": orders.first() } } }))
}

async fn of_canvas(conn: &mut Conn<'_>, scope: &Scope, id: SessionId) -> Result<Value> {
    let session = store::session::find(conn, scope.tenant_id, id).await?;
    let (session, canvas) = super::find(conn, scope, session).await?;
    let (document, _) = document_at(conn, super::key(&session), canvas.version).await?;
    Ok(document.value().clone())
}

/// The fields of an entity as blocks, in the order of its type.
fn blocks(entity: EntityRecord) -> Result<Value> {
    let orders = spread(entity.fields.len()).map_err(|_| Error::invalid("fromEntity", "it has too many fields"))?;
    let block = |((name, value), order): ((String, Value), String)| {
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let block = json!({ "type": "text", "heading": name, "text": text, "order": order });
        (name, block)
    };
    let blocks: Map<String, Value> = entity.fields.into_iter().zip(orders).map(block).collect();
    Ok(json!({ "blocks": blocks, "entityId": entity.id }))
}

fn running(scope: &Scope, id: SessionId, new: &NewCanvas, minter: &Minter) -> Result<Session> {
    let now = minter.at();
    let mut session = Session {
        tenant_id: scope.tenant_id,
        id,
        session_type: Type::Mixed,
        state: State::Draft { waits_for_dependencies: false },
        action_id: None,
        action_slug: None,
        agent_slug: None,
        user_id: scope.acting_user(),
        source: Some(SOURCE.into()),
        entity_id: new.from_entity,
        title: new.title.clone(),
        input: None,
        metadata: new.from_session.map_or_else(|| json!({}), |from| json!({ "fromSession": from })).to_string(),
        usage: None,
        parent_id: None,
        retry_of: None,
        created_by: scope.caller.to_string(),
        attempt: 0,
        attempts_max: ATTEMPTS_MAX,
        head_sequence: 0,
        head_digest: Digest::GENESIS,
        created_at: now,
        updated_at: now,
        queued_at: None,
        started_at: Some(now),
        time_limits: TimeLimits::default(),
        dependency_count: 0,
        awaited: false,
        private_to: None,
    };
    let started = decide(commit::state(&session), Actor::Caller, Command::Start)?;
    session.enter(started, Report::default(), now);
    Ok(session)
}
