//! Data of the inbox list.

use super::{
    decided_filter::DecidedFilter,
    item_text::{Labels, changes},
    similar::{Block, blocks},
};
use crate::{FormState, session::Titles, sessions::SessionEntry, text::escape, ui::list_search::ListSearch};
use domain::{Timestamp, gate::GateKind, id::GateId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wire::approval::Approval;

/// Which items the list shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ItemFilter {
    /// Items that wait for a decision.
    #[default]
    Open,
    /// Items that the viewer has snoozed.
    Snoozed,
    /// Items that were decided, have expired or were withdrawn.
    Settled,
}

impl ItemFilter {
    /// The value of `?state=`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Snoozed => "snoozed",
            Self::Settled => "decided",
        }
    }

    /// Parses `?state=`; an unknown value means open items.
    pub fn parse(text: &str) -> Self {
        match text {
            "snoozed" => Self::Snoozed,
            "decided" | "settled" => Self::Settled,
            _ => Self::Open,
        }
    }
}

/// Data of the inbox list.
#[derive(Debug, Clone, Default)]
pub struct List {
    /// `?state=`: which items are listed.
    pub filter: ItemFilter,
    /// Number of suggestions for canvases that wait for the viewer. They are on a page of their own.
    pub patches: u64,
    /// `?assignedTo=all`: also lists items that only other people may decide.
    pub everyone: bool,
    /// Which decided items are listed. Only with [`ItemFilter::Settled`].
    pub decided: DecidedFilter,
    /// What is searched for. A refused search narrows nothing.
    pub search: ListSearch,
    /// People to choose from who decided: id and name. Only with [`ItemFilter::Settled`].
    pub people: Vec<(String, String)>,
    /// The items of this page, most urgent first. Closed ones: closed last first.
    pub items: Vec<Approval>,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// Cursor of this page; absent on the first page.
    pub cursor: Option<String>,
    /// The viewer's held decisions, which can still be undone.
    pub held: Vec<Approval>,
    /// Sessions of the viewer that wait for an answer in a terminal.
    pub terminal_sessions: Vec<SessionEntry>,
    /// Questions that the viewer may answer and for which no session waits, as items. They follow the others.
    pub questions: Vec<Approval>,
    /// Titles of the records that the items' values refer to, by id.
    pub titles: Titles,
    /// Names of fields by slug.
    pub labels: Labels,
    /// Keys of proposed values that the record has already, by item id.
    pub unchanged: HashMap<String, BTreeSet<String>>,
    /// Number of open items on all pages by their key of alike ones. Empty if all are on this page.
    pub alike: HashMap<String, u64>,
    /// Rules that can be created about groups, by their key of alike ones: the newest item that people approved, and
    /// how many they approved. Empty for everyone but admins.
    pub offers: HashMap<String, (GateId, u64)>,
    /// Seconds for which a decision can be undone.
    pub undo_seconds: u32,
    /// The server's clock when the page was rendered (UTC).
    pub now: Timestamp,
    /// IANA name of the reader's time zone; `UTC` if it is not known.
    pub timezone: String,
    /// Id of the open item.
    pub current: Option<String>,
    /// `?open=`: key of the unfolded group.
    pub unfolded: Option<String>,
    /// `?select=`: key of the group whose items are selected, without its outliers.
    pub selected: Option<String>,
    /// Ids of the selected items.
    pub ticked: BTreeSet<String>,
    /// Why items of a batch were refused, by item id. The empty id is the batch.
    pub refused: BTreeMap<String, String>,
    /// The text typed into the form of a batch that was refused.
    pub batch: FormState,
    /// Address of the styles of forms with groups and rows.
    pub styles: String,
}

impl List {
    /// The address of the list without what narrows it.
    pub(super) fn whole_href(&self) -> String {
        let everyone = if self.everyone { "&assignedTo=all" } else { "" };
        format!("/inbox?state={}{everyone}", self.filter.as_str())
    }

    /// Whether a search narrows the list.
    pub(super) fn is_searched(&self) -> bool {
        !self.search.q.is_empty() && !self.search.form.is_refused()
    }

    /// What narrows the list, as it is added to the query of its address.
    fn narrowed(&self) -> String {
        let q = &self.search.q;
        let q = if q.is_empty() { String::new() } else { format!("&q={}", escape::query(q)) };
        format!("{}{q}", self.decided.query())
    }

    /// The address of the list; `more` is added to its query.
    pub(super) fn href(&self, more: &str) -> String {
        format!("{}{}{more}", self.whole_href(), self.narrowed())
    }

