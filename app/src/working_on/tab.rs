//! What the recorder of one tab knows. Only in the WASM build.

use super::queue::Row;
use crate::browser::channel::Channel;

/// The state of the recorder on one page.
#[derive(Default)]
pub struct Tab {
    /// Queued events of this tab, in memory for the pagehide event, when the database can no longer be read.
    pub own: Vec<Row>,
    /// Whether `own` includes the events of earlier pages of this tab. Events are never sent without the ones before
    /// them.
    pub is_known: bool,
    /// Whether events are being sent.
    pub is_sending: bool,
    /// Whether the listeners of the page are attached.
    pub is_listening: bool,
    /// The channel to the other tabs.
    pub channel: Option<Channel>,
}
