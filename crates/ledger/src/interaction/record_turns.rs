//! Stores captured lines.

use super::EndedTurn;
use crate::{Ledger, Result, relevance};
use domain::{
    Timestamp,
    id::InteractionId,
    interaction::{Feedback, Source},
    outcome::Outcome,
};
use store::{
    Access,
    interaction::{LineRecord, SessionLine, done, insert, insert_feedback, insert_outcome},
};

/// A line of a stream.
#[derive(Debug, Clone)]
pub struct Line {
    /// The interaction that the line holds or refers to.
    pub about: InteractionId,
    /// Time of the line (UTC).
    pub at: Timestamp,
    /// JSON without a newline.
    pub record: String,
}

/// The lines of one turn.
#[derive(Debug, Clone, Default)]
pub struct Lines {
    /// Prompts and answers.
    pub interactions: Vec<Line>,
    /// Feedback that follows from the turn: its value, its source and its line.
    pub feedback: Vec<(Feedback, Source, Line)>,
    /// Inferred outcomes.
    pub outcomes: Vec<(Outcome, Line)>,
}

/// Stores the lines of turns and removes the turns from the queue. Lines that are stored already do not change. A
/// turn that is no longer queued stores nothing: it was captured before, or its session was erased meanwhile.
pub async fn record_turns(ledger: &Ledger, turns: Vec<(&EndedTurn, Lines)>) -> Result<()> {
    let uses: Vec<_> = turns.iter().filter_map(|(due, _)| Some((due.row, due.memory_uses.clone()?))).collect();
    let turns: Vec<_> = turns.into_iter().map(|(due, lines)| (due.row, lines)).collect();
    let recorded = ledger.write(Access::System, async move |tx| {
        let queued = done(tx, &turns.iter().map(|(row, _)| *row).collect::<Vec<_>>()).await?;
        let turns: Vec<_> = turns.into_iter().filter(|(row, _)| queued.contains(row)).collect();
        let kept = turns.iter().flat_map(|(row, lines)| {
            lines.interactions.iter().map(|line| SessionLine {
                tenant_id: row.tenant_id,
                session_id: row.session_id,
                line: record(line.about.0, line),
            })
        });
        insert(tx, &kept.collect::<Vec<_>>()).await?;
        for (row, seen) in uses.iter().filter(|(row, _)| queued.contains(row)) {
            relevance::save_on(tx, row.tenant_id, row.session_id, seen).await?;
        }
        for (row, lines) in &turns {
            for (feedback, source, line) in &lines.feedback {
                let record = record(line_id(line), line);
                insert_feedback(tx, row.tenant_id, (row.session_id, line.about), (*feedback, *source), &record).await?;
            }
            for (outcome, line) in &lines.outcomes {
                let about = (row.session_id, line.about);
                insert_outcome(tx, row.tenant_id, about, *outcome, &record(line_id(line), line)).await?;
            }
        }
        Ok(())
    });
    recorded.await
}

pub(super) fn record(id: uuid::Uuid, line: &Line) -> LineRecord {
    LineRecord { id, recorded_at: line.at, record: line.record.clone() }
}

/// Returns the id of a line. Equal lines have equal ids.
pub(super) fn line_id(line: &Line) -> uuid::Uuid {
    super::derived_id(line.at, &[b"about", line.about.0.as_bytes(), line.record.as_bytes()])
}
