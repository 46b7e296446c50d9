//! The state of the inbox's page: one store of items that list, selection, detail and undo notice show.

use super::{
    api::UndoOffer,
    content::Content,
    item::{Item, Row},
};
#[cfg(feature = "hydrate")]
use super::{reading::Reading, sent::Sent};
#[cfg(feature = "hydrate")]
use crate::browser::dom::HtmlElement;
use crate::fragment::Slot;
use leptos::{html, prelude::*};

/// State of the inbox's page. A copy is the same state.
#[derive(Clone, Copy)]
pub struct Store {
    /// The rows of the list, in its order.
    pub rows: RwSignal<Vec<Row>>,
    /// Whether the browser runs the page; before, it shows what the server rendered.
    pub is_live: RwSignal<bool>,
    /// Whether an item was opened. A narrow screen then shows the item, else the list.
    pub is_opened: RwSignal<bool>,
    /// The decision that can be undone.
    pub offer: RwSignal<Option<UndoOffer>>,
    /// Seconds that the page has counted. Every countdown follows from it.
    seconds: RwSignal<u32>,
    /// When `offer` ends, in seconds that the page has counted.
    offer_ends: RwSignal<u32>,
    /// Number of decisions of which it is not known whether they were recorded.
    pub unsent: RwSignal<usize>,
    /// Why the last request failed. Empty if nothing failed since.
    pub failure: RwSignal<String>,
    /// The text for screen readers.
    pub announcement: RwSignal<String>,
    /// Id of the item that was selected last.
    selected_last: StoredValue<Option<String>>,
    /// The element of the list.
    pub list: NodeRef<html::Ul>,
    /// What an empty list says.
    pub empty: Slot,
    /// The links to other pages.
    pub pager: Slot,
    /// Sessions that wait for an answer in a terminal.
    pub terminal: Slot,
    /// The item beside the list.
    pub detail: Slot,
    /// Buttons and links that never change.
    pub fixed: [Slot; 3],
    /// Query with which the list is read.
    #[cfg(feature = "hydrate")]
    pub query: StoredValue<String>,
    /// Number of the newest selection.
    #[cfg(feature = "hydrate")]
    pub selection: StoredValue<u32>,
    /// What was sent and not confirmed.
    #[cfg(feature = "hydrate")]
    pub unconfirmed: StoredValue<Vec<Sent>, LocalStorage>,
    /// Path of the item that the page shows.
    #[cfg(feature = "hydrate")]
    pub path: StoredValue<String>,
    #[cfg(feature = "hydrate")]
    reading: StoredValue<Reading>,
    /// The shown item if it can be undone, and when that ends, in seconds that the page has counted.
    #[cfg(feature = "hydrate")]
    held: StoredValue<Option<(String, u32)>>,
    /// Id of the item whose questions are about to be hidden.
    #[cfg(feature = "hydrate")]
    pub hiding: StoredValue<Option<String>>,
    /// The button that was pressed last: a decision that cannot be undone needs a second press of the same one.
    #[cfg(feature = "hydrate")]
    pub pressed_last: StoredValue<Option<(HtmlElement, Option<String>)>, LocalStorage>,
    /// Items that can be shown at once, by id.
    #[cfg(feature = "hydrate")]
    cached: StoredValue<Vec<(String, CachedItem)>, LocalStorage>,
}

/// An item that can be shown at once.
#[cfg(feature = "hydrate")]
#[derive(Clone)]
pub enum CachedItem {
    /// HTML of the server. An outdated one was read before the list has changed: it is shown, and read again.
    Html { html: String, is_outdated: bool },
    /// The element into which the reviewer has typed.
    Typed(HtmlElement),
}

