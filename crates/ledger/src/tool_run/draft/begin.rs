//! Running a draft.

use super::{apply, check_fields, check_whole, draft_of, is_own, own_locked};
use crate::{
    Error, Ledger, Result, ToolVersionRecord,
    commit::Minter,
    composition::advance,
    guard::require,
    instance_key::InstanceKey,
    tool::{input_errors, published_on, require_audience, run_of, seal_private},
    tool_output::{self, PromoteRun},
};
use domain::{
    Scope,
    id::SessionId,
    issue::Issue,
    role::Permission,
    session::{Session, State, Status},
    tool::{
        draft::Fields,
        run::{ToolRun, agent_of, take_private},
    },
};
use serde_json::Value;
use store::{PreparedEvent, WriteTx};

/// How to run a draft.
#[derive(Debug, Clone, Default)]
pub struct BeginRun {
    /// `rev` of the draft that the caller read; `None` runs it as it is.
    pub rev: Option<u64>,
    /// Last changes, such as private values, which no draft keeps; `null` removes a field.
    pub fields: Fields,
    /// Task that writes the result to an entity when the run completes.
    pub output: Option<PromoteRun>,
}

/// Runs the caller's own draft with the version that is published now. A repeat returns the run.
///
/// # Errors
/// Those of [`super::change_fields`] and of [`crate::tool_run::run`]; [`Error::IdConflict`] if the draft runs already
/// with other fields.
pub async fn begin(ledger: &Ledger, scope: &Scope, id: SessionId, run: BeginRun) -> Result<Session> {
    require(scope, Permission::StartSession)?;
    check_fields(&run.fields)?;
    if let Some(to) = &run.output {
        tool_output::check(scope, to)?;
    }
    let checked = check_ahead(ledger, scope, id, &run.fields).await?;
    let (caller, minter) = (*scope, Minter::new(ledger, ledger.now()));
    let key = ledger.instance_key().ok().cloned();
    let begun = ledger
        .write(scope.into(), async move |tx| begin_on(tx, &caller, id, (run, checked), (minter, key.as_ref())).await)
        .await?;
    if !begun.status().is_final() {
        ledger.runs_for_server().notify_one();
    }
    Ok(begun)
}

/// What was found before the transaction, which other writers wait for.
struct CheckedInput {
    /// The schema against which the input was checked.
    schema: Value,
    /// The whole input.
    input: Value,
    /// Its problems.
    errors: Vec<Issue>,
}

