//! Who changed which block in the last seconds, as the log says it. Programs and agents are shown there; people are
//! shown by their presence, with their names.

use crate::browser::dom;
use leptos::prelude::*;

/// How long the author of a change is shown beside its block, milliseconds.
const SHOWN_MS: i32 = 8_000;

/// An author at a block.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Peer {
    block: String,
    name: String,
    /// Distinguishes changes, so that the newest one decides how long the author is shown.
    change: u64,
}

/// The other authors. A copy is the same state.
#[derive(Clone, Copy)]
pub struct Peers {
    shown: RwSignal<Vec<Peer>>,
    changes: StoredValue<u64>,
    /// The block with the cursor of this person.
    own: StoredValue<String>,
    /// What is read out: someone changes the block with the cursor.
    pub announcement: RwSignal<String>,
}

impl Peers {
    /// No one else.
    pub fn new() -> Self {
        Self {
            shown: RwSignal::new(Vec::new()),
            changes: StoredValue::new(0),
            own: StoredValue::new(String::new()),
            announcement: RwSignal::new(String::new()),
        }
    }

    /// The cursor of this person is in a block.
    pub fn mark(self, block: &str) {
        if self.own.with_value(|own| own != block) {
            self.own.set_value(block.to_owned());
        }
    }

    /// Someone else changed a block: an actor, and what the actor is called.
    pub fn wrote(self, (actor, name): (&str, String), block: &str) {
        let change = self.changes.try_update_value(|changes| {
            *changes += 1;
            *changes
        });
        let (Some(change), at) = (change, block.to_owned()) else { return };
        if self.own.with_value(|own| own == block) {
            self.announcement.set([&name, " changes this block."].concat());
        }
        if actor.starts_with("user:") {
            return;
        }
        self.shown.update(|shown| {
            shown.retain(|peer| peer.block != at || peer.name != name);
            shown.push(Peer { block: at, name, change });
        });
        dom::after(SHOWN_MS, move || {
            self.shown.update(|shown| shown.retain(|peer| peer.change != change));
        });
    }

    /// Names of those at a block, for the view.
    pub fn at(self, block: &str) -> String {
        self.shown.with(|shown| {
            let names = shown.iter().filter(|peer| peer.block == block).map(|peer| peer.name.as_str());
            names.collect::<Vec<_>>().join(", ")
        })
    }
}
