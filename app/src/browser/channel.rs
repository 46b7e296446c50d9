//! Messages between the tabs of one browser.

use super::dom;
use wasm_bindgen::JsValue;
use web_sys::{BroadcastChannel, MessageEvent};

/// A channel of all tabs of this browser. A tab does not receive what it sends.
#[derive(Debug)]
pub struct Channel(BroadcastChannel);

impl Channel {
    /// Joins the channel of this name, and calls with every text that another tab sends. `None` if the browser has no
    /// channels.
    pub fn join(name: &str, mut receive: impl FnMut(&str) + 'static) -> Option<Self> {
        let channel = BroadcastChannel::new(name).ok()?;
        dom::on(&channel, "message", move |event: MessageEvent| {
            if let Some(message) = event.data().as_string() {
                receive(&message);
            }
        });
        Some(Self(channel))
    }

    /// Sends a text to the other tabs.
    pub fn send(&self, message: &str) {
        let _ = self.0.post_message(&JsValue::from_str(message));
    }
}
