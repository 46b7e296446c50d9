//! Captures the turns of agents from the log as training data, in the database and optionally in files.

use chrono::{NaiveDate, TimeDelta};
use datalake::{Collector, Fate, FeedbackRecord, InteractionRecord, Layout, OutcomeRecord, SessionKey, erase};
use domain::{
    Entropy, Scope, Timestamp,
    id::{InteractionId, SessionId, TenantId},
    interaction::{Feedback, Source},
    limit::EDITED_CHARS_MAX,
    outcome::Outcome,
};
use ledger::{
    Ledger,
    interaction::{
        self, EndedTurn, Line, Lines, Mark, MarkDue, PreviousOutcome, Turn, claim_ended_turns, record_turns,
    },
};
use serde::Serialize;
use std::{
    collections::HashSet,
    io,
    path::Path,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep};
use tokio_util::sync::CancellationToken;

/// Random bytes in the name of a writer's files.
const WRITER_BYTES: usize = 4;
/// Interval between searches for turns to capture.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// Turns of a batch: one write per file and one transaction.
const BATCH: u32 = 64;
/// Pause after a batch as a multiple of its duration, if other writes happened meanwhile. Capture then uses a fifth of
/// the time and may fall behind.
const PAUSE_TIMES: u32 = 4;
/// Longest pause after a batch.
const PAUSE_MAX: Duration = Duration::from_secs(1);
/// Delay of a turn beyond which capture does not pause.
const LATE: TimeDelta = TimeDelta::seconds(60);
/// Writes of capture itself per batch, as the store counts them: the lease and the lines.
const OWN_WRITES: u64 = 2;
/// Lease on the turns of a batch, and delay before a failed batch is repeated.
const LEASE: TimeDelta = TimeDelta::seconds(60);

/// The files of captured turns, if this server writes any, and counts of what was captured.
#[derive(Default)]
pub struct TurnCapture {
    files: Option<Mutex<Collector>>,
    captured: AtomicU64,
    failures: AtomicU64,
}

impl TurnCapture {
    /// Writes files in addition to the database.
    pub fn with_files(collector: Collector) -> TurnCapture {
        TurnCapture { files: Some(Mutex::new(collector)), ..TurnCapture::default() }
    }

    /// Writes files below a data directory, with a random name of this writer.
    pub fn below(data_dir: &Path, entropy: &dyn Entropy) -> TurnCapture {
        let mut random = [0; WRITER_BYTES];
        entropy.fill(&mut random);
        let writer = format!("{:08x}", u32::from_be_bytes(random));
        TurnCapture::with_files(Collector::new(Layout::below(data_dir), &writer))
    }

    /// Prompts with answers captured since this server started.
    pub fn captured(&self) -> u64 {
        self.captured.load(Ordering::Relaxed)
    }

    /// Failed attempts to capture a turn or to write a mark to its file. Both are repeated from the database.
    pub fn failures(&self) -> u64 {
        self.failures.load(Ordering::Relaxed)
    }

    /// Appends a mark to its file, if files are written.
    fn mark(&self, mark: &FeedbackRecord) -> io::Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        files.lock().unwrap_or_else(PoisonError::into_inner).mark_feedback(mark)
    }

    /// Appends a mark from the database to its file. False if it has to be repeated.
    fn mark_again(&self, line: &MarkDue) -> bool {
        match serde_json::from_str(&line.record) {
            Ok(record) => self.mark(&record).is_ok(),
            Err(error) => {
                // It would be unreadable in a file as well.
                tracing::warn!(id = %line.id, %error, "a mark in the database cannot be read");
                true
            }
        }
    }

    /// Removes the lines of these sessions from the files, if files are written. Nothing is captured meanwhile.
    fn forget(&self, sessions: &HashSet<SessionKey>) -> io::Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        let files = files.lock().unwrap_or_else(PoisonError::into_inner);
        let fate = |key: &SessionKey| if sessions.contains(key) { Fate::Erased } else { Fate::Kept };
        let erased = erase(files.layout(), NaiveDate::MIN, fate)?;
        tracing::info!(lines = erased.lines, files = erased.files, "training data of forgotten sessions is removed");
        Ok(())
    }

    fn write(&self, captured: Vec<Captured>, now: Timestamp) -> io::Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        let mut files = files.lock().unwrap_or_else(PoisonError::into_inner);
        let mut all = Captured::default();
        for turn in captured {
            all.interactions.extend(turn.interactions);
            all.feedback.extend(turn.feedback);
            all.outcomes.extend(turn.outcomes);
        }
        files.write_through(&all.interactions, &all.feedback, &all.outcomes, now)
    }
}

