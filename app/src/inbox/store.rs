//! The state of the inbox page. Components show its signals. Only in the WASM build.

use super::{api::UndoOffer, reading::Reading};
use leptos::prelude::*;

/// State of the inbox page. Copies refer to the same state.
#[derive(Clone, Copy)]
pub struct Store {
    /// The decision that can be undone.
    pub offer: RwSignal<Option<UndoOffer>>,
    /// Whole seconds until `offer` ends.
    pub seconds_left: RwSignal<u32>,
    /// Why a request that belongs to no row was refused.
    pub refused: RwSignal<Vec<String>>,
    /// What screen readers are told.
    pub announcement: RwSignal<String>,
    /// Number of selected items.
    pub selected: RwSignal<usize>,
    /// Id of the item that was selected last.
    pub selected_last: StoredValue<Option<String>>,
    /// Path of the item that the page shows.
    pub path: StoredValue<String>,
    /// Query with which the list is read.
    pub query: StoredValue<String>,
    reading: StoredValue<Reading>,
}

impl Store {
    /// The state of a page at this path, whose list is read with this query.
    pub fn new(path: String, query: String, announcement: RwSignal<String>) -> Self {
        Self {
            offer: RwSignal::new(None),
            seconds_left: RwSignal::new(0),
            refused: RwSignal::new(Vec::new()),
            announcement,
            selected: RwSignal::new(0),
            selected_last: StoredValue::new(None),
            path: StoredValue::new(path),
            query: StoredValue::new(query),
            reading: StoredValue::new(Reading::default()),
        }
    }

    /// Shows what can be undone now.
    pub fn set_offer(self, offer: Option<UndoOffer>) {
        self.seconds_left.set(offer.as_ref().map_or(0, |offer| offer.seconds_left));
        self.offer.set(offer);
    }

    /// Counts the seconds down, and withdraws the offer after the last one.
    pub fn count_down(self) {
        match self.seconds_left.get_untracked() {
            0 => {
                if self.offer.with_untracked(Option::is_some) {
                    self.offer.set(None);
                }
            }
            left => self.seconds_left.set(left - 1),
        }
    }

    /// Announces a text to screen readers.
    pub fn announce(self, words: &str) {
        self.announcement.set(words.to_owned());
    }

    /// Reads or changes the bookkeeping of the list's requests.
    pub fn reading<T>(self, with: impl FnOnce(&mut Reading) -> T) -> Option<T> {
        self.reading.try_update_value(with)
    }
}
