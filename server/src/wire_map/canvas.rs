//! Converts canvases.

use super::json;
use crate::problem::Problem;
use domain::{
    Timestamp,
    canvas::{Committed, Overwritten, Presence, Rejected, Selection},
    chain::Digest,
    limit::KEY_CHARS_MAX,
};
use ledger::{
    ListedCanvas, ParticipantRecord, SuggestionRecord,
    canvas::{
        self, At, Decision, NewCanvas, Outcome, Patches, Place, Present, SentPatch, ShownSuggestion, SuggestionDecision,
    },
};
use wire::{
    Code, FieldProblem,
    canvas::{
        Canvas, CanvasChange, CanvasParticipant, CanvasPatch, CanvasPatches, CanvasPresence, CanvasPresences,
        CanvasRejection, CanvasSelection, CanvasState, CanvasSummary, CreateCanvas, MarkPresence, PatchAnswer,
        SendPatch,
    },
    canvas_suggestion::{CanvasSuggestion, DecideSuggestion},
};

/// Converts a canvas to create.
pub fn new_canvas(body: CreateCanvas) -> NewCanvas {
    let CreateCanvas { title, document, from_canvas, from_entity, from_session, schema, idempotency_key } = body;
    NewCanvas { title, document, from_canvas, from_entity, from_session, schema, idempotency_key }
}

/// Converts a canvas to its JSON type.
pub fn canvas(canvas: canvas::Canvas) -> Canvas {
    let canvas::Canvas { session, record, role, write_back_id } = canvas;
    let status = session.status();
    Canvas {
        id: session.id,
        title: session.title,
        status,
        version: record.version,
        document: json(record.document),
        schema: record.document_schema.map(json),
        patches: record.patches,
        is_template: record.is_template == 1,
        role,
        write_back_id,
        created_by: session.created_by,
        created_at: session.created_at,
        changed_at: record.changed_at,
    }
}

/// Converts a canvas of a list.
pub fn canvas_summary(listed: ListedCanvas) -> CanvasSummary {
    CanvasSummary {
        id: listed.session_id,
        title: listed.title,
        status: listed.status,
        version: listed.version,
        patches: listed.patches,
        is_template: listed.is_template == 1,
        created_by: listed.created_by,
        created_at: listed.created_at,
        changed_at: listed.changed_at,
    }
}

/// Converts the document of a version.
pub fn canvas_state(at: At) -> CanvasState {
    CanvasState { version: at.version, document: at.document.value().clone() }
}

/// Converts a patch that is sent.
pub fn sent_patch(body: SendPatch) -> SentPatch {
    let SendPatch { op_id, base, ops, strict } = body;
    SentPatch { op_id, base, ops, is_strict: strict }
}

/// Converts the answer to a patch.
pub fn patch_answer(outcome: Outcome) -> PatchAnswer {
    match outcome {
        Outcome::Committed(committed) => {
            let head = Some(committed.sequence);
            PatchAnswer { committed: Some(canvas_patch(committed, None)), suggested: None, rejected: None, head }
        }
        Outcome::Suggested(state) => {
            PatchAnswer { committed: None, suggested: Some(state), rejected: None, head: None }
        }
        Outcome::Rejected { rejected, issues, head } => {
            let Rejected { reason, at, path, kept, because } = rejected;
            let errors = issues.into_iter().map(FieldProblem::from).collect();
            let (operation, because) = (at as u64, because.map(|because| canvas_change(*because)));
            let rejected = CanvasRejection { reason, operation, path, kept, because, errors };
            PatchAnswer { committed: None, suggested: None, rejected: Some(rejected), head: Some(head) }
        }
    }
}

fn canvas_patch(committed: Committed, at: Option<Timestamp>) -> CanvasPatch {
    let Committed { sequence, previous, op_id, by, ops, overwrote } = committed;
    let overwrote = overwrote.into_iter().map(canvas_change).collect();
    CanvasPatch { sequence, previous, op_id, by, ops, overwrote, at }
}

fn canvas_change(Overwritten { path, sequence, op_id, by }: Overwritten) -> CanvasChange {
    CanvasChange { path, sequence, op_id, by }
}

/// Converts patches.
pub fn canvas_patches(found: Patches) -> CanvasPatches {
    let patches = found.patches.into_iter().map(|(committed, at)| canvas_patch(committed, Some(at))).collect();
    CanvasPatches { patches, head: found.head, has_more: found.has_more }
}

/// Converts a participant.
pub fn canvas_participant(record: ParticipantRecord) -> CanvasParticipant {
    let ParticipantRecord { participant, role, added_by, added_at } = record;
    CanvasParticipant { participant, role, added_by, added_at }
}

/// Converts a suggestion.
pub fn canvas_suggestion(ShownSuggestion { record, digest }: ShownSuggestion) -> CanvasSuggestion {
    let SuggestionRecord { op_id, base, ops, author, at, state, decided_by, decided_at, reason, .. } = record;
    let digest = digest.map(|digest| digest.to_string());
    CanvasSuggestion { op_id, base, ops: json(ops), by: author, at, state, decided_by, decided_at, reason, digest }
}

/// Converts a decision about a suggestion.
///
/// # Errors
/// `422` for an id that no suggestion can have, and for a digest that is none.
pub fn suggestion_decision(body: DecideSuggestion) -> Result<SuggestionDecision, Problem> {
    let DecideSuggestion { op_id, accept, reason, digest } = body;
    if op_id.is_empty() || op_id.chars().count() > KEY_CHARS_MAX || op_id.chars().any(char::is_control) {
        let message = format!("1 to {KEY_CHARS_MAX} characters, no control characters");
        return Err(Problem::field(Code::InvalidRequest, "opId", message));
    }
    let decision = if accept { Decision::Accept } else { Decision::Decline };
    let no_digest = || Problem::field(Code::InvalidRequest, "digest", "64 hexadecimal digits");
    let shown = digest.map(|text| Digest::parse(&text).ok_or_else(no_digest)).transpose()?;
    Ok(SuggestionDecision { op_id, decision, reason, shown })
}

/// Converts where the caller is.
pub fn place(body: MarkPresence) -> Place {
    let MarkPresence { block, selection, leaves } = body;
    let selection = selection.map(|CanvasSelection { start, end }| Selection { start, end });
    Place { block, selection, leaves }
}

/// Converts where a participant is.
pub fn presence(presence: Presence) -> CanvasPresence {
    let Presence { by, name, block, selection, is_here } = presence;
    let selection = selection.map(|Selection { start, end }| CanvasSelection { start, end });
    CanvasPresence { by, name, block, selection, left: !is_here }
}

/// Converts who is on a canvas.
pub fn presences(present: Present) -> CanvasPresences {
    CanvasPresences { peers: present.peers.into_iter().map(presence).collect(), sent: present.is_sent }
}