/// Marks written to files at once.
const MARKS: u32 = 64;

/// The records of one turn.
#[derive(Debug, Clone, Default)]
struct Captured {
    interactions: Vec<InteractionRecord>,
    feedback: Vec<FeedbackRecord>,
    outcomes: Vec<OutcomeRecord>,
}

/// Captures turns until `stop`. Failures are repeated; no session waits for capture.
pub async fn run(ledger: Ledger, turn_capture: Arc<TurnCapture>, stop: CancellationToken) {
    let mut ticks = interval(CHECK_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = stop.cancelled() => return,
            _ = ticks.tick() => {}
        }
        if let Err(error) = write_marks(&ledger, &turn_capture).await {
            turn_capture.failures.fetch_add(1, Ordering::Relaxed);
            tracing::warn!(%error, "cannot look for marks that are not in their files; it is tried again");
        }
        // A stop waits for the current batch only.
        while !stop.is_cancelled() {
            let (started, writes) = (Instant::now(), ledger.stats().items_committed);
            match batch(&ledger, &turn_capture).await {
                Ok(Some(batch)) if batch.captured > 0 => {
                    let writes = ledger.stats().items_committed.saturating_sub(writes);
                    let late = batch.oldest.map_or(TimeDelta::zero(), |ended_at| ledger.now() - ended_at);
                    tokio::select! {
                        biased;
                        () = stop.cancelled() => return,
                        () = sleep(pause(started.elapsed(), writes, late)) => {}
                    }
                }
                Ok(_) => break,
                Err(error) => {
                    turn_capture.failures.fetch_add(1, Ordering::Relaxed);
                    tracing::warn!(%error, "cannot look for turns to capture; it is tried again");
                    break;
                }
            }
        }
    }
}

/// Captures everything that is due now and returns the number of turns. It ends at the first batch that fails; the
/// turns of that batch are due again when their lease expires.
///
/// # Errors
/// Those of the database while it looks for turns. A batch that cannot be captured is logged and counted.
pub async fn drain(ledger: &Ledger, turn_capture: &Arc<TurnCapture>) -> ledger::Result<usize> {
    let mut all = 0;
    while let Some(batch) = batch(ledger, turn_capture).await?.filter(|batch| batch.captured > 0) {
        all += batch.captured;
    }
    Ok(all)
}

/// Pause after a batch. `took` is its duration, `writes` the number of writes during it, `late` the age of its oldest
/// turn. There is no pause if no one else wrote.
fn pause(took: Duration, writes: u64, late: TimeDelta) -> Duration {
    if writes <= OWN_WRITES || late > LATE { Duration::ZERO } else { (took * PAUSE_TIMES).min(PAUSE_MAX) }
}

/// The outcome of a batch.
struct Batch {
    /// Number of captured turns: all of the batch, or 0.
    captured: usize,
    /// End of the oldest turn.
    oldest: Option<Timestamp>,
}

/// Captures a batch. `None` if nothing is due.
async fn batch(ledger: &Ledger, turn_capture: &Arc<TurnCapture>) -> ledger::Result<Option<Batch>> {
    let mut taken = claim_ended_turns(ledger, LEASE, BATCH).await?;
    if taken.is_empty() {
        return Ok(None);
    }
    turn_capture.failures.fetch_add(taken.unreadable, Ordering::Relaxed);
    drop_repeats(&mut taken.due);
    let turns = taken.due.len();
    let oldest = taken.due.iter().map(EndedTurn::ended_at).min();
    match capture(ledger, turn_capture, &taken.due).await {
        Ok(()) => Ok(Some(Batch { captured: turns, oldest })),
        Err(error) => {
            turn_capture.failures.fetch_add(turns as u64, Ordering::Relaxed);
            tracing::warn!(turns, error, "turns were not captured; it is tried again, and their sessions go on");
            Ok(Some(Batch { captured: 0, oldest }))
        }
    }
}

/// Removes repeats. A conversation that ends soon after its last turn is due twice, with the same turn.
fn drop_repeats(due: &mut [EndedTurn]) {
    let (mut answers, mut judged) = (HashSet::new(), HashSet::new());
    for due in due {
        due.turns.retain(|turn| answers.insert(turn.id));
        due.judged = due.judged.take().filter(|about| judged.insert(about.id));
    }
}