impl Store {
    /// The state of a page with this content.
    pub fn new(content: &Content) -> Self {
        Self {
            rows: RwSignal::new(content.rows.iter().cloned().map(Row::new).collect()),
            is_live: RwSignal::new(false),
            is_opened: RwSignal::new(content.is_opened),
            offer: RwSignal::new(content.offer.clone()),
            seconds: RwSignal::new(0),
            offer_ends: RwSignal::new(content.offer.as_ref().map_or(0, |offer| offer.seconds_left)),
            unsent: RwSignal::new(0),
            failure: RwSignal::new(String::new()),
            announcement: RwSignal::new(String::new()),
            selected_last: StoredValue::new(None),
            list: NodeRef::new(),
            empty: Slot::default(),
            pager: Slot::default(),
            terminal: Slot::default(),
            detail: Slot::default(),
            fixed: [Slot::default(); 3],
            #[cfg(feature = "hydrate")]
            query: StoredValue::new(content.query.clone()),
            #[cfg(feature = "hydrate")]
            selection: StoredValue::new(0),
            #[cfg(feature = "hydrate")]
            unconfirmed: StoredValue::new_local(Vec::new()),
            #[cfg(feature = "hydrate")]
            path: StoredValue::new(String::new()),
            #[cfg(feature = "hydrate")]
            reading: StoredValue::new(Reading::default()),
            #[cfg(feature = "hydrate")]
            held: StoredValue::new(None),
            #[cfg(feature = "hydrate")]
            hiding: StoredValue::new(None),
            #[cfg(feature = "hydrate")]
            pressed_last: StoredValue::new_local(None),
            #[cfg(feature = "hydrate")]
            cached: StoredValue::new_local(Vec::new()),
        }
    }

    /// Whole seconds until the offer ends. Follows the count.
    pub fn seconds_left(self) -> u32 {
        self.offer_ends.get().saturating_sub(self.seconds.get())
    }

    /// Number of selected items. Follows the rows.
    pub fn selected_count(self) -> usize {
        self.rows.with(|rows| rows.iter().filter(|row| row.item.with(is_selected)).count())
    }

    /// Selects an item, or takes it out of the selection.
    pub fn tick(self, row: &Row, is_ticked: bool) {
        row.item.update(|item| item.is_ticked = is_ticked);
        self.selected_last.set_value(Some(row.key.clone()));
    }

    /// What the notice of failed decisions says; `None` if nothing failed. Follows the rows.
    pub fn failure_words(self) -> Option<String> {
        let unsent = self.unsent.get();
        let refused = self.rows.with(|rows| rows.iter().filter(|row| row.item.with(|i| i.refusal.is_some())).count());
        let why = self.failure.get();
        let (count, said) = if unsent > 0 { (unsent, "not confirmed. ") } else { (refused, "refused. ") };
        match count {
            0 => (!why.is_empty()).then_some(why),
            1 => Some(["1 decision was ", said, &why].concat()),
            _ => Some([&count.to_string(), " decisions were ", said, &why].concat()),
        }
    }

    /// Selects every item whether it has similar ones or not, or clears the selection if all are selected.
    pub fn select_all(self) {
        self.toggle(|item| !item.is_heading);
    }

    fn toggle(self, among: impl Fn(&Item) -> bool) {
        let can = |item: &Item| item.digest.is_some() && !item.is_leaving && !item.is_outlier && among(item);
        let mut rows = self.rows.get_untracked();
        rows.retain(|row| row.item.with_untracked(can));
        let is_ticked = !rows.iter().all(|row| row.item.with_untracked(|item| item.is_ticked));
        set_ticked(&rows, is_ticked);
    }
}

const fn is_selected(item: &Item) -> bool {
    item.is_ticked && !item.is_leaving
}

fn set_ticked(rows: &[Row], is_ticked: bool) {
    for row in rows {
        if row.item.with_untracked(|item| item.is_ticked != is_ticked) {
            row.item.update(|item| item.is_ticked = is_ticked);
        }
    }
}

#[cfg(feature = "hydrate")]
impl Store {
    /// Selects the items of a group, or clears their selection if all are selected.
    pub fn select_group(self, group: &str) {
        self.toggle(|item| item.group.as_deref() == Some(group));
    }

    /// Selects every row from the one selected last to the one with this key.
    pub fn select_range(self, key: &str) {
        let rows = self.rows.get_untracked();
        let place = |key: &str| rows.iter().position(|row| row.key == key);
        let last = self.selected_last.get_value();
        if let (Some(one), Some(other)) = (last.and_then(|last| place(&last)), place(key)) {
            let (from, to) = (one.min(other), one.max(other));
            let range = rows.iter().take(to + 1).skip(from);
            let range = range.filter(|row| row.get(|item| item.digest.is_some()));
            set_ticked(&range.cloned().collect::<Vec<_>>(), true);
        }
    }

