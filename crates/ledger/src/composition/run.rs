//! A run as it is read under its lock: its steps, what they returned, and how they failed.

use super::child::input_error;
use crate::{
    Error, Result, ToolVersionRecord,
    commit::Minter,
    instance_key::InstanceKey,
    tool::{definition_of_run, version_of_step, whole_input},
};
use domain::{
    Timestamp,
    event::kind::{CompositionStep, StepCompleted, StepStarted},
    id::SessionId,
    session::{EndReason, Session, Status},
    tool::{
        Composite, Step,
        composition::{Results, StepState, Tried, result_of, step_input},
        run::{DENIED, INPUT_INVALID, STEP_FAILED, UNAVAILABLE},
    },
};
use serde_json::Value;
use std::collections::HashMap;
use store::{Conn, PreparedEvent, WriteTx, tool_step::StepRecord};

/// A failed step, for the failure of its run.
#[derive(Debug, Clone)]
pub(super) struct FailedStep {
    /// Why it failed, for people.
    pub message: String,
    /// Its session, and how that ended; `None` for a step without a session.
    pub child: Option<(SessionId, Status)>,
}

/// What happens to a step.
pub(super) enum Begins {
    /// It runs this version with this input.
    With(Box<ToolVersionRecord>, Value),
    /// It fails with this code and message.
    Not(&'static str, String),
}

/// A run of a composite tool, read under its lock.
pub(super) struct Run {
    /// The session of the run.
    pub session: Session,
    /// Its steps.
    pub composite: Composite,
    /// Events to append to its log.
    pub events: Vec<PreparedEvent>,
    /// How steps failed.
    pub failed: HashMap<usize, FailedStep>,
    last: Vec<Option<StepRecord>>,
    results: Results,
}

impl Run {
    /// Reads a run, and how far the sessions of its steps are.
    pub async fn read(conn: &mut Conn<'_>, session: Session) -> Result<Self> {
        let wrong = || Error::Internal(format!("session {} names no composite tool", session.id));
        let named = definition_of_run(conn, &session).await?;
        let composite = named.and_then(|(_, definition)| definition.composite().cloned()).ok_or_else(wrong)?;
        let mut last: Vec<Option<StepRecord>> = vec![None; composite.steps.len()];
        for step in store::tool_step::list(conn, session.tenant_id, session.id).await? {
            let place = last.get_mut(step.position as usize);
            *place.ok_or_else(wrong)? = Some(step);
        }
        let results = Results::of(Value::Null);
        Ok(Self { session, composite, events: Vec::new(), failed: HashMap::new(), last, results })
    }

    /// Takes the input of the run, private values included.
    ///
    /// # Errors
    /// [`Error::NoInstanceKey`] and [`Error::NotNow`] if private values cannot be decrypted.
    pub async fn take_input(&mut self, conn: &mut Conn<'_>, key: Option<&InstanceKey>) -> Result<()> {
        self.results = Results::of(whole_input(conn, &self.session, key).await?);
        Ok(())
    }

    /// The last try of each step.
    pub fn tried(&self) -> Vec<Option<Tried>> {
        let tried = |step: &StepRecord| Tried { attempt: step.attempt, state: step.state, not_before: step.not_before };
        self.last.iter().map(|step| step.as_ref().map(tried)).collect()
    }

    /// Takes the results of steps, and records how those ended whose session has.
    pub async fn follow(&mut self, tx: &mut WriteTx<'_>, minter: &mut Minter) -> Result<()> {
        let is_run = |step: &&StepRecord| matches!(step.state, StepState::Started | StepState::Completed);
        let ids: Vec<SessionId> = self.last.iter().flatten().filter(is_run).filter_map(|step| step.child_id).collect();
        let found = store::session::find_many(tx.conn(), self.session.tenant_id, &ids).await?;
        let children: HashMap<SessionId, Session> = found.into_iter().map(|child| (child.id, child)).collect();
        for index in 0..self.last.len() {
            let Some(tried) = self.last[index].clone() else { continue };
            let Some(child) = tried.child_id.and_then(|id| children.get(&id)) else { continue };
            if tried.state == StepState::Started && child.status().is_final() {
                self.ended(tx, index, (&tried, child), minter).await?;
            }
            if child.status() == Status::Completed {
                let result = child.result().and_then(|result| serde_json::from_str(result).ok());
                self.results.add(&self.composite.steps[index].name, result.unwrap_or_default());
            }
        }
        Ok(())
    }

    /// Records the end of a step's session.
    async fn ended(
        &mut self,
        tx: &mut WriteTx<'_>,
        index: usize,
        (tried, child): (&StepRecord, &Session),
        minter: &mut Minter,
    ) -> Result<()> {
        let state = state_of(child);
        let why = child.error_message().map_or_else(|| how_it_ended(child), str::to_owned);
        let code = (state != StepState::Completed).then(|| child.error_code().unwrap_or(STEP_FAILED).to_owned());
        let failed = FailedStep { message: why, child: Some((child.id, child.status())) };
        let record = StepRecord { state, error_code: code, ..tried.clone() };
        self.finish(tx, index, record, failed, minter).await
    }

