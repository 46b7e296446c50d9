//! Runs of tools.

use domain::{
    id::SessionId,
    session::Session,
    tool::{RunState, run::ToolRun},
};
use ledger::{
    Listed, SavedInputRecord, ToolDraftRecord, ToolRunOutputRecord,
    tool_run::{
        self as use_case,
        draft::{BeginRun, ChangeFields, OpenDraft, ToolDraft},
    },
};
use std::collections::HashMap;
use wire::tool_run;

/// Converts the body of a request that runs a tool.
pub fn run_tool(body: tool_run::RunTool) -> use_case::RunTool {
    use_case::RunTool {
        input: body.input.map(|input| input.get().to_owned()),
        parent_id: body.parent_id,
        idempotency_key: body.idempotency_key,
        output: body.output.map(promote_run),
    }
}

/// Converts what becomes of the result of a run.
pub fn promote_run(body: tool_run::PromoteToolSession) -> use_case::PromoteRun {
    let tool_run::PromoteToolSession { action_id, entity_id, fields } = body;
    use_case::PromoteRun { action_id, entity_id, fields }
}

/// Converts what becomes of the result of a run that was asked for with the run.
pub fn tool_run_output(record: ToolRunOutputRecord) -> tool_run::ToolRunOutput {
    tool_run::ToolRunOutput {
        action_id: record.action_id,
        entity_id: record.entity_id,
        session_id: record.written_session_id,
        refused: record.refused,
    }
}

/// Converts the body of a request that opens a draft.
pub fn open_tool_draft(body: tool_run::OpenToolDraft) -> OpenDraft {
    OpenDraft { fields: body.fields, idempotency_key: body.idempotency_key }
}

/// Converts the body of a request that changes fields of a draft.
pub fn change_tool_fields(body: tool_run::ChangeToolFields) -> ChangeFields {
    ChangeFields { rev: body.rev, fields: body.fields, is_whole: false, is_leaving: body.leaving }
}

/// Converts the body of a request that runs a draft.
pub fn run_tool_draft(body: tool_run::RunToolDraft) -> BeginRun {
    BeginRun { rev: body.rev, fields: body.fields, output: body.output.map(promote_run) }
}

/// Converts a saved input.
pub fn saved_tool_input(record: SavedInputRecord) -> tool_run::SavedToolInput {
    // Only JSON objects are stored.
    let fields = serde_json::from_str(&record.fields).unwrap_or_default();
    tool_run::SavedToolInput { name: record.name, fields, saved_at: record.saved_at }
}

/// Converts the session of a run.
pub fn tool_run(record: Session) -> tool_run::ToolRun {
    let run = ToolRun::of_metadata(&record.metadata);
    let (slug, version, revision) = run.map(|run| (run.slug, run.version, run.revision)).unwrap_or_default();
    let session = super::session(record);
    tool_run::ToolRun {
        session_id: session.id,
        slug,
        version,
        revision,
        status: session.status,
        end_reason: session.end_reason,
        result: session.result,
        error: session.error,
        duration_ms: session.duration_ms,
    }
}

/// Converts a page of sessions of tools with their drafts.
pub fn tool_sessions(listed: Listed<Session>, drafts: Vec<ToolDraftRecord>) -> wire::Page<tool_run::ToolSession> {
    let drafts: HashMap<SessionId, ToolDraftRecord> =
        drafts.into_iter().map(|draft| (draft.session_id, draft)).collect();
    super::page(listed, |session: Session| {
        let draft = drafts.get(&session.id).cloned();
        tool_session(ToolDraft { session, draft })
    })
}

fn tool_draft(record: ToolDraftRecord) -> tool_run::ToolDraft {
    tool_run::ToolDraft { rev: record.rev, fields: record.content.fields, saved_at: record.saved_at }
}

/// Converts the session of a tool to the form that has three statuses.
pub fn tool_session(ToolDraft { session: record, draft }: ToolDraft) -> tool_run::ToolSession {
    let run = ToolRun::of_session(&record);
    let session = super::session(record);
    tool_run::ToolSession {
        id: session.id,
        tool_id: run.as_ref().map(|run| run.id),
        tool_slug: run.as_ref().map(|run| run.slug.clone()),
        version: run.as_ref().map(|run| run.version),
        revision: run.and_then(|run| run.revision),
        name: session.title,
        status: RunState::of(session.status),
        session_status: session.status,
        parent_id: session.parent_id,
        draft: draft.map(tool_draft),
        input: session.input,
        result: session.result,
        result_left_out: session.result_left_out,
        error: session.error,
        output: None,
        created_by: session.created_by,
        created_at: session.created_at,
        started_at: session.started_at,
        completed_at: session.completed_at,
        duration_ms: session.duration_ms,
    }
}
