//! Finding a text in a session's log. The log itself is read, not the index of the search. So what was just recorded is
//! found, and text without words too.

use super::{Read, read_on};
use crate::{Error, Ledger, Result, cursor::page_size, guard::require, session};
use domain::{
    Scope, Timestamp,
    event::Event,
    id::SessionId,
    limit::{FIND_BYTES_MAX, FIND_EVENTS_MAX, FIND_MATCHES_MAX, PAGE_MAX},
    role::Permission,
    search::{Phrase, Piece, phrase_snippet},
    session::Session,
};
use store::Conn;

/// What to find in a log.
#[derive(Debug, Clone)]
pub struct Find {
    /// The text to find, as it was typed: see [`Phrase`].
    pub text: String,
    /// Only events of these kinds. Empty for all kinds.
    pub kinds: Vec<String>,
    /// Which of the events that are found are returned with their text.
    pub items: Items,
}

/// Some of the events that are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Items {
    /// Those after a sequence.
    After {
        /// The sequence; 0 for all.
        sequence: u64,
        /// Most of them: 1 to 1,000, or 0 for the default.
        limit: u32,
    },
    /// The one with this number, from 1. The last one if there are fewer.
    Number(usize),
}

/// What was found in a log.
#[derive(Debug, Clone, Default)]
pub struct FoundInLog {
    /// All events that have the text, oldest first, at most [`FIND_MATCHES_MAX`].
    pub places: Vec<Place>,
    /// Whether there are no others. A log that is longer than [`FIND_EVENTS_MAX`] events or [`FIND_BYTES_MAX`] is not
    /// read to its end.
    pub is_exact: bool,
    /// The events that were asked for, oldest first.
    pub items: Vec<FoundEvent>,
    /// Whether `places` has events after the last item.
    pub has_more: bool,
}

/// An event that has the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its sequence in the session.
    pub sequence: u64,
    /// Time it was recorded (UTC).
    pub recorded_at: Timestamp,
}

/// An event that has the text, with its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundEvent {
    /// Its sequence in the session.
    pub sequence: u64,
    /// Type of the event, such as `agent.message`.
    pub kind: String,
    /// Time it was recorded (UTC).
    pub recorded_at: Timestamp,
    /// Its text around the first place of what was looked for.
    pub snippet: Vec<Piece>,
}

/// Finds a text in the log of a session that the caller can see. Events that are recorded meanwhile are left out.
///
/// # Errors
/// [`Error::NotFound`] if there is no such session or the caller cannot see it; [`Error::Invalid`] for a text that is
/// empty or too long, for a limit above 1,000, or for a wrong kind or too many of them.
pub async fn find(ledger: &Ledger, scope: &Scope, id: SessionId, find: Find) -> Result<FoundInLog> {
    require(scope, Permission::Read)?;
    let search = Search::of(&find)?;
    let (reader, kinds) = (*scope, find.kinds);
    let found = ledger.snapshot(scope, async move |conn| {
        let session = session::get_on(conn, &reader, id).await?;
        search.read(conn, &session, kinds).await
    });
    found.await
}

/// A search while the log is read.
struct Search {
    phrase: Phrase,
    items: Items,
    found: FoundInLog,
    /// The last event that can be the item, with its text, where one number is asked for.
    last: Option<(Event, String)>,
    events: usize,
    bytes: usize,
    has_too_many: bool,
}

impl Search {
    fn of(find: &Find) -> Result<Self> {
        let phrase = Phrase::parse(&find.text).map_err(|bad| Error::invalid("q", bad.to_string()))?;
        let items = match find.items {
            Items::After { sequence, limit } => Items::After { sequence, limit: page_size(limit)? },
            number => number,
        };
        let found = FoundInLog::default();
        Ok(Self { phrase, items, found, last: None, events: 0, bytes: 0, has_too_many: false })
    }

    /// Reads the log page by page, up to its end or to a limit.
    async fn read(mut self, conn: &mut Conn<'_>, session: &Session, kinds: Vec<String>) -> Result<FoundInLog> {
        let mut read = Read { after_sequence: Some(0), kinds, limit: PAGE_MAX, ..Read::default() };
        loop {
            let slice = read_on(conn, session, &read).await?;
            let has_more = slice.has_more;
            for event in slice.events {
                read.after_sequence = Some(event.sequence);
                self.look_at(event);
            }
            if !has_more || self.is_over() {
                self.found.is_exact = !has_more && !self.has_too_many;
                return Ok(self.done());
            }
        }
    }

    const fn is_over(&self) -> bool {
        self.has_too_many || self.events >= FIND_EVENTS_MAX || self.bytes >= FIND_BYTES_MAX
    }

    fn look_at(&mut self, event: Event) {
        self.events += 1;
        self.bytes += event.content.len() + event.metadata.len();
        if self.has_too_many {
            return;
        }
        let Some(text) = self.phrase.text_with(&event.kind, &event.content, &event.metadata) else { return };
        if self.found.places.len() == FIND_MATCHES_MAX {
            self.has_too_many = true;
            return;
        }
        self.found.places.push(Place { sequence: event.sequence, recorded_at: event.recorded_at });
        match self.items {
            Items::After { sequence, .. } if event.sequence <= sequence => {}
            Items::After { limit, .. } if self.found.items.len() >= limit as usize => self.found.has_more = true,
            Items::After { .. } => {
                let item = self.item(event, &text);
                self.found.items.push(item);
            }
            Items::Number(number) if self.found.places.len() <= number => self.last = Some((event, text)),
            Items::Number(_) => self.found.has_more = true,
        }
    }

    fn item(&self, event: Event, text: &str) -> FoundEvent {
        let snippet = phrase_snippet(text, &self.phrase);
        FoundEvent { sequence: event.sequence, kind: event.kind, recorded_at: event.recorded_at, snippet }
    }

    fn done(mut self) -> FoundInLog {
        if let Some((event, text)) = self.last.take() {
            let item = self.item(event, &text);
            self.found.items.push(item);
        }
        self.found
    }
}
