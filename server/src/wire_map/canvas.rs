//! Converts canvases.

use super::json;
use domain::{
    Timestamp,
    canvas::{Committed, Overwritten, Rejected},
};
use ledger::{
    ListedCanvas, ParticipantRecord, SuggestionRecord,
    canvas::{self, At, NewCanvas, Outcome, Patches, SentPatch},
};
use wire::{
    FieldProblem,
    canvas::{
        Canvas, CanvasChange, CanvasParticipant, CanvasPatch, CanvasPatches, CanvasRejection, CanvasState,
        CanvasSuggestion, CanvasSummary, CreateCanvas, PatchAnswer, SendPatch,
    },
};

/// Converts a canvas to create.
pub fn new_canvas(body: CreateCanvas) -> NewCanvas {
    let CreateCanvas { title, document, from_canvas, from_entity, from_session, schema } = body;
    NewCanvas { title, document, from_canvas, from_entity, from_session, schema }
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
pub fn canvas_suggestion(record: SuggestionRecord) -> CanvasSuggestion {
    let SuggestionRecord { op_id, base, ops, author, at, .. } = record;
    CanvasSuggestion { op_id, base, ops: json(ops), by: author, at }
}
