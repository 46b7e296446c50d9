//! Entries of the index: adding them, and taking them out before content is erased.

use super::progress::{UNINDEXED_SQLITE, UnindexedEvent, state};
use crate::{
    engine::{Conn, Result, SqliteConnection, run, statements},
    memory::scoped,
    transaction::WriteTx,
};
use domain::{
    Timestamp,
    clock::to_micros,
    id::{SessionId, TenantId},
    search::{EventWords, RULE, searched_text},
};
use std::{collections::BTreeMap, fmt::Write};
use uuid::Uuid;

/// A word in the place of one that has too many places: no word of a workspace is written like this.
const NO_WORD: &str = "0";
/// Events that are read at once to take them out.
const REMOVED_AT_ONCE: i64 = 50;
/// Places between the last word of an event and the first part on PostgreSQL, so that no phrase has both.
const PLACES_BEFORE_PARTS: usize = 2;

statements! {
    pub(super) const SCOPE: &str = "SELECT scope_id FROM search_scopes WHERE tenant_id = $1";
    const ADD_SCOPE: &str = "INSERT INTO search_scopes (tenant_id) VALUES ($1) ON CONFLICT (tenant_id) DO NOTHING";
    const BEGIN_SESSION: &str = "INSERT INTO search_sessions (tenant_id, session_id, sequence, is_closed) VALUES ($1, $2, $3, 0) \
         ON CONFLICT (tenant_id, session_id) DO UPDATE SET sequence = excluded.sequence \
         WHERE search_sessions.sequence = 0 AND search_sessions.is_closed = 0";
    const ADVANCE: &str = "UPDATE search_sessions SET sequence = $3 \
         WHERE tenant_id = $1 AND session_id = $2 AND sequence = $4 AND is_closed = 0";
    const CLOSE: &str = "INSERT INTO search_sessions (tenant_id, session_id, sequence, is_closed) VALUES ($1, $2, 0, 1) \
         ON CONFLICT (tenant_id, session_id) DO UPDATE SET is_closed = 1";
    const INDEXED: &str = "SELECT sequence FROM search_sessions WHERE tenant_id = $1 AND session_id = $2";
    const ADD_SQLITE: &str = "INSERT INTO search_events (rowid, words, parts) VALUES ($1, $2, $3)";
    const ADD_POSTGRES: &str = "INSERT INTO search_events (scope_id, session_id, sequence, recorded_at, terms) \
         SELECT $1, $2, e.sequence, e.recorded_at, CAST(e.terms AS tsvector) \
         FROM UNNEST($3::bigint[], $4::bigint[], $5::text[]) AS e (sequence, recorded_at, terms)";
    const REMOVE_SQLITE: &str =
        "INSERT INTO search_events (search_events, rowid, words, parts) VALUES ('delete', $1, $2, $3)";
    const REMOVE_POSTGRES: &str = "DELETE FROM search_events e USING search_scopes c WHERE c.tenant_id = $1 \
         AND e.scope_id = c.scope_id AND e.session_id = $2 AND e.sequence > $3 AND e.sequence <= $4";
    const REMOVE_ALL_SQLITE: &str = "INSERT INTO search_events (search_events) VALUES ('delete-all')";
    const REMOVE_ALL_POSTGRES: &str = "TRUNCATE search_events";
    const BEGIN_AGAIN: &str = "DELETE FROM search_sessions WHERE is_closed = 0";
    // Their entries are gone too, and cannot be taken out again.
    const CLOSED_ARE_OUT: &str = "UPDATE search_sessions SET sequence = 0 WHERE sequence <> 0";
    const SAVE_RULE: &str = "UPDATE search_state SET rule = $1, indexed_until = NULL WHERE id = 1";
}

/// The words of an event that is added to the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventEntry {
    /// Its place in the order of results: of this engine alone.
    pub position: i64,
    /// Its sequence in the session.
    pub sequence: u64,
    /// Time it was recorded (UTC).
    pub recorded_at: Timestamp,
    /// What is found.
    pub words: EventWords,
}

