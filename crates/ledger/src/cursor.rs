//! Opaque cursors of lists that are paged by key.

use crate::error::{Error, Result};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::limit::{CURSOR_CHARS_MAX, PAGE_DEFAULT, PAGE_MAX};
use uuid::Uuid;

/// Which page of a list to return.
#[derive(Debug, Clone, Default)]
pub struct ListPage {
    /// Page size: 1 to 1,000, or 0 for the default.
    pub limit: u32,
    /// `next_cursor` of the previous page. `None` for the first page.
    pub cursor: Option<String>,
}

impl ListPage {
    /// Returns the id before which the page begins, and its size.
    pub(crate) fn before_id(&self, list: List) -> Result<(Option<Uuid>, u32)> {
        let before = self.cursor.as_deref().map(|cursor| decode(list, cursor)).transpose()?;
        Ok((before, page_size(self.limit)?))
    }

    /// Returns the version before which the page of a list of versions begins, and its size.
    pub(crate) fn before_version(&self, list: List) -> Result<(Option<u64>, u32)> {
        let before = self.cursor.as_deref().map(|cursor| decode_version(list, cursor)).transpose()?;
        Ok((before, page_size(self.limit)?))
    }
}

/// One page of a list.
#[derive(Debug, Clone)]
pub struct Listed<T> {
    /// Items of this page, in the order of the list.
    pub items: Vec<T>,
    /// Cursor of the next page; `None` on the last page.
    pub next_cursor: Option<String>,
}

impl<T> Listed<T> {
    /// Converts a page of the store. `cursor` encodes the cursor of the page after the last item.
    pub(crate) fn of(page: store::Page<T>, cursor: impl FnOnce(&T) -> String) -> Self {
        let next_cursor = page.items.last().filter(|_| page.has_more).map(cursor);
        Self { items: page.items, next_cursor }
    }

    /// Converts a page of a search of the store. `looked` is the last item that the search looked at, or `None` if it
    /// looked at all. The next page begins after the last item of a full page, otherwise after `looked`.
    pub(crate) fn of_search(
        page: store::Page<T>,
        list: List,
        looked: Option<Uuid>,
        id: impl FnOnce(&T) -> Uuid,
    ) -> Self {
        let last = if page.has_more { page.items.last().map(id) } else { looked };
        Self { items: page.items, next_cursor: last.map(|id| encode(list, id)) }
    }
}

/// The list that a cursor belongs to. The number is the first byte of the encoded cursor.
#[derive(Debug, Clone, Copy)]
pub(crate) enum List {
    Sessions = 1,
    Actions = 2,
    Entities = 3,
    EntityTypes = 4,
    EntityVersions = 5,
    Failures = 16,
    FailureCauses = 13,
    CausedFailures = 14,
    CriteriaSets = 6,
    CriteriaSetVersions = 7,
    Gates = 8,
    ClosedGates = 9,
    Threads = 17,
    Interactions = 18,
    FeedbackRequests = 30,
    RequestAnswers = 31,
    Views = 19,
    ViewVersions = 20,
    Responses = 21,
    ToolSessions = 22,
    MemoryDocuments = 40,
    MemoryVersions = 41,
    MemoryAudit = 42,
    AuditEntries = 43,
    PacedRuns = 44,
    ShareLinks = 25,
    SortedSessions = 23,
    FoundEvents = 36,
    Tools = 11,
    ToolVersions = 12,
    McpServers = 45,
    Rules = 28,
    RuleDecisions = 29,
    SessionMemories = 47,
    Canvases = 50,
}

