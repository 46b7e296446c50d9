//! Calls on the search over events and records.

use crate::{Client, Result};
use domain::{search::Kind, session::Status};
use wire::search::FoundEvents;

/// Which events to search. Each field narrows it.
#[derive(Debug, Clone, Default)]
pub struct EventSearch {
    /// Words, `"a phrase"`, `begin*` and `-not`, and conditions such as `agent:scout cost>0.5`.
    pub query: String,
    /// IANA name of the time zone of the query's days; UTC if absent.
    pub timezone: Option<String>,
    /// Only what is of this kind; everything if absent.
    pub kind: Option<Kind>,
    /// Only sessions of this agent.
    pub agent: Option<String>,
    /// Only sessions that have this status now.
    pub status: Option<Status>,
    /// Only events that were recorded at this time or later, RFC 3339.
    pub after: Option<String>,
    /// Only events that were recorded before this time, RFC 3339.
    pub before: Option<String>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
}

impl Client {
    /// `GET /api/search`, one page.
    pub async fn search_events(&self, search: &EventSearch) -> Result<FoundEvents> {
        let query = [
            ("q", Some(search.query.clone())),
            ("timezone", search.timezone.clone()),
            ("kind", search.kind.map(|kind| kind.as_str().to_owned())),
            ("agent", search.agent.clone()),
            ("status", search.status.map(|status| status.as_str().to_owned())),
            ("after", search.after.clone()),
            ("before", search.before.clone()),
            ("cursor", search.cursor.clone()),
        ];
        self.get(&["api", "search"], &query).await
    }
}