impl EventEntry {
    /// The entry of an event; `None` if the event has no words.
    pub fn of(event: &UnindexedEvent) -> Option<Self> {
        let words = EventWords::of(&searched_text(&event.event_type, &event.content, &event.metadata));
        let (position, sequence, recorded_at) = (event.position, event.sequence, event.recorded_at);
        (!words.is_empty()).then_some(Self { position, sequence, recorded_at, words })
    }

    /// Its two columns on SQLite.
    fn columns(&self, scope: i64) -> (String, String) {
        let word =
            |word: &Option<String>| word.as_deref().map_or_else(|| NO_WORD.to_owned(), |word| scoped(scope, word));
        let words: Vec<String> = self.words.words.iter().map(word).collect();
        let parts: Vec<String> = self.words.parts.iter().map(|part| scoped(scope, part)).collect();
        (words.join(" "), parts.join(" "))
    }

    /// Its words with their places, as PostgreSQL reads a tsvector.
    fn vector(&self, scope: i64) -> String {
        let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, word) in self.words.words.iter().enumerate() {
            if let Some(word) = word {
                places.entry(word).or_default().push(at + 1);
            }
        }
        let first_part = self.words.words.len() + PLACES_BEFORE_PARTS;
        for (at, part) in self.words.parts.iter().enumerate() {
            // Parts are words of their own, not of a phrase.
            places.entry(part).or_default().push(first_part + PLACES_BEFORE_PARTS * at);
        }
        let mut vector = String::new();
        for (word, places) in places {
            let places: Vec<String> = places.iter().map(usize::to_string).collect();
            // Writing to a string cannot fail.
            let _ = write!(vector, "'{}':{} ", scoped(scope, word), places.join(","));
        }
        vector
    }
}

/// The number of a workspace, which gets one.
async fn scope_of(tx: &mut WriteTx<'_>, tenant_id: TenantId) -> Result<i64> {
    if let Some((scope,)) = run!(tx.conn(), fetch_optional(i64,), SCOPE, tenant_id.0)? {
        return Ok(scope);
    }
    run!(tx.conn(), execute, ADD_SCOPE, tenant_id.0)?;
    let (scope,) = run!(tx.conn(), fetch_one(i64,), SCOPE, tenant_id.0)?;
    Ok(scope)
}

/// Adds the events of a session from `after` up to `upto`, of which `entries` are those with words. Returns `false`,
/// and adds nothing, if the index is not at `after` any more, or if the session is being erased.
pub async fn add(
    tx: &mut WriteTx<'_>,
    (tenant_id, session_id): (TenantId, SessionId),
    (after, upto): (u64, u64),
    entries: &[EventEntry],
) -> Result<bool> {
    let (tenant, session, to, from) = (tenant_id.0, session_id.0, upto.cast_signed(), after.cast_signed());
    // After the index was emptied there is no row to advance.
    let advanced = if after == 0 {
        run!(tx.conn(), execute, BEGIN_SESSION, tenant, session, to)?
    } else {
        run!(tx.conn(), execute, ADVANCE, tenant, session, to, from)?
    };
    if advanced == 0 || entries.is_empty() {
        return Ok(advanced != 0);
    }
    let scope = scope_of(tx, tenant_id).await?;
    match tx.conn() {
        Conn::Sqlite(c) => {
            for entry in entries {
                let (words, parts) = entry.columns(scope);
                c.execute(ADD_SQLITE, &[&entry.position, &words, &parts])?;
            }
        }
        Conn::Postgres(c) => {
            let sequences: Vec<i64> = entries.iter().map(|entry| entry.sequence.cast_signed()).collect();
            let times: Vec<i64> = entries.iter().map(|entry| to_micros(entry.recorded_at)).collect();
            let vectors: Vec<String> = entries.iter().map(|entry| entry.vector(scope)).collect();
            let query = sqlx::query(ADD_POSTGRES).bind(scope).bind(session);
            query.bind(sequences).bind(times).bind(vectors).execute(&mut **c).await?;
        }
    }
    Ok(true)
}