/// Encodes the cursor of the page after the item with this id.
pub(crate) fn encode(list: List, id: Uuid) -> String {
    let mut bytes = vec![list as u8];
    bytes.extend_from_slice(id.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

fn bytes_of(cursor: &str) -> Result<Vec<u8>> {
    if cursor.len() > CURSOR_CHARS_MAX {
        return Err(Error::InvalidCursor);
    }
    URL_SAFE_NO_PAD.decode(cursor).map_err(|_| Error::InvalidCursor)
}

/// Returns the id in a cursor of this list.
///
/// # Errors
/// [`Error::InvalidCursor`] for a malformed cursor or one of another list.
pub(crate) fn decode(list: List, cursor: &str) -> Result<Uuid> {
    let bytes = bytes_of(cursor)?;
    match bytes.split_first() {
        Some((&kind, id)) if kind == list as u8 => Uuid::from_slice(id).map_err(|_| Error::InvalidCursor),
        _ => Err(Error::InvalidCursor),
    }
}

/// Encodes the cursor of the page after an item of a list that is ordered by a number, then by id. A list with another
/// order can check with the number that the item is still at its place.
pub(crate) fn encode_at(list: List, at: i64, id: Uuid) -> String {
    let mut bytes = vec![list as u8];
    bytes.extend_from_slice(&at.to_be_bytes());
    bytes.extend_from_slice(id.as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the number and the id in a cursor made by [`encode_at`].
pub(crate) fn decode_at(list: List, cursor: &str) -> Result<(i64, Uuid)> {
    let bytes = bytes_of(cursor)?;
    let place = bytes.split_first().filter(|(kind, _)| **kind == list as u8);
    let (at, id) = place.and_then(|(_, rest)| rest.split_first_chunk::<8>()).ok_or(Error::InvalidCursor)?;
    Ok((i64::from_be_bytes(*at), Uuid::from_slice(id).map_err(|_| Error::InvalidCursor)?))
}

/// Encodes the cursor of the page after an event, in a list that is ordered by a number, then by session and sequence.
pub(crate) fn encode_event(list: List, at: i64, session: Uuid, sequence: u64) -> String {
    let mut bytes = vec![list as u8];
    bytes.extend_from_slice(&at.to_be_bytes());
    bytes.extend_from_slice(session.as_bytes());
    bytes.extend_from_slice(&sequence.to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Returns the number, the session and the sequence in a cursor made by [`encode_event`].
pub(crate) fn decode_event(list: List, cursor: &str) -> Result<(i64, Uuid, u64)> {
    let bytes = bytes_of(cursor)?;
    let place = bytes.split_first().filter(|(kind, _)| **kind == list as u8);
    let (at, rest) = place.and_then(|(_, rest)| rest.split_first_chunk::<8>()).ok_or(Error::InvalidCursor)?;
    let (session, sequence) = rest.split_first_chunk::<16>().ok_or(Error::InvalidCursor)?;
    let sequence: [u8; 8] = sequence.try_into().map_err(|_| Error::InvalidCursor)?;
    // A database has no larger sequence.
    let sequence = Some(u64::from_be_bytes(sequence)).filter(|sequence| i64::try_from(*sequence).is_ok());
    Ok((i64::from_be_bytes(*at), Uuid::from_bytes(*session), sequence.ok_or(Error::InvalidCursor)?))
}

/// Encodes the cursor of the page after this version. The version is stored in the place of the id.
pub(crate) fn encode_version(list: List, version: u64) -> String {
    encode(list, Uuid::from_u128(version.into()))
}

/// Returns the version in a cursor made by [`encode_version`].
fn decode_version(list: List, cursor: &str) -> Result<u64> {
    u64::try_from(decode(list, cursor)?.as_u128()).map_err(|_| Error::InvalidCursor)
}

/// Checks a page size. 0 selects the default.
pub(crate) fn page_size(limit: u32) -> Result<u32> {
    match limit {
        0 => Ok(PAGE_DEFAULT),
        1..=PAGE_MAX => Ok(limit),
        _ => Err(Error::invalid("limit", format!("at most {PAGE_MAX}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_has_the_form_that_the_api_documents() {
        for list in [List::Sessions, List::AuditEntries] {
            let ids = [0, 1, u128::MAX].map(Uuid::from_u128);
            for id in ids {
                let (by_id, ordered) = (encode(list, id), encode_at(list, -3, id));
                assert!(('A'..='K').contains(&by_id.chars().next().unwrap()));
                assert!(by_id.len() == 23 && by_id.ends_with(|last| "AEIMQUYcgkosw048".contains(last)), "{by_id}");
                assert!(ordered.len() == 34 && ordered.ends_with(['A', 'Q', 'g', 'w']), "{ordered}");
            }
        }
    }

    #[test]
    fn a_cursor_of_events_has_all_three_keys() {
        let id = Uuid::from_u128(7);
        let cursor = encode_event(List::FoundEvents, -3, id, 1_000_000);
        assert_eq!(decode_event(List::FoundEvents, &cursor).unwrap(), (-3, id, 1_000_000));
        assert!(('A'..='K').contains(&cursor.chars().next().unwrap()) && cursor.len() == 44, "{cursor}");
        let beyond = encode_event(List::FoundEvents, 1, id, u64::MAX);
        for bad in ["", &cursor[..43], &encode_at(List::FoundEvents, 1, id), &beyond] {
            assert!(decode_event(List::FoundEvents, bad).is_err(), "{bad}");
        }
        assert!(decode_event(List::Gates, &cursor).is_err());
    }

    #[test]
    fn a_cursor_belongs_to_its_list_alone() {
        let id = Uuid::from_u128(7);
        let cursor = encode(List::Sessions, id);
        assert_eq!(decode(List::Sessions, &cursor).unwrap(), id);
        assert!(decode(List::Actions, &cursor).is_err());
        let ordered = encode_at(List::Gates, -3, id);
        assert_eq!(decode_at(List::Gates, &ordered).unwrap(), (-3, id));
        assert!(decode_at(List::Gates, &cursor).is_err() && decode(List::Gates, &ordered).is_err());
        for bad in ["", "x", "!!!!", &cursor[1..]] {
            assert!(decode_at(List::Gates, bad).is_err(), "{bad}");
            assert!(decode(List::Sessions, bad).is_err(), "{bad}");
        }
    }
}
