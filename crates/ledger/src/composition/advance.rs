//! Advances a run of a composite tool: records how steps ended, starts what can start, and ends the run.

use super::{
    child,
    run::{Begins, Run, unavailable},
};
use crate::{
    Error, Result,
    commit::{Change, Minter, append_server_events, state, write},
    instance_key::InstanceKey,
    output::{CODE, refusal, sentence},
    tool::{output_schema, schema_errors},
};
use domain::{
    Caller,
    event::kind::{Completed, Failure, SessionError},
    issue::Issue,
    limit::{REASON_CHARS_MAX, TOOL_RESULT_BYTES_MAX},
    session::{Actor, Command, Report, Session, Status, decide},
    tool::{
        composition::{Next, next},
        run::{STEP_FAILED, is_composite},
    },
};
use store::WriteTx;

/// Advances a run, which the transaction has locked or created, and the composite steps that it starts. A run that has
/// ended, and a session that is no such run, stay as they are. A repeat changes nothing.
///
/// # Errors
/// [`Error::Internal`] if its version is not there.
pub(crate) async fn advance(
    tx: &mut WriteTx<'_>,
    run: Session,
    mut minter: Minter,
    key: Option<&InstanceKey>,
) -> Result<Session> {
    let (run, mut open) = advance_one(tx, run, &mut minter, key).await?;
    while let Some(child) = open.pop() {
        let (_, further) = advance_one(tx, child, &mut minter, key).await?;
        open.extend(further);
    }
    Ok(run)
}

/// Advances one run. Also returns the composite steps that it started.
async fn advance_one(
    tx: &mut WriteTx<'_>,
    session: Session,
    minter: &mut Minter,
    key: Option<&InstanceKey>,
) -> Result<(Session, Vec<Session>)> {
    if session.status() != Status::Running || !is_composite(&session) {
        return Ok((session, Vec::new()));
    }
    let mut run = Run::read(tx.conn(), session).await?;
    if let Err(error) = run.take_input(tx.conn(), key).await {
        let Some((code, message)) = unavailable(&error) else { return Err(error) };
        let failure = Failure::Other { code: Some(code.to_owned()) };
        return Ok((fail(tx, run, minter, (code, message), failure).await?, Vec::new()));
    }
    run.follow(tx, minter).await?;
    let mut started = Vec::new();
    loop {
        match next(&run.composite, &run.tried(), minter.at()) {
            Next::Complete => return Ok((complete(tx, run, minter).await?, started)),
            Next::Fail(index) => return Ok((fail_by_step(tx, run, index, minter).await?, Vec::new())),
            Next::Go { start, wait } if start.is_empty() && wait.is_empty() => break,
            Next::Go { start, wait } => {
                for (index, attempt, until) in wait {
                    run.wait(tx, (index, attempt), until).await?;
                }
                for tried in start {
                    started.extend(begin(tx, &mut run, tried, minter, key).await?);
                }
            }
        }
    }
    if run.events.is_empty() {
        return Ok((run.session, started));
    }
    let session = append_server_events(tx, run.session, run.events, Caller::System, minter.at()).await?;
    Ok((session, started))
}

/// Begins a step. Returns its session if that has steps itself.
async fn begin(
    tx: &mut WriteTx<'_>,
    run: &mut Run,
    tried: (usize, u32),
    minter: &mut Minter,
    key: Option<&InstanceKey>,
) -> Result<Option<Session>> {
    let (version, input) = match run.begins(tx.conn(), tried.0).await? {
        Begins::With(version, input) => (version, input),
        Begins::Not(code, message) => {
            run.refuse(tx, tried, (code, message), minter).await?;
            return Ok(None);
        }
    };
    let slug = run.composite.steps[tried.0].tool.clone();
    match child::insert(tx, &run.session, (&slug, &version), input, (minter, key)).await {
        Ok(child) => {
            run.begun(tx, tried, &child, minter).await?;
            Ok(Some(child).filter(is_composite))
        }
        Err(error) => {
            let Some((code, message)) = unavailable(&error) else { return Err(error) };
            run.refuse(tx, tried, (code, message), minter).await?;
            Ok(None)
        }
    }
}

fn change(run: &Run, command: Command, reason: String, minter: &Minter) -> Change {
    Change { id: run.session.id, actor: Actor::Server, command, caller: Caller::System, reason, minter: minter.clone() }
}

/// Completes a run with its result, or fails it if that violates the output schema.
async fn complete(tx: &mut WriteTx<'_>, mut run: Run, minter: &mut Minter) -> Result<Session> {
    let result = run.result().to_string();
    let mut errors = child::document_errors("result", &result, TOOL_RESULT_BYTES_MAX);
    if errors.is_empty() {
        // The result is made of what the transaction has read, so it cannot be checked before.
        let schema = output_schema(tx.conn(), &run.session).await?;
        errors = schema.map(|schema| schema_errors(&schema, Some(&result))).unwrap_or_default();
    }
    if !errors.is_empty() {
        return fail_result(tx, run, minter, (&result, &errors)).await;
    }
    run.events.push(minter.event(&Completed { has_result: true, ..Completed::default() }));
    let change = change(&run, Command::Finish, "all of its steps have ended".into(), minter);
    let transition = decide(state(&run.session), change.actor, change.command)?;
    write(tx, run.session, transition, change, run.events, Report { result: Some(result), ..Report::default() }).await
}

async fn fail_result(
    tx: &mut WriteTx<'_>,
    run: Run,
    minter: &mut Minter,
    (result, errors): (&str, &[Issue]),
) -> Result<Session> {
    let failure = Failure::Refused(refusal(run.session.attempt, Some(result), errors));
    fail(tx, run, minter, (CODE, sentence(errors)), failure).await
}

/// Fails a run because of the step at this index.
async fn fail_by_step(tx: &mut WriteTx<'_>, run: Run, index: usize, minter: &mut Minter) -> Result<Session> {
    let lost = || Error::Internal(format!("session {} does not fail at the end of its step {index}", run.session.id));
    let failed = run.failed.get(&index).cloned().ok_or_else(lost)?;
    let message = format!("its step {} failed: {}", run.composite.steps[index].name, failed.message);
    let code = STEP_FAILED.to_owned();
    let failure = match failed.child {
        Some((session_id, status)) => Failure::Dependency { code, session_id, status },
        None => Failure::Other { code: Some(code) },
    };
    fail(tx, run, minter, (STEP_FAILED, message), failure).await
}

/// Fails a run. Its open steps are cancelled when its end is followed.
async fn fail(
    tx: &mut WriteTx<'_>,
    mut run: Run,
    minter: &mut Minter,
    (code, message): (&str, String),
    failure: Failure,
) -> Result<Session> {
    let message: String = message.chars().take(REASON_CHARS_MAX).collect();
    run.events.push(minter.event(&SessionError::new(&message, failure)));
    let change = change(&run, Command::FailRun, message.clone(), minter);
    let transition = decide(state(&run.session), change.actor, change.command)?;
    write(tx, run.session, transition, change, run.events, Report::error(message, code)).await
}
