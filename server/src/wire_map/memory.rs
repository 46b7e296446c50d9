//! Converts memory documents, their versions and conflicts, and runs of memory writers.

use super::insight::dollars;
use domain::memory::{Evidence, ToolCommand};
use ledger::{
    CardRecord, MemoryDocumentRecord, MemoryVersionRecord, MemoryVersionText, memory,
    memory_writer::{FlushWait, Flushed, RunRecord},
};
use wire::{
    memory as wired,
    memory_revert::{RevertedMemory, RevertedMemorySession},
    memory_writer as to,
};

/// Converts both sides of a refused write.
pub fn memory_conflict(sides: memory::Conflict) -> wired::MemoryConflict {
    wired::MemoryConflict {
        path: sides.path,
        base_version: sides.given,
        base: sides.base,
        current: sides.current.map(|side| wired::MemorySide {
            version: side.version,
            sha256: side.digest.to_string(),
            text: side.text,
            is_deleted: side.is_deleted,
            source: side.source,
            author: side.author,
            at: side.at,
        }),
        wanted: sides.wanted,
    }
}

/// Converts a document.
pub fn memory_document(record: MemoryDocumentRecord) -> wired::MemoryDocument {
    wired::MemoryDocument {
        id: record.id,
        agent: record.agent,
        path: record.path,
        version: record.version,
        sha256: record.digest.to_string(),
        bytes: record.bytes,
        is_deleted: record.is_deleted,
        source: record.source,
        author: record.author,
        created_at: record.created_at,
        updated_at: record.updated_at,
    }
}

/// Converts a version.
pub fn memory_version(record: MemoryVersionRecord) -> wired::MemoryVersion {
    wired::MemoryVersion {
        document_id: record.document_id,
        version: record.version,
        path: record.path,
        operation: record.operation,
        sha256: record.digest.to_string(),
        source: record.source,
        author: record.author,
        author_name: None,
        reason: record.reason,
        created_at: record.created_at,
        erased_at: record.erased_at,
    }
}

/// Converts a version with its text.
pub fn memory_version_text(found: MemoryVersionText) -> wired::MemoryDocumentText {
    wired::MemoryDocumentText {
        text: found.document.to_text(),
        path: found.version.path,
        version: found.version.version,
        sha256: found.version.digest.to_string(),
        is_erased: found.version.erased_at.is_some(),
    }
}

/// Converts a document with its text.
pub fn memory_text(found: memory::MemoryText) -> wired::MemoryDocumentText {
    wired::MemoryDocumentText {
        path: found.document.path,
        version: found.document.version,
        sha256: found.document.digest.to_string(),
        text: found.text,
        is_erased: false,
    }
}

/// Converts the lines of a comparison.
pub fn memory_diff_lines(lines: Vec<memory::DiffLine>) -> Vec<wired::MemoryDiffLine> {
    let part = |part: memory::Part| wired::MemoryDiffPart { text: part.text, is_changed: part.is_changed };
    let line = |line: memory::DiffLine| wired::MemoryDiffLine {
        change: line.change,
        old: line.old.map(|number| number as u64),
        new: line.new.map(|number| number as u64),
        parts: line.parts.into_iter().map(part).collect(),
    };
    lines.into_iter().map(line).collect()
}

/// Converts a comparison.
pub fn memory_diff(diff: memory::VersionDiff) -> wired::MemoryDiff {
    wired::MemoryDiff {
        from: diff.from.map(memory_version),
        to: memory_version(diff.to),
        is_erased: diff.is_erased,
        added: diff.added as u64,
        removed: diff.removed as u64,
        lines: memory_diff_lines(diff.lines),
    }
}

/// Converts what reverting a session changes.
pub fn reverted_memory_session(applied: bool, found: memory::RevertedSession) -> RevertedMemorySession {
    let document = |document: memory::RevertedDocument| RevertedMemory {
        path: document.path,
        version: document.version,
        is_whole: document.is_whole,
        lines: memory_diff_lines(document.lines),
    };
    let documents = found.documents.into_iter().map(document).collect();
    RevertedMemorySession { applied, documents, has_more: found.has_more }
}

