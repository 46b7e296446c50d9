//! The rows of the inbox's list as a store holds them. The browser reads them from the HTML that the server renders,
//! on the page and in later answers, so a page sends its rows once.

use leptos::prelude::*;

/// One row of the list, and what the reader has done with it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Item {
    /// Id of the item; for the heading of a group, the key of the group.
    pub id: String,
    /// Whether the row is the heading of a group.
    pub is_heading: bool,
    /// Id of the item's session.
    pub session_id: String,
    /// Key of the group that the item is in.
    pub group: Option<String>,
    /// The text of the row's link.
    pub title: String,
    /// Where the link leads without scripts.
    pub href: String,
    /// Whether the item differs from the others of its group: it stays shown, and no selection of the group has it.
    pub is_outlier: bool,
    /// For a heading, the text of the link that selects the group.
    pub select: String,
    /// For a heading, where the link that selects the group leads without scripts.
    pub select_href: String,
    /// Digest of the proposal. Absent if the viewer cannot decide the item.
    pub digest: Option<String>,
    /// The rest of the row, HTML of the server.
    pub body: String,
    /// Why the decision was refused.
    pub refusal: Option<String>,
    /// Whether the item is the one shown beside the list.
    pub is_current: bool,
    /// Whether the item is selected.
    pub is_ticked: bool,
    /// Whether the group is folded: its items are hidden.
    pub is_folded: bool,
    /// Whether the item was decided here and the server has not answered yet.
    pub is_leaving: bool,
}

/// A row of the list. A clone is the same row.
#[derive(Clone)]
pub struct Row {
    /// Names the row among the others.
    pub key: String,
    /// Its state.
    pub item: ArcRwSignal<Item>,
}

impl Row {
    /// A new row.
    pub fn new(item: Item) -> Self {
        let prefix = if item.is_heading { "g-" } else { "" };
        Self { key: [prefix, &item.id].concat(), item: ArcRwSignal::new(item) }
    }
}

#[cfg(feature = "hydrate")]
mod reading {
    use super::{Item, Row};
    use crate::browser::{
        checkbox,
        dom::{self, HtmlElement},
    };
    use leptos::prelude::*;

    impl Item {
        /// Reads a row as the server renders it.
        pub fn read(row: &HtmlElement) -> Self {
            let find = |selector| dom::find(row, selector);
            let attribute = |element: &Option<HtmlElement>, name: &str| {
                element.as_ref().and_then(|element| element.get_attribute(name)).unwrap_or_default()
            };
            let (link, select, group) = (find(".row-title"), find("[data-select]"), row.get_attribute("data-group"));
            let text = |element: HtmlElement| element.text_content().unwrap_or_default();
            let tick = find("input").and_then(|tick| checkbox::read(&tick));
            Self {
                is_heading: group.is_some(),
                id: group.or_else(|| row.get_attribute("data-id")).unwrap_or_default(),
                session_id: row.get_attribute("data-session").unwrap_or_default(),
                group: row.get_attribute("data-in"),
                href: attribute(&link, "href"),
                is_folded: match attribute(&link, "aria-expanded").as_str() {
                    "" => row.hidden(),
                    expanded => expanded == "false",
                },
                title: link.map(text).unwrap_or_default(),
                is_outlier: row.has_attribute("data-outlier"),
                select_href: attribute(&select, "href"),
                select: select.map(text).unwrap_or_default(),
                body: find("[data-body]").map(|body| body.inner_html()).unwrap_or_default(),
                refusal: find("[data-reason]:not([hidden])").map(text),
                is_current: row.has_attribute("aria-current"),
                is_ticked: tick.as_ref().is_some_and(|tick| tick.is_ticked),
                digest: tick.map(|tick| tick.value),
                is_leaving: false,
            }
        }

        /// What the server says now, with what the reader has done.
        fn with_state_of(self, before: &Self) -> Self {
            let refusal = self.refusal.or_else(|| before.refusal.clone());
            Self {
                refusal,
                is_current: before.is_current,
                is_ticked: before.is_ticked && self.digest.is_some(),
                is_leaving: before.is_leaving,
                ..self
            }
        }
    }

    impl Row {
        /// The rows that the server sends now. Those that were there before stay the same rows.
        pub fn updated(before: &[Self], now: Vec<Item>) -> Vec<Self> {
            let unfolded: Vec<String> = before
                .iter()
                .filter_map(|row| row.get(|item| (item.is_heading && !item.is_folded).then(|| item.id.clone())))
                .collect();
            let mut rows: Vec<(i32, Self)> = Vec::new();
            // A group and single items keep the places that they had when the page was loaded: deciding the first
            // item of a group must not move the rest of it away.
            let mut place = -1;
            for mut item in now {
                let block = if item.is_heading { Some(&item.id) } else { item.group.as_ref() };
                let is_same = |row: &Self| match block {
                    Some(group) => row.get(|row| row.is_heading && row.id == *group),
                    None => row.key == item.id,
                };
                place = before.iter().position(is_same).map_or(place, |at| at as i32);
                if !item.is_outlier && block.is_some_and(|group| unfolded.contains(group)) {
                    item.is_folded = false;
                }
                let row = Self::new(item).merged(before);
                let at = rows.iter().position(|(other, _)| *other > place).unwrap_or(rows.len());
                rows.insert(at, (place, row));
            }
            rows.into_iter().map(|(_, row)| row).collect()
        }

        /// The row that was there before, with what the server says now; this one if it is new.
        fn merged(self, before: &[Self]) -> Self {
            let Some(row) = before.iter().find(|row| row.key == self.key) else { return self };
            let item = row.get(|before| self.get(Item::clone).with_state_of(before));
            if row.get(|before| *before != item) {
                row.item.set(item);
            }
            row.clone()
        }

        /// Reads its state without following it.
        pub fn get<T>(&self, read: impl FnOnce(&Item) -> T) -> T {
            self.item.with_untracked(read)
        }

        /// Whether it shows an item that was not decided here.
        pub fn is_open(&self) -> bool {
            self.get(|item| !item.is_heading && !item.is_leaving)
        }

        /// Whether it is on the screen.
        pub fn is_shown(&self) -> bool {
            self.is_open() && self.get(|item| !item.is_folded)
        }
    }
}