    /// Records that a step failed before a session was started.
    pub async fn refuse(
        &mut self,
        tx: &mut WriteTx<'_>,
        (index, attempt): (usize, u32),
        (code, message): (&str, String),
        minter: &mut Minter,
    ) -> Result<()> {
        let record =
            StepRecord { state: StepState::Refused, error_code: Some(code.to_owned()), ..record(index, attempt) };
        self.finish(tx, index, record, FailedStep { message, child: None }, minter).await
    }

    async fn finish(
        &mut self,
        tx: &mut WriteTx<'_>,
        index: usize,
        record: StepRecord,
        failed: FailedStep,
        minter: &mut Minter,
    ) -> Result<()> {
        let step = &self.composite.steps[index];
        let text = record.error_code.as_ref().map(|_| format!("{}: {}", step.name, failed.message));
        let failure = record.error_code.clone();
        let about = CompositionStep { text, failure, ..about(step, &record) };
        self.events.push(minter.event(&StepCompleted(about)));
        if record.error_code.is_some() {
            self.failed.insert(index, failed);
        }
        self.put(tx, record).await
    }

    /// Records that a step has begun.
    pub async fn begun(
        &mut self,
        tx: &mut WriteTx<'_>,
        (index, attempt): (usize, u32),
        child: &Session,
        minter: &mut Minter,
    ) -> Result<()> {
        let record = StepRecord { child_id: Some(child.id), ..record(index, attempt) };
        let about = about(&self.composite.steps[index], &record);
        self.events.push(minter.event(&StepStarted(about)));
        self.put(tx, record).await
    }

    /// Records that a step is tried again after a pause.
    pub async fn wait(&mut self, tx: &mut WriteTx<'_>, (index, attempt): (usize, u32), until: Timestamp) -> Result<()> {
        let record = StepRecord { state: StepState::Waiting, not_before: Some(until), ..record(index, attempt) };
        self.put(tx, record).await
    }

    async fn put(&mut self, tx: &mut WriteTx<'_>, record: StepRecord) -> Result<()> {
        store::tool_step::save(tx, self.session.tenant_id, self.session.id, &record).await?;
        if let Some(place) = self.last.get_mut(record.position as usize) {
            *place = Some(record);
        }
        Ok(())
    }

    /// The version and the input of a step.
    pub async fn begins(&self, conn: &mut Conn<'_>, index: usize) -> Result<Begins> {
        let step = &self.composite.steps[index];
        let version = version_of_step(conn, self.session.tenant_id, step).await?;
        let input = step_input(step, &version.definition.input_schema, &self.results);
        Ok(match input_error(&version.definition, &input) {
            None => Begins::With(Box::new(version), input),
            Some(message) => Begins::Not(INPUT_INVALID, message),
        })
    }

    /// The result of a run whose steps have ended.
    pub fn result(&self) -> Value {
        result_of(&self.composite, &self.results)
    }
}

/// Code and message of a step whose private values cannot be encrypted or decrypted. `None` for other errors.
pub(super) fn unavailable(error: &Error) -> Option<(&'static str, String)> {
    let is_about_key = matches!(error, Error::NoInstanceKey | Error::NotNow(_));
    is_about_key.then(|| (UNAVAILABLE, error.to_string()))
}

fn record(index: usize, attempt: u32) -> StepRecord {
    StepRecord {
        position: u32::try_from(index).unwrap_or(u32::MAX),
        attempt,
        state: StepState::Started,
        child_id: None,
        not_before: None,
        error_code: None,
    }
}

fn about(step: &Step, record: &StepRecord) -> CompositionStep {
    CompositionStep {
        step: Some(step.name.clone()),
        session_id: record.child_id.map(|id| id.to_string()),
        tool: Some(step.tool.clone()),
        attempt: (record.attempt > 1).then_some(u64::from(record.attempt)),
        ..CompositionStep::default()
    }
}

/// How far a step is whose session has ended. What a person stopped is not tried again, nor what the tool refuses.
fn state_of(child: &Session) -> StepState {
    let is_refused = matches!(child.error_code(), Some(DENIED | INPUT_INVALID));
    match child.status() {
        Status::Completed => StepState::Completed,
        _ if is_refused || child.end_reason() == Some(EndReason::Cancelled) => StepState::Refused,
        _ => StepState::Failed,
    }
}

fn how_it_ended(child: &Session) -> String {
    child
        .end_reason()
        .map_or_else(|| child.status().to_string(), |reason| format!("it ended {}: {reason}", child.status()))
}