fn evidence(one: Evidence) -> wired::MemoryEvidence {
    wired::MemoryEvidence { line: one.line, session: one.session, sequence: one.sequence }
}

/// Converts lines with their origin.
pub fn memory_blame(lines: Vec<memory::BlamedLine>) -> wired::MemoryBlame {
    let line = |line: memory::BlamedLine| wired::MemoryBlamedLine {
        text: line.text,
        version: memory_version(line.version),
        is_oldest: line.is_oldest,
        evidence: line.evidence.into_iter().map(evidence).collect(),
    };
    wired::MemoryBlame { lines: lines.into_iter().map(line).collect() }
}

/// Converts what a search found.
pub fn found_memories(found: Vec<memory::FoundMemory>) -> wired::FoundMemories {
    let item = |found: memory::FoundMemory| wired::FoundMemory {
        document: memory_document(found.document),
        score: found.score,
        line: found.line as u64,
        excerpt: found.excerpt,
    };
    wired::FoundMemories { items: found.into_iter().map(item).collect() }
}

/// Converts the body of a write.
pub fn memory_write(body: wired::WriteMemory) -> memory::Write {
    let line = |one: wired::MemoryEvidence| Evidence { line: one.line, session: one.session, sequence: one.sequence };
    memory::Write {
        base_version: body.base_version,
        text: body.text,
        reason: body.reason,
        evidence: body.evidence.into_iter().map(line).collect(),
        session_id: body.session_id,
        is_import: body.is_import,
    }
}

/// Converts a command of the memory tool.
pub fn memory_tool_command(command: wired::MemoryToolCommand) -> ToolCommand {
    use wired::MemoryToolCommand as C;
    match command {
        C::View { path, view_range } => ToolCommand::View { path, view_range },
        C::Create { path, file_text } => ToolCommand::Create { path, file_text },
        C::StrReplace { path, old_str, new_str } => ToolCommand::StrReplace { path, old_str, new_str },
        C::Insert { path, insert_line, insert_text } => ToolCommand::Insert { path, insert_line, insert_text },
        C::Delete { path } => ToolCommand::Delete { path },
        C::Rename { old_path, new_path } => ToolCommand::Rename { old_path, new_path },
    }
}

/// Converts a character card.
pub fn character_card(record: CardRecord) -> wired::CharacterCard {
    wired::CharacterCard {
        name: record.name,
        media_type: record.format,
        sha256: record.digest.to_string(),
        author: record.author,
        created_at: record.created_at,
    }
}

/// Converts the outcome of an upload.
pub fn uploaded_card(uploaded: memory::UploadedCard) -> wired::UploadedCard {
    wired::UploadedCard { card: character_card(uploaded.card), is_new: uploaded.is_new, changed: uploaded.changed }
}

/// Converts what becomes of a request for a run, with the number of sessions that it added.
pub fn memory_flush(flushed: Flushed, added_sessions: Option<u64>) -> to::MemoryFlush {
    to::MemoryFlush {
        has_writer: flushed.has_writer,
        waits_for: flushed.waits.map(FlushWait::waits_for),
        reason: flushed.waits.map(|waits| waits.to_string()),
        waits_until: flushed.waits.and_then(|waits| waits.until()),
        added_sessions,
    }
}

/// Converts a run of a memory writer.
pub fn memory_run(run: RunRecord) -> to::MemoryRun {
    to::MemoryRun {
        id: run.id,
        cause: run.cause,
        state: run.state,
        window: serde_json::from_str(&run.window).unwrap_or_default(),
        turns: run.turns,
        proposals: run.proposals,
        written: run.written,
        error: run.error,
        model: run.model,
        input_tokens: run.input_tokens,
        output_tokens: run.output_tokens,
        cost_usd: run.cost_usd.map(dollars),
        started_at: run.started_at,
        ended_at: run.ended_at,
    }
}