    /// Folds or unfolds a group.
    pub fn fold(self, group: &str, is_folded: bool) {
        for row in self.rows.get_untracked() {
            if row.item.with_untracked(|item| {
                item.group.as_deref() == Some(group) && !item.is_outlier || item.is_heading && item.id == group
            }) {
                row.item.update(|item| item.is_folded = is_folded);
            }
        }
    }

    /// Shows what can be undone now.
    pub fn set_offer(self, offer: Option<UndoOffer>) {
        let left = offer.as_ref().map_or(0, |offer| offer.seconds_left);
        self.offer_ends.set(self.seconds.get_untracked() + left);
        self.offer.set(offer);
    }

    /// Counts a second, and withdraws the offer after its last one.
    pub fn count_down(self) {
        let is_over = self.offer_ends.get_untracked() <= self.seconds.get_untracked();
        if is_over && self.offer.with_untracked(Option::is_some) {
            self.offer.set(None);
        }
        self.seconds.update(|seconds| *seconds += 1);
    }

    /// Whole seconds until the decision on the shown item takes effect. Follows the count. `shown` has the id of the
    /// item and the seconds that its HTML names, which count from when it is first seen here.
    pub fn held_seconds_left(self, shown: Option<(String, u32)>) -> u32 {
        let now = self.seconds.get();
        let held = shown.map(|(id, left)| {
            let known = self.held.get_value().filter(|(of, _)| *of == id);
            known.unwrap_or_else(|| {
                let is_offered = |offer: &Option<UndoOffer>| offer.as_ref().is_some_and(|o| o.items.contains(&id));
                let is_offered = self.offer.with_untracked(is_offered);
                let ends = if is_offered { self.offer_ends.get_untracked() } else { now + left };
                (id, ends)
            })
        });
        let left = held.as_ref().map_or(0, |(_, ends)| ends.saturating_sub(now));
        self.held.set_value(held);
        left
    }

    /// Announces a text to screen readers.
    pub fn announce(self, words: &str) {
        self.announcement.set(words.to_owned());
    }

    /// Reads or changes the bookkeeping of the list's requests.
    pub fn reading<T>(self, with: impl FnOnce(&mut Reading) -> T) -> Option<T> {
        self.reading.try_update_value(with)
    }

    /// The row with this key.
    pub fn row(self, key: &str) -> Option<Row> {
        self.rows.with_untracked(|rows| rows.iter().find(|row| row.key == key).cloned())
    }

    /// The row whose item is shown beside the list.
    pub fn current(self) -> Option<Row> {
        self.rows.with_untracked(|rows| rows.iter().find(|row| row.get(|item| item.is_current)).cloned())
    }

    /// Makes this row the only current one.
    pub fn make_current(self, row: &Row) {
        if let Some(before) = self.current().filter(|before| before.key != row.key) {
            before.item.update(|item| item.is_current = false);
        }
        row.item.update(|item| (item.is_current, item.refusal) = (true, None));
        if self.unsent.get_untracked() == 0 {
            self.failure.set(String::new());
        }
    }

    /// Whether something is selected.
    pub fn is_selecting(self) -> bool {
        self.rows.with_untracked(|rows| rows.iter().any(|row| row.get(is_selected)))
    }

    /// The keys of the selected rows. Follows the rows.
    pub fn selected_keys(self) -> Vec<String> {
        let rows = self.rows.get();
        rows.into_iter().filter(|row| row.item.with(is_selected)).map(|row| row.key).collect()
    }