    /// The query with which the list is read again from where this page begins.
    pub(super) fn query(&self) -> String {
        let everyone = if self.everyone { "&assignedTo=all" } else { "" };
        let cursor = self.cursor.as_deref().map(|cursor| format!("&cursor={}", escape::query(cursor)));
        let (state, narrowed) = (self.filter.as_str(), self.narrowed());
        format!("state={state}{everyone}{narrowed}{}", cursor.unwrap_or_default())
    }

    /// The address of an item beside this list.
    pub(super) fn item_href(&self, id: impl std::fmt::Display) -> String {
        let is_whole = !self.everyone && self.search.q.is_empty();
        let is_first = self.filter == ItemFilter::Open && is_whole && self.cursor.is_none();
        if is_first { format!("/inbox/{id}") } else { format!("/inbox/{id}?{}", self.query()) }
    }

    /// The list with the group of the open item unfolded, unless its address unfolds another one: an item that was
    /// opened by its link has its row in the list.
    #[must_use]
    pub fn with_open_item_visible(mut self) -> Self {
        let is_open = |item: &&Approval| self.current.as_ref().is_some_and(|id| *id == item.id.to_string());
        self.unfolded = self.unfolded.or_else(|| self.items.iter().find(is_open).map(|item| item.similar_key.clone()));
        self
    }

    /// What a row says after its subject: the tool that is called, or what would change. Values that the record has
    /// already are left out.
    pub(super) fn row_summary(&self, approval: &Approval) -> String {
        match approval.kind {
            GateKind::Tool => approval.title.clone(),
            _ => {
                let same = self.unchanged.get(&approval.id.to_string());
                changes(approval, &self.titles, &self.labels, same.unwrap_or(&BTreeSet::new()))
            }
        }
    }

    /// The list with the items selected that its address, or a form, asks for.
    #[must_use]
    pub fn with_selection(mut self, ids: BTreeSet<String>) -> Self {
        self.ticked = ids;
        if let Some(key) = &self.selected {
            let groups = blocks(&self.items, &self.labels).into_iter().filter_map(|block| match block {
                Block::Group(group) if group.key == *key => Some(group.alike),
                _ => None,
            });
            let alike = groups.flatten().filter_map(|at| self.items.get(at));
            self.ticked.extend(alike.map(|item| item.id.to_string()));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{output, tool};
    use serde_json::json;

    #[test]
    fn a_row_has_the_names_of_fields_and_large_numbers_in_groups() {
        let labels = Labels::from([("arr".to_owned(), "ARR".to_owned())]);
        let item = output(1, json!({"arr": 125_000.5, "year": 2026}));
        let list = List { labels, ..List::default() };
        assert_eq!(list.row_summary(&item), "ARR → 125,000.5, Year → 2026");
        let same = |keys: &[&str]| {
            let keys = keys.iter().map(|key| (*key).to_owned()).collect();
            List { unchanged: [(item.id.to_string(), keys)].into(), ..list.clone() }
        };
        assert_eq!(same(&["arr"]).row_summary(&item), "Year → 2026");
        assert_eq!(same(&["arr", "year"]).row_summary(&item), "Changes nothing");
    }

    #[test]
    fn the_list_is_read_again_from_where_its_page_begins() {
        let first = List { everyone: true, ..List::default() };
        assert_eq!(first.query(), "state=open&assignedTo=all");
        let later = List { cursor: Some("a+b/c=".to_owned()), ..List::default() };
        assert_eq!(later.query(), "state=open&cursor=a%2Bb%2Fc%3D");
        assert_eq!(List::default().item_href("1"), "/inbox/1");
        assert_eq!(later.item_href("1"), "/inbox/1?state=open&cursor=a%2Bb%2Fc%3D");
    }

    #[test]
    fn an_item_that_was_opened_by_its_link_unfolds_its_group() {
        let items: Vec<_> = (0..3).map(|n| tool(n, json!({"to": format!("kim{n}")}))).collect();
        let open = |current: Option<String>, unfolded: Option<String>| {
            let list = List { items: items.clone(), current, unfolded, ..List::default() };
            list.with_open_item_visible().unfolded
        };
        assert_eq!(open(Some(items[2].id.to_string()), None).as_deref(), Some("tool"));
        assert_eq!(open(Some(items[2].id.to_string()), Some("other".into())).as_deref(), Some("other"));
        assert_eq!(open(Some("elsewhere".into()), None), None);
        assert_eq!(open(None, None), None);
    }

    #[test]
    fn an_address_that_selects_a_group_leaves_its_outliers_out() {
        let items = (0..5).map(|n| tool(n, json!({"amount": if n == 2 { 900 } else { 5 + n }}))).collect();
        let list = List { items, selected: Some("tool".into()), ..List::default() };
        let ticked = list.with_selection(BTreeSet::new()).ticked;
        assert_eq!((ticked.len(), ticked.iter().any(|id| id.ends_with("2"))), (4, false));
    }
}
