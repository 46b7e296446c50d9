//! Beginning a canvas.

use super::document::document_at;
use crate::{
    EntityRecord, Error, Ledger, Result,
    commit::Minter,
    entity,
    guard::{Fields, require},
    output::{check_schema, pointer_errors},
    session::create::repeated,
    visibility::require_visible,
};
use domain::{
    Scope,
    canvas::{Document, FIRST_OP_ID, Operation, Patch, SOURCE, is_small_schema, spread},
    chain::{Digest, body_digest},
    entity::FieldDef,
    event::kind::{CanvasPatch, Created, StatePatch},
    id::{EntityId, SessionId},
    limit::{CANVAS_SCHEMA_NODES_MAX, KEY_CHARS_MAX, TITLE_CHARS_MAX},
    role::Permission,
    session::{Actor, Session, Status, Type},
};
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use store::{
    CanvasRecord, Conn, WriteTx,
    canvas::KnownPatch,
    session::{Idempotency, Inserted},
};

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
    /// A repeat with the same key returns the canvas that the first request created.
    pub idempotency_key: Option<String>,
}

impl NewCanvas {
    /// Returns a digest of the request. Requests with the same key must have the same digest.
    fn digest(&self) -> [u8; 32] {
        let from = (self.from_canvas, self.from_entity, self.from_session);
        let fields = json!([SOURCE, self.title, self.document, from, self.schema]);
        Sha256::digest(fields.to_string().as_bytes()).into()
    }
}

/// Creates a canvas. Its creator edits it, and adds participants.
///
/// # Errors
/// [`Error::Invalid`] for a title, document or schema that is wrong, a document that does not match the schema, and a
/// session that is private or has no result; [`Error::NotFound`] if the canvas, entity or session to begin with does
/// not exist; [`Error::IdConflict`] if the key was used for a different request.
pub async fn create(ledger: &Ledger, scope: &Scope, new: NewCanvas) -> Result<SessionId> {
    require(scope, Permission::StartSession)?;
    check(&new)?;
    let now = ledger.now();
    let id = SessionId::new(now, ledger.entropy());
    let (minter, caller) = (Minter::new(ledger, now), *scope);
    let written = ledger.write(scope.into(), async move |tx| {
        let idempotency = new.idempotency_key.clone().map(|key| Idempotency { key, digest: new.digest() });
        if let Some(known) = repeated(tx, &caller, idempotency.as_ref()).await? {
            return Ok(known.id);
        }
        begin(tx, &caller, (id, idempotency), new, minter).await?;
        Ok(id)
    });
    written.await
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
    fields.key("idempotencyKey", new.idempotency_key.as_deref(), KEY_CHARS_MAX);
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

async fn begin(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    (id, idempotency): (SessionId, Option<Idempotency>),
    new: NewCanvas,
    mut minter: Minter,
) -> Result<()> {
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
    match store::session::insert(tx, &mut session, idempotency.as_ref(), &events).await? {
        Inserted::New => {}
        // The key is locked, so only a server of an earlier version can have taken it.
        Inserted::KeyTaken => {
            return Err(Error::Unavailable("the same request is still being handled; send it again".into()));
        }
        Inserted::AlreadyWorking => return Err(Error::Internal("a new canvas met a working session".into())),
    }
    let (key, version, text) = ((scope.tenant_id, id), session.head_sequence, document.text());
    let record = CanvasRecord {
        session_id: id,
        document: text.clone(),
        document_schema: new.schema.map(|schema| schema.to_string()),
        version,
        patches: 1,
        unkept_patches: 0,
        unkept_bytes: 0,
        changed_at: now,
        is_template: 0,
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
        let entity = entity::get_on(conn, scope.tenant_id, from).await?;
        let of = store::entity_type::find(conn, scope.tenant_id, entity.type_id).await?;
        return Ok((blocks(entity, &of.map(|of| of.fields).unwrap_or_default())?, "fromEntity"));
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

/// The fields of an entity as blocks, each with its name and the type of its values. Ids are the slugs of the fields.
fn blocks(entity: EntityRecord, fields: &[FieldDef]) -> Result<Value> {
    let orders = spread(entity.fields.len()).map_err(|_| Error::invalid("fromEntity", "it has too many fields"))?;
    let block = |((name, value), order): ((String, Value), String)| {
        let text = value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
        let field = fields.iter().find(|field| field.slug == name);
        let heading = field.map_or(name.as_str(), |field| field.name.as_str());
        let mut block = json!({ "type": "text", "heading": heading, "text": text, "order": order });
        if let Some(field) = field {
            block["field"] = json!(field.kind);
        }
        (name, block)
    };
    let blocks: Map<String, Value> = entity.fields.into_iter().zip(orders).map(block).collect();
    Ok(json!({ "blocks": blocks, "entityId": entity.id }))
}

fn running(scope: &Scope, id: SessionId, new: &NewCanvas, minter: &Minter) -> Result<Session> {
    let now = minter.at();
    let mut session = Session {
        user_id: scope.acting_user(),
        source: Some(SOURCE.into()),
        entity_id: new.from_entity,
        metadata: new.from_session.map_or_else(|| json!({}), |from| json!({ "fromSession": from })).to_string(),
        ..Session::draft(scope.tenant_id, id, Type::Mixed, new.title.clone(), scope.caller.to_string(), now)
    };
    session.start(Actor::Caller, now)?;
    Ok(session)
}