    /// The row to open after this one: the next one of its group, folded or not, else the next on the screen, else the
    /// previous one, and at last one of a folded group.
    pub fn next(self, row: &Row) -> Option<Row> {
        self.rows.with_untracked(|rows| {
            let at = rows.iter().position(|other| other.key == row.key)?;
            let (group, before) = (row.get(|item| item.group.clone()), rows.iter().take(at).rev());
            let near: Vec<&Row> = rows.iter().skip(at + 1).chain(before).filter(|row| row.is_open()).collect();
            let of_group = |row: &&&Row| group.is_some() && row.get(|item| item.group == group);
            let found = near.iter().find(of_group).or_else(|| near.iter().find(|row| row.is_shown()));
            found.or(near.first()).map(|row| (*row).clone())
        })
    }

    /// The first row on the screen.
    pub fn first_shown(self) -> Option<Row> {
        self.rows.with_untracked(|rows| rows.iter().find(|row| row.is_shown()).cloned())
    }

    /// Unfolds the group of a row.
    pub fn unfold(self, row: &Row) {
        if let Some(group) = row.get(|item| item.group.clone()) {
            self.fold(&group, false);
        }
    }

    /// The number of a new selection.
    pub fn next_selection(self) -> u32 {
        self.selection.update_value(|number| *number += 1);
        self.selection.get_value()
    }

    /// Keeps what was sent and not confirmed.
    pub fn keep_unconfirmed(self, sent: Sent) {
        self.unconfirmed.update_value(|all| all.push(sent));
        self.count_unconfirmed();
    }

    /// Takes all that was not confirmed.
    pub fn take_unconfirmed(self) -> Vec<Sent> {
        let all = self.unconfirmed.try_update_value(std::mem::take).unwrap_or_default();
        self.count_unconfirmed();
        self.failure.set(String::new());
        all
    }

    /// Forgets what was not confirmed about these rows.
    pub fn forget_unconfirmed(self, rows: &[Row]) {
        let is_other = |sent: &Sent| !sent.leaving.iter().any(|row| rows.iter().any(|other| other.key == row.key));
        self.unconfirmed.update_value(|all| all.retain(is_other));
        self.count_unconfirmed();
    }

    /// Forgets what was not confirmed about rows that are gone: it was recorded, or someone else has decided.
    pub fn prune_unconfirmed(self) {
        let is_there =
            |sent: &Sent| sent.leaving.is_empty() || sent.leaving.iter().any(|row| self.row(&row.key).is_some());
        self.unconfirmed.update_value(|all| all.retain(is_there));
        self.count_unconfirmed();
    }

    fn count_unconfirmed(self) {
        let count: usize = self.unconfirmed.with_value(|all| all.iter().map(Sent::decisions).sum());
        if count == 0 && self.unsent.get_untracked() > 0 {
            self.failure.set(String::new());
        }
        self.unsent.set(count);
    }

    /// Removes rows.
    pub fn remove(self, gone: &[Row]) {
        self.rows.update(|rows| rows.retain(|row| !gone.iter().any(|gone| gone.key == row.key)));
    }

    /// Shows the rows that the server sends now.
    pub fn set_rows(self, now: Vec<Item>) {
        let rows = self.rows.with_untracked(|before| Row::updated(before, now));
        self.cached.update_value(|cached| {
            cached.retain(|(id, _)| rows.iter().any(|row| row.key == *id));
            for (id, cached) in cached {
                // What was refused is as the server has it.
                let is_refused = rows.iter().any(|row| row.key == *id && row.get(|item| item.refusal.is_some()));
                if let CachedItem::Html { is_outdated, .. } = cached
                    && !is_refused
                {
                    *is_outdated = true;
                }
            }
        });
        let same = |(a, b): (&Row, &Row)| a.key == b.key;
        if !self.rows.with_untracked(|old| old.len() == rows.len() && old.iter().zip(&rows).all(same)) {
            self.rows.set(rows);
        }
    }

    /// The item with this id, if it can be shown at once.
    pub fn cached(self, id: &str) -> Option<CachedItem> {
        self.cached.with_value(|cached| cached.iter().find(|(of, _)| of == id).map(|(_, cached)| cached.clone()))
    }

    /// Keeps an item to show it at once.
    pub fn keep(self, id: &str, item: CachedItem) {
        self.cached.update_value(|cached| {
            cached.retain(|(of, _)| of != id);
            cached.push((id.to_owned(), item));
        });
    }
}