/// Checks the input of a draft as it is now. `None` for what the transaction refuses.
async fn check_ahead(ledger: &Ledger, scope: &Scope, id: SessionId, changes: &Fields) -> Result<Option<CheckedInput>> {
    let caller = *scope;
    let read = ledger.snapshot(scope, async move |conn| {
        let session = store::session::find(conn, caller.tenant_id, id).await?;
        let Some(session) = session.filter(|session| is_own(&caller, session)) else { return Ok(None) };
        let (Some(named), Some(draft)) =
            (ToolRun::of_session(&session), store::tool_draft::find(conn, caller.tenant_id, id).await?)
        else {
            return Ok(None);
        };
        match published_on(conn, caller.tenant_id, &named.slug).await {
            Ok((_, version)) => Ok(Some((version.definition, draft.content.fields))),
            Err(Error::NotFound(_) | Error::WrongState { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    });
    let Some((definition, fields)) = read.await? else { return Ok(None) };
    let mut input = Value::Object(fields);
    merge(&mut input, changes.clone());
    let errors = input_errors(&definition, &input);
    Ok(Some(CheckedInput { schema: definition.input_schema, input, errors }))
}

async fn begin_on(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    id: SessionId,
    (run, checked): (BeginRun, Option<CheckedInput>),
    (mut minter, key): (Minter, Option<&InstanceKey>),
) -> Result<Session> {
    let session = own_locked(tx, scope, id).await?;
    if session.queued_at.is_some() || session.started_at.is_some() {
        return repeated(tx, session, &run.fields).await;
    }
    let before = draft_of(tx, &session).await?;
    let named = ToolRun::of_session(&session).ok_or(Error::NotFound("draft of a run"))?;
    let (_, version) = published_on(tx.conn(), scope.tenant_id, &named.slug).await?;
    require_audience(tx.conn(), scope, &version.definition).await?;
    let mut content = before.content.clone();
    let events = apply(&mut content, (&version.definition, &run.fields), (id, key), true, &mut minter);
    check_whole(&content)?;
    // Whoever sends all that the draft has knows what runs, whichever save they have read.
    let knows_all = content.has_fields_of(&before.content)
        && before.content.names().iter().all(|field| run.fields.contains_key(*field));
    if let Some(given) = run.rev
        && given != before.rev
        && !knows_all
    {
        return Err(Error::StaleVersion { given, current: before.rev });
    }
    let mut input = Value::Object(before.content.fields);
    merge(&mut input, run.fields);
    let errors = match checked {
        Some(checked) if checked.schema == version.definition.input_schema && checked.input == input => checked.errors,
        Some(_) | None => input_errors(&version.definition, &input),
    };
    if !errors.is_empty() {
        return Err(Error::Invalid(errors));
    }
    let private = take_private(&mut input, version.definition.private_pointers());
    let sealed = match (key, private.is_empty()) {
        (_, true) => None,
        (None, false) => return Err(Error::NoInstanceKey),
        (Some(key), false) => Some(seal_private(key, (scope.tenant_id, id), minter.nonce(), &private)?),
    };
    let running = run_of(&named.slug, &version, sealed.is_some());
    let begun = write(tx, scope, session, &version, running, input, (events, &mut minter)).await?;
    if let Some(sealed) = sealed {
        store::tool_run::insert_private(tx, scope.tenant_id, id, &sealed).await?;
    }
    store::tool_draft::delete(tx, scope.tenant_id, id).await?;
    if let Some(to) = run.output {
        tool_output::insert(tx, scope, id, (to, &version.definition)).await?;
    }
    advance(tx, begun, minter, key).await
}

/// The run of a draft that runs already, if these fields are in its input. Private values cannot be compared.
async fn repeated(tx: &mut WriteTx<'_>, session: Session, fields: &Fields) -> Result<Session> {
    let run = ToolRun::of_session(&session).ok_or(Error::NotFound("draft of a run"))?;
    let version = store::tool::version_of(tx.conn(), session.tenant_id, run.id, run.version).await?;
    let input: Value = session.input.as_deref().and_then(|input| serde_json::from_str(input).ok()).unwrap_or_default();
    let is_private = |field: &str| version.as_ref().is_some_and(|version| version.definition.has_private_part(field));
    let is_in =
        |(field, value): (&String, &Value)| is_private(field) || input.get(field).unwrap_or(&Value::Null) == value;
    if fields.iter().all(is_in) {
        return Ok(session);
    }
    Err(Error::IdConflict { detail: "this draft already runs with other fields".into() })
}

fn merge(input: &mut Value, changes: Fields) {
    let Value::Object(input) = input else { return };
    for (field, value) in changes {
        if value.is_null() {
            input.remove(&field);
        } else {
            input.insert(field, value);
        }
    }
}

/// Queues the session of a draft, or begins the steps of a composite tool, as a run that was never a draft begins.
async fn write(
    tx: &mut WriteTx<'_>,
    scope: &Scope,
    before: Session,
    version: &ToolVersionRecord,
    run: ToolRun,
    input: Value,
    (mut events, minter): (Vec<PreparedEvent>, &mut Minter),
) -> Result<Session> {
    let now = minter.at();
    let mut session = Session {
        agent_slug: Some(agent_of(version.definition.kind(), &run.slug)),
        title: version.definition.name.clone(),
        input: Some(input.to_string()),
        metadata: run.to_metadata(),
        state: State::Pending { deadline_at: None },
        queued_at: Some(now),
        updated_at: now,
        ..before.clone()
    };
    ToolRun::bound(&mut session);
    let why = if session.status() == Status::Running { "its steps begin" } else { "dispatched" };
    events.push(minter.status_reached_with_title(before.status(), &session, why)?);
    store::session::begin_run(tx, &session).await?;
    store::session::save(tx, &before, &mut session, &events, None, &scope.caller.to_string(), now).await?;
    Ok(session)
}
