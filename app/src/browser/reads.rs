//! Reads that replace what a part of a page shows.

use super::{dom, fetch};
use leptos::prelude::{GetValue as _, SetValue as _, StoredValue};

/// Pause before a failed read is repeated, in milliseconds.
pub const REPEAT_MS: i32 = 3_000;

/// Numbers the reads of one part, so that a late answer does not replace a newer one. A copy is the same state.
#[derive(Clone, Copy, Default)]
pub struct Reads {
    /// Number of the newest read.
    begun: StoredValue<u32>,
    /// Number of the read that is shown.
    shown: StoredValue<u32>,
}

impl Reads {
    /// Reads the HTML at an address, and once more after a pause if that fails: no signal may follow that would cause
    /// another read. `None` if the second attempt fails too, or if the answer of a newer read is shown.
    pub async fn text(self, address: &str) -> Option<String> {
        let number = self.begun.get_value() + 1;
        self.begun.set_value(number);
        let mut html = fetch::get_text(address).await;
        if html.is_err() {
            dom::pause(REPEAT_MS).await;
            if self.begun.get_value() != number {
                return None;
            }
            html = fetch::get_text(address).await;
        }
        let html = html.ok().filter(|_| self.shown.get_value() < number)?;
        self.shown.set_value(number);
        Some(html)
    }
}
