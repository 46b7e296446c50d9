//! The state of the work queue on the page: what the strip shows, and what is read again after each signal.

use crate::fragment::Slot;
use leptos::prelude::RwSignal;

/// What changes on the page. A copy is the same state.
#[derive(Clone, Copy)]
pub struct Queue {
    /// Whether everyone's work is shown, not only the reader's.
    pub everyone: bool,
    /// The counts, in the order of the buckets; absent while unknown.
    pub counts: RwSignal<[Option<u32>; 5]>,
    /// The hours of each bucket, in their order.
    pub trends: [Slot; 5],
    /// What is below the strip: a list for each bucket.
    pub sections: Slot,
}