/// From this transaction on nothing of the session is added any more: its content is about to be erased.
pub async fn close(tx: &mut WriteTx<'_>, tenant_id: TenantId, session_id: SessionId) -> Result<()> {
    run!(tx.conn(), execute, CLOSE, tenant_id.0, session_id.0)?;
    Ok(())
}

/// Takes the events of a session after `after` up to `upto` out of the index. In the transaction that erases their
/// content, and before: on SQLite their words are made from it.
pub async fn forget(
    tx: &mut WriteTx<'_>,
    (tenant_id, session_id): (TenantId, SessionId),
    (after, upto): (u64, u64),
) -> Result<()> {
    let (tenant, session, from, to) = (tenant_id.0, session_id.0, after.cast_signed(), upto.cast_signed());
    let rule = state(tx.conn()).await?.rule;
    match tx.conn() {
        Conn::Postgres(c) => {
            let query = sqlx::query(REMOVE_POSTGRES).bind(tenant).bind(session).bind(from).bind(to);
            query.execute(&mut **c).await?;
            Ok(())
        }
        // Which words another version made of these events is not known any more.
        Conn::Sqlite(_) if rule != RULE => clear(tx).await,
        Conn::Sqlite(c) => remove_on_sqlite(c, (tenant, session), (from, to)),
    }
}

fn remove_on_sqlite(c: &mut SqliteConnection, (tenant, session): (Uuid, Uuid), (from, to): (i64, i64)) -> Result<()> {
    let Some((indexed,)) = c.fetch_optional::<(i64,)>(INDEXED, &[&tenant, &session])? else { return Ok(()) };
    let Some((scope,)) = c.fetch_optional::<(i64,)>(SCOPE, &[&tenant])? else { return Ok(()) };
    let (mut from, to) = (from, to.min(indexed));
    loop {
        let events =
            c.fetch_all::<UnindexedEvent>(UNINDEXED_SQLITE, &[&tenant, &session, &from, &to, &REMOVED_AT_ONCE])?;
        let Some(last) = events.last() else { return Ok(()) };
        from = last.sequence.cast_signed();
        // An event that was erased before has no words.
        for entry in events.iter().filter_map(EventEntry::of) {
            let (words, parts) = entry.columns(scope);
            c.execute(REMOVE_SQLITE, &[&entry.position, &words, &parts])?;
        }
    }
}

/// Empties the index of events, so that it is made anew by the rule of this version. The names are made due before, by
/// [`make_names_due`](super::make_names_due).
pub async fn clear(tx: &mut WriteTx<'_>) -> Result<()> {
    let remove_all = if matches!(tx.conn(), Conn::Sqlite(_)) { REMOVE_ALL_SQLITE } else { REMOVE_ALL_POSTGRES };
    run!(tx.conn(), execute, remove_all)?;
    run!(tx.conn(), execute, BEGIN_AGAIN)?;
    run!(tx.conn(), execute, CLOSED_ARE_OUT)?;
    run!(tx.conn(), execute, SAVE_RULE, i64::from(RULE))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> EventEntry {
        let recorded_at = domain::clock::from_micros(5);
        EventEntry { position: 1, sequence: 2, recorded_at, words: EventWords::of(text) }
    }

    #[test]
    fn words_have_the_number_of_their_workspace() {
        let entry = entry("refundBot: Tea, 東 tea");
        assert_eq!(entry.columns(7), ("7xrefundbot 7xtea 7ue69db1 7xtea".into(), "7xrefund 7xbot".into()));
        assert_eq!(entry.vector(7), "'7xbot':8 '7xrefund':6 '7xrefundbot':1 '7xtea':2,4 '7ue69db1':3 ");
    }

    #[test]
    fn a_word_that_has_too_many_places_keeps_the_place() {
        let entry = entry(&("tea ".repeat(256) + "cup"));
        let (words, _) = entry.columns(7);
        assert!(words.ends_with("7xtea 0 7xcup"), "{words}");
        assert!(entry.vector(7).starts_with("'7xcup':257 '7xtea':1,2,3"));
    }
}
