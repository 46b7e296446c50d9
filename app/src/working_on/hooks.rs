//! Where the picker and the rest of the page meet. Only in the WASM build.

pub use super::state::watch_waiting;

use crate::browser::dom;
use std::cell::RefCell;

type Open = Box<dyn Fn() -> bool>;

thread_local! {
    static OPEN_MARKER: RefCell<Option<Open>> = const { RefCell::new(None) };
}

/// Opens the marker. False where nothing is worked on.
pub fn open_marker() -> bool {
    OPEN_MARKER.with_borrow(|open| open.as_ref().is_some_and(|open| open()))
}

/// Says what opens the marker.
pub fn on_open_marker(open: impl Fn() -> bool + 'static) {
    OPEN_MARKER.set(Some(Box::new(open)));
}

/// Workspace and person, as one name.
pub fn owner_of(tenant_id: &str, user_id: &str) -> String {
    format!("{tenant_id}/{user_id}")
}

/// Whether a toggle event says that its popover is open now.
pub fn opens(event: &web_sys::Event) -> bool {
    dom::text(event, "newState").as_deref() == Some("open")
}

/// Brings an option of the list into view.
pub fn show_option(at: usize) {
    if let Some(option) = dom::by_id(&format!("working-option-{at}")) {
        let options = web_sys::ScrollIntoViewOptions::new();
        options.set_block(web_sys::ScrollLogicalPosition::Nearest);
        option.scroll_into_view_with_scroll_into_view_options(&options);
    }
}
