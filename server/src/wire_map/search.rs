//! Converts what a search found, and saved searches.

use domain::{Caller, search::Piece};
use ledger::{
    SavedSearchRecord, event,
    search::{self, NewSavedSearch},
};
use wire::search::{
    FoundEvent, FoundEvents, FoundInLog, FoundRecord, FoundSession, SaveSearch, SavedSearch, SnippetPiece,
};

/// Converts the body of a request that saves a search.
pub fn new_saved_search(body: SaveSearch) -> NewSavedSearch {
    NewSavedSearch { name: body.name, line: body.q, shared: body.shared }
}

/// Converts a saved search.
pub fn saved_search(record: SavedSearchRecord) -> SavedSearch {
    SavedSearch {
        id: record.id,
        name: record.name,
        q: record.line,
        shared: record.shared,
        created_by: Caller::User(record.user_id).to_string(),
        created_at: record.created_at,
    }
}

/// Converts a page of a search.
pub fn found_events(found: search::FoundEvents) -> FoundEvents {
    FoundEvents {
        records: found.records.into_iter().map(found_record).collect(),
        has_more_records: found.has_more_records,
        has_older_records: found.has_older_records,
        items: found.sessions.into_iter().map(found_session).collect(),
        next_cursor: found.next_cursor,
        indexed_until: found.indexed_until,
    }
}

/// Converts a record that was found.
pub fn found_record(found: search::FoundRecord) -> FoundRecord {
    FoundRecord {
        kind: found.kind,
        id: found.id,
        name: found.name,
        agent_slug: found.agent_slug,
        snippet: snippet(found.snippet),
        changed_at: found.changed_at,
    }
}

fn found_session(found: search::FoundSession) -> FoundSession {
    FoundSession {
        session_id: found.session.id,
        status: found.session.status(),
        title: found.session.title,
        agent_slug: found.session.agent_slug,
        events: found.events.into_iter().map(found_event).collect(),
        more_events: found.more,
    }
}

fn found_event(found: search::FoundEvent) -> FoundEvent {
    FoundEvent {
        sequence: found.sequence,
        event_type: found.kind,
        recorded_at: found.recorded_at,
        snippet: snippet(found.snippet),
    }
}

/// Converts what was found in a log.
pub fn found_in_log(found: event::FoundInLog) -> FoundInLog {
    let item = |item: event::FoundEvent| FoundEvent {
        sequence: item.sequence,
        event_type: item.kind,
        recorded_at: item.recorded_at,
        snippet: snippet(item.snippet),
    };
    FoundInLog {
        total: found.places.len() as u64,
        total_is_exact: found.is_exact,
        items: found.items.into_iter().map(item).collect(),
        has_more: found.has_more,
    }
}

/// Converts a part of the text of an event.
pub fn snippet(pieces: Vec<Piece>) -> Vec<SnippetPiece> {
    pieces.into_iter().map(|piece| SnippetPiece { text: piece.text, is_marked: piece.is_marked }).collect()
}
