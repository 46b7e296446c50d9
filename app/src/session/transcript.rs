//! The state of a transcript's page, and what the page shows at first.

#[cfg(feature = "hydrate")]
use super::tail_state::TailState;
use super::{Rating, RatingState};
#[cfg(feature = "hydrate")]
use crate::browser::reads::Reads;
use crate::fragment::Slot;
use leptos::{html, prelude::*};

/// How far a jump loads beyond its target, events.
pub const BEYOND_TARGET: u64 = 100;

/// What the page shows at first. The server provides it for the island; the browser reads from the page what it needs
/// of it, so that nothing is sent twice and no parser of arguments is loaded.
#[derive(Debug, Clone, Default)]
pub struct Content {
    /// UUID of the session whose events the page shows.
    pub session_id: String,
    /// The filter of the address; may be empty.
    pub kinds: String,
    /// Nothing up to this sequence has to be read.
    pub last_sequence: u64,
    /// Whether the page ends at the head of the log.
    pub at_head: bool,
    /// Whether the page opens at its last row, not at its top.
    pub opens_at_end: bool,
    /// Whether the whole log is on the page.
    pub is_complete: bool,
    /// The page of earlier events, if there are any.
    pub earlier: Option<String>,
    /// The text below the last row.
    pub end: String,
    /// What the rating panel shows.
    pub rating: Rating,
    /// The header of the session, HTML of the server.
    pub summary: String,
    /// The filter chips, HTML of the server.
    pub chips: String,
    /// The rows, HTML of the server.
    pub rows: String,
    /// The links to later events, HTML of the server.
    pub later: String,
    /// The sidebar, HTML of the server.
    pub sidebar: String,
}

impl Content {
    /// What was provided for this page.
    #[cfg(not(feature = "hydrate"))]
    pub fn of_page() -> Self {
        use_context().unwrap_or_default()
    }

    /// What the page was rendered with.
    #[cfg(feature = "hydrate")]
    pub fn of_page() -> Self {
        use crate::browser::dom;
        let find = |selector| dom::root().and_then(|root| dom::find(&root, selector));
        let Some(page) = find("[data-last]") else { return Self::default() };
        let get = |name| page.get_attribute(name);
        let list = find(".transcript");
        Self {
            session_id: get("data-session").unwrap_or_default(),
            kinds: get("data-kinds").unwrap_or_default(),
            last_sequence: get("data-last").and_then(|last| last.parse().ok()).unwrap_or_default(),
            at_head: page.has_attribute("data-at-head"),
            opens_at_end: list.as_ref().is_some_and(|list| list.has_attribute("data-end")),
            is_complete: list.is_some_and(|list| list.has_attribute("data-complete")),
            earlier: find(".transcript-edge > a").and_then(|link| link.get_attribute("href")),
            rating: Rating::of(&page),
            end: find(".transcript-end").and_then(|end| end.text_content()).unwrap_or_default(),
            ..Self::default()
        }
    }
}

/// State of the page. A copy is the same state.
#[derive(Clone, Copy)]
pub struct Transcript {
    /// UUID of the session whose events the page shows.
    #[cfg(feature = "hydrate")]
    pub session_id: StoredValue<String>,
    /// The filter of the address; may be empty.
    #[cfg(feature = "hydrate")]
    pub kinds: StoredValue<String>,
    /// Whether the page ends at the head of the log.
    #[cfg(feature = "hydrate")]
    pub at_head: bool,
    /// The page, whose header, counts and sidebar change while the session runs.
    pub page: NodeRef<html::Div>,
    /// The list of rows.
    pub list: NodeRef<html::Ol>,
    /// The filter chips.
    pub chips: Slot,
    /// Parts that the live tail finds in `page`, and the links to later events.
    pub fixed: [Slot; 3],
    /// The page of earlier events, if there are any.
    pub earlier: RwSignal<Option<String>>,
    /// Whether earlier events are being loaded.
    pub is_loading_earlier: RwSignal<bool>,
    /// The text below the last row.
    pub end: RwSignal<String>,
    /// Whether the whole log is on the page.
    pub is_complete: RwSignal<bool>,
    /// Groups of events that the chips hide, separated by spaces.
    pub hidden_groups: RwSignal<String>,
    /// Number of rows that came while the reader was further up.
    pub arrived: RwSignal<u32>,
    /// The rating panel.
    pub rating: RatingState,
    /// What the live tail knows.
    #[cfg(feature = "hydrate")]
    pub tail: StoredValue<TailState>,
    /// The reads of the header.
    #[cfg(feature = "hydrate")]
    pub summaries: Reads,
}

impl Transcript {
    /// The state of a page with this content.
    pub fn new(content: &Content) -> Self {
        Self {
            #[cfg(feature = "hydrate")]
            session_id: StoredValue::new(content.session_id.clone()),
            #[cfg(feature = "hydrate")]
            kinds: StoredValue::new(content.kinds.clone()),
            #[cfg(feature = "hydrate")]
            at_head: content.at_head,
            page: NodeRef::new(),
            list: NodeRef::new(),
            chips: Slot::default(),
            fixed: [Slot::default(), Slot::default(), Slot::default()],
            earlier: RwSignal::new(content.earlier.clone()),
            is_loading_earlier: RwSignal::new(false),
            end: RwSignal::new(content.end.clone()),
            is_complete: RwSignal::new(content.is_complete),
            hidden_groups: RwSignal::new(String::new()),
            arrived: RwSignal::new(0),
            rating: RatingState::new(&content.session_id, content.rating),
            #[cfg(feature = "hydrate")]
            tail: StoredValue::new(TailState::new(content.last_sequence)),
            #[cfg(feature = "hydrate")]
            summaries: Reads::default(),
        }
    }
}

#[cfg(feature = "hydrate")]
impl Transcript {
    /// An address below the session's page.
    pub fn address(self, rest: &str) -> String {
        self.session_id.with_value(|id| ["/sessions/", id, rest].concat())
    }

    /// The filter as a query parameter; empty without a filter.
    pub fn kinds_query(self) -> String {
        self.kinds.with_value(|kinds| match kinds.as_str() {
            "" => String::new(),
            kinds => ["&kinds=", &String::from(js_sys::encode_uri_component(kinds))].concat(),
        })
    }
}