/// Writes files before the database, so that everything that the database marks as captured is on the disk.
async fn capture(ledger: &Ledger, turn_capture: &Arc<TurnCapture>, due: &[EndedTurn]) -> Result<(), String> {
    let captured: Vec<Captured> = due.iter().map(read).collect();
    let lines = due.iter().zip(&captured).map(|(due, captured)| Ok((due, lines(due, captured)?)));
    let lines = lines.collect::<serde_json::Result<Vec<_>>>().map_err(|error| error.to_string())?;
    let answers: usize = captured.iter().map(|turn| turn.interactions.len()).sum();
    let (files, now) = (Arc::clone(turn_capture), ledger.now());
    let written = tokio::task::spawn_blocking(move || files.write(captured, now)).await;
    written.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    record_turns(ledger, lines).await.map_err(|error| error.to_string())?;
    turn_capture.captured.fetch_add(answers as u64, Ordering::Relaxed);
    Ok(())
}

/// Removes the lines of sessions whose training data is forgotten from the files of this server.
///
/// # Errors
/// If a file cannot be read or written. The next run of retention removes the lines.
pub(crate) async fn forget_files(
    turn_capture: &Arc<TurnCapture>,
    tenant_id: TenantId,
    sessions: &[SessionId],
) -> io::Result<()> {
    if sessions.is_empty() {
        return Ok(());
    }
    let keys = sessions.iter().map(|id| (tenant_id.to_string(), id.to_string())).collect();
    let files = Arc::clone(turn_capture);
    tokio::task::spawn_blocking(move || files.forget(&keys)).await.map_err(io::Error::other)?
}

/// Records a person's feedback on an answer, in the database and, if files are written, beside the answer's file.
/// `edited` is the text that was used instead of the answer.
///
/// # Errors
/// [`ledger::Error::Invalid`] for an `edited` text of more than [`EDITED_CHARS_MAX`] characters, and those of
/// [`interaction::mark`]. A file that cannot be written is logged and counted; [`write_marks`] repeats it.
pub async fn mark(
    ledger: &Ledger,
    turn_capture: &Arc<TurnCapture>,
    scope: &Scope,
    id: InteractionId,
    feedback: Feedback,
    (was_edited, edited): (bool, Option<String>),
) -> ledger::Result<Mark> {
    if edited.as_ref().is_some_and(|text| text.chars().count() > EDITED_CHARS_MAX) {
        return Err(ledger::Error::invalid("edited", format!("at most {EDITED_CHARS_MAX} characters")));
    }
    let tenant_id = scope.tenant_id;
    let record = move |timestamp: Timestamp| FeedbackRecord {
        record_id: id.to_string(),
        tenant_id: Some(tenant_id.to_string()),
        feedback,
        was_edited: was_edited || edited.is_some(),
        edited: edited.clone(),
        timestamp,
        source: Source::Manual,
        confidence: None,
    };
    let line = |at| serde_json::to_string(&record(at)).map_err(|error| ledger::Error::Internal(error.to_string()));
    let file_within = turn_capture.files.is_some().then_some(LEASE);
    let mark = interaction::mark(ledger, scope, id, feedback, line, file_within).await?;
    if file_within.is_none() {
        return Ok(mark);
    }
    let (files, record) = (Arc::clone(turn_capture), record(mark.at));
    match tokio::task::spawn_blocking(move || files.mark(&record)).await {
        Ok(Ok(())) => {
            if let Err(error) = interaction::mark_written(ledger, vec![(tenant_id, mark.line_id)]).await {
                // The mark is written again later, which changes nothing.
                tracing::warn!(%error, "a mark is in its file, and the database could not be told");
            }
        }
        // The reason is logged where it happened.
        Ok(Err(_)) | Err(_) => drop(turn_capture.failures.fetch_add(1, Ordering::Relaxed)),
    }
    Ok(mark)
}

/// Writes marks that are in the database but not in their files, because the disk was full or the server died. Returns
/// their number. A mark that cannot be written is repeated after a minute.
///
/// # Errors
/// Those of the database. A file that cannot be written is logged and counted.
pub async fn write_marks(ledger: &Ledger, turn_capture: &Arc<TurnCapture>) -> ledger::Result<usize> {
    if turn_capture.files.is_none() {
        return Ok(0);
    }
    let mut all = 0;
    loop {
        let due = interaction::list_unwritten(ledger, MARKS).await?;
        if due.is_empty() {
            return Ok(all);
        }
        let (files, lines) = (Arc::clone(turn_capture), due.clone());
        let written =
            tokio::task::spawn_blocking(move || lines.iter().take_while(|line| files.mark_again(line)).count());
        let written = written.await.unwrap_or_default();
        let filed: Vec<_> = due.iter().take(written).map(|line| (line.tenant_id, line.id)).collect();
        if !filed.is_empty() {
            interaction::mark_written(ledger, filed).await?;
        }
        all += written;
        if written < due.len() {
            turn_capture.failures.fetch_add(1, Ordering::Relaxed);
            interaction::postpone_unwritten(ledger, LEASE).await?;
            return Ok(all);
        }
    }
}

