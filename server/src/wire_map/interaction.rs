//! Converts interactions.

use datalake::{FeedbackRecord, InteractionRecord, Role};
use ledger::interaction::{CapturedData, InteractionRow};
use serde::de::Error;
use wire::interaction as wired;

/// Converts an interaction with its feedback and outcome.
///
/// # Errors
/// If the stored line cannot be read.
pub fn interaction(row: &InteractionRow) -> Result<wired::Interaction, serde_json::Error> {
    let record: InteractionRecord = serde_json::from_str(&row.record)?;
    let feedback: Option<FeedbackRecord> = row.feedback.as_deref().map(serde_json::from_str).transpose()?;
    let message = |message: datalake::Message| wired::PromptMessage { role: message.role, content: message.content };
    // Only messages; tool calls and their results are in the session's log.
    let said = |message: &datalake::Message| message.role != Role::Tool && !message.content.is_empty();
    Ok(wired::Interaction {
        id: row.id,
        session_id: row.session_id,
        action_id: record.action_id.map(|id| id.parse()).transpose().map_err(serde_json::Error::custom)?,
        agent_slug: record.agent,
        recorded_at: row.recorded_at,
        prompt: record.prompt.into_iter().filter(said).map(message).collect(),
        response: record.response,
        feedback: feedback.map(|given| wired::AnswerFeedback {
            feedback: given.feedback,
            source: given.source,
            was_edited: given.was_edited,
            edited: given.edited,
            recorded_at: given.timestamp,
        }),
        outcome: row.outcome,
    })
}

/// Converts what was deleted of a session. `files_rewritten` says whether the server's files have lost the lines too.
pub fn forgotten_interactions(found: CapturedData, files_rewritten: bool) -> wired::ForgottenInteractions {
    wired::ForgottenInteractions {
        interactions: found.interactions,
        exports: found.exports.iter().filter_map(|export| export.id).collect(),
        kept: found.exports.into_iter().map(|export| export.words).collect(),
        files_rewritten,
    }
}
