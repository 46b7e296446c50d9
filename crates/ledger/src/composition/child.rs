//! The session of a step.

use crate::{
    Error, Result, ToolVersionRecord,
    commit::Minter,
    instance_key::InstanceKey,
    tool::{INPUT, input_errors, run_of, seal_private},
};
use domain::{
    event::{
        json_depth,
        kind::{Created, ToolOpened},
    },
    issue::Issue,
    limit::{DOCUMENT_BYTES_MAX, JSON_DEPTH_MAX},
    session::{Session, State, Status, Type},
    tool::{
        Definition,
        run::{ToolRun, agent_of, take_private},
    },
};
use serde_json::Value;
use store::{WriteTx, session::Inserted};

/// Why JSON that steps make cannot be stored.
pub(super) fn document_errors(field: &str, json: &str, bytes_max: usize) -> Vec<Issue> {
    if json.len() > bytes_max {
        return vec![Issue::new(field, format!("at most {bytes_max} bytes"))];
    }
    if json_depth(json) > JSON_DEPTH_MAX {
        return vec![Issue::new(field, format!("at most {JSON_DEPTH_MAX} levels deep"))];
    }
    Vec::new()
}

/// Why a tool does not take an input, for people. It quotes no value.
pub(super) fn input_error(definition: &Definition, input: &Value) -> Option<String> {
    let mut errors = document_errors(INPUT, &input.to_string(), DOCUMENT_BYTES_MAX);
    if !input.is_object() {
        errors.push(Issue::new(INPUT, "an object"));
    }
    if errors.is_empty() {
        errors = input_errors(definition, input);
    }
    let named: Vec<String> = errors.iter().map(|error| format!("{}: {}", error.field, error.message)).collect();
    (!named.is_empty()).then(|| format!("its input is not valid: {}", named.join("; ")))
}

/// Creates the session of a step, with its input checked. It belongs to whoever the run belongs to.
///
/// # Errors
/// [`Error::NoInstanceKey`] if there are private values and no key.
pub(super) async fn insert(
    tx: &mut WriteTx<'_>,
    parent: &Session,
    (slug, version): (&str, &ToolVersionRecord),
    mut input: Value,
    (minter, key): (&mut Minter, Option<&InstanceKey>),
) -> Result<Session> {
    let private = take_private(&mut input, version.definition.private_pointers());
    let id = minter.session_id();
    let sealed = match (private.is_empty(), key) {
        (true, _) => None,
        (false, None) => return Err(Error::NoInstanceKey),
        (false, Some(key)) => Some(seal_private(key, (parent.tenant_id, id), minter.nonce(), &private)?),
    };
    let run = run_of(slug, version, sealed.is_some());
    let mut session = Session { id, ..session_of(parent, &run, version, &input, minter) };
    ToolRun::bound(&mut session);
    let (queued, why) = match session.status() {
        Status::Running => (Status::Running, "its steps begin"),
        _ => (Status::Pending, "dispatched"),
    };
    let created = minter.session_created(&session, Created::of_type(session.session_type))?;
    let opened = ToolOpened { tool: Some(run.slug), version: Some(run.version), ..ToolOpened::default() };
    let events = [created, minter.event(&opened), minter.status_change(Some(Status::Draft), queued, why)];
    match store::session::insert(tx, &mut session, None, &events).await? {
        Inserted::New => {}
        Inserted::KeyTaken | Inserted::AlreadyWorking => {
            return Err(Error::Internal("the session of a step met another session".into()));
        }
    }
    if let Some(sealed) = sealed {
        store::tool_run::insert_private(tx, session.tenant_id, session.id, &sealed).await?;
    }
    Ok(session)
}

/// The row as a tool of another kind than composite has it.
fn session_of(parent: &Session, run: &ToolRun, version: &ToolVersionRecord, input: &Value, minter: &Minter) -> Session {
    let (now, title) = (minter.at(), version.definition.name.clone());
    Session {
        state: State::Pending { deadline_at: None },
        agent_slug: Some(agent_of(version.definition.kind(), &run.slug)),
        user_id: parent.user_id,
        entity_id: parent.entity_id,
        input: Some(input.to_string()),
        metadata: run.to_metadata(),
        parent_id: Some(parent.id),
        queued_at: Some(now),
        private_to: parent.private_to.clone(),
        ..Session::draft(parent.tenant_id, parent.id, Type::Tool, title, parent.created_by.clone(), now)
    }
}