fn read(due: &EndedTurn) -> Captured {
    let mut captured = Captured::default();
    let is_proposal = due.session.source.as_deref() == Some(domain::memory_writer::SOURCE);
    for turn in &due.turns {
        captured.interactions.push(record(due, turn));
        captured.feedback.extend(turn.judgement.as_ref().map(|judgement| FeedbackRecord {
            record_id: turn.id.to_string(),
            tenant_id: Some(due.session.tenant_id.to_string()),
            feedback: if judgement.approved { Feedback::Positive } else { Feedback::Negative },
            was_edited: judgement.edited.is_some(),
            edited: judgement.edited.clone(),
            timestamp: judgement.at,
            source: if is_proposal { Source::MemoryWriter } else { Source::Reviewer },
            confidence: None,
        }));
    }
    let Some(judged) = &due.judged else { return captured };
    captured.feedback.extend(inferred(judged).map(|feedback| FeedbackRecord {
        record_id: judged.id.to_string(),
        tenant_id: Some(due.session.tenant_id.to_string()),
        feedback,
        was_edited: false,
        edited: None,
        timestamp: judged.at,
        source: Source::OutcomeTracker,
        confidence: Some(judged.inferred.confidence),
    }));
    captured.outcomes.push(OutcomeRecord {
        record_id: judged.id.to_string(),
        session_id: due.session.id.to_string(),
        timestamp: judged.at,
        inferred: judged.inferred.clone(),
    });
    captured
}

/// The feedback that an outcome implies. `None` without a signal, or if a person has given feedback.
fn inferred(judged: &PreviousOutcome) -> Option<Feedback> {
    if judged.is_judged {
        return None;
    }
    match judged.inferred.outcome {
        Outcome::Accepted => Some(Feedback::Positive),
        Outcome::Rejected => Some(Feedback::Negative),
        Outcome::Neutral => None,
    }
}

fn record(due: &EndedTurn, turn: &Turn) -> InteractionRecord {
    let session = &due.session;
    InteractionRecord {
        id: turn.id.to_string(),
        timestamp: turn.at,
        tenant_id: session.tenant_id.to_string(),
        session_id: session.id.to_string(),
        action_id: session.action_id.map(|id| id.to_string()),
        agent: session.agent_slug.clone(),
        user_id: session.user_id.map(|id| id.to_string()),
        prompt: turn.prompt.clone(),
        tools: turn.tools.clone(),
        response: turn.answer.clone(),
        tool_call_id: turn.tool_call_id.clone(),
        user_feedback: None,
        was_edited: false,
        edited: None,
        feedback_source: None,
        feedback_at: None,
        feedback_confidence: None,
    }
}

/// The lines of the files, for the database.
fn lines(due: &EndedTurn, captured: &Captured) -> serde_json::Result<Lines> {
    let mut lines = Lines::default();
    for (turn, record) in due.turns.iter().zip(&captured.interactions) {
        lines.interactions.push(line(turn.id, turn.at, record)?);
    }
    let turns = due.turns.iter().map(|turn| turn.id);
    let known: Vec<InteractionId> = turns.chain(due.judged.iter().map(|judged| judged.id)).collect();
    for mark in &captured.feedback {
        for about in known.iter().filter(|id| id.to_string() == mark.record_id) {
            lines.feedback.push((mark.feedback, mark.source, line(*about, mark.timestamp, mark)?));
        }
    }
    for (judged, outcome) in due.judged.iter().zip(&captured.outcomes) {
        lines.outcomes.push((outcome.inferred.outcome, line(judged.id, outcome.timestamp, outcome)?));
    }
    Ok(lines)
}

fn line(about: InteractionId, at: Timestamp, record: &impl Serialize) -> serde_json::Result<Line> {
    Ok(Line { about, at, record: serde_json::to_string(record)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capture_leaves_most_of_the_time_to_those_who_write_until_it_is_late() {
        let took = Duration::from_millis(20);
        let soon = TimeDelta::seconds(3);
        assert_eq!(pause(took, OWN_WRITES, soon), Duration::ZERO, "nobody else writes");
        assert_eq!(pause(took, OWN_WRITES + 1, soon), Duration::from_millis(80));
        assert_eq!(pause(Duration::from_secs(9), 500, soon), PAUSE_MAX);
        assert_eq!(pause(took, 500, LATE + TimeDelta::seconds(1)), Duration::ZERO, "it is late");
    }
}
