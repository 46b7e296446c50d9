//! Focus, scrolling and the clock, where the components meet the browser. On the server nothing happens.

use leptos::{ev::Event, html, prelude::*};

/// Focuses the field of the marker dialog.
pub fn focus(field: NodeRef<html::Textarea>) {
    #[cfg(feature = "hydrate")]
    if let Some(field) = field.get_untracked() {
        let _ = field.focus();
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = field;
}

/// Focuses a button if the focus is inside the part that it replaces.
pub fn move_focus(from: NodeRef<html::Div>, to: NodeRef<html::Button>) {
    #[cfg(feature = "hydrate")]
    if let (Some(from), Some(to)) = (from.get_untracked(), to.get_untracked())
        && from.contains(document().active_element().as_deref())
    {
        let _ = to.focus();
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = (from, to);
}

/// Scrolls an option of the list into view.
pub fn scroll_to(option: NodeRef<html::Li>) {
    #[cfg(feature = "hydrate")]
    if let Some(option) = option.get_untracked() {
        crate::browser::dom::scroll_to_nearest(&option);
    }
    #[cfg(not(feature = "hydrate"))]
    let _ = option;
}

/// Whether a popover opens with this event; otherwise it closes.
pub fn opens(event: &Event) -> bool {
    #[cfg(feature = "hydrate")]
    return crate::browser::dom::text(event, "newState").as_deref() == Some("open");
    #[cfg(not(feature = "hydrate"))]
    {
        let _ = event;
        false
    }
}

/// An RFC 3339 time as milliseconds since 1970. Not a number if it cannot be read.
pub fn milliseconds_of(time: &str) -> f64 {
    #[cfg(feature = "hydrate")]
    return js_sys::Date::parse(time);
    #[cfg(not(feature = "hydrate"))]
    {
        let _ = time;
        f64::NAN
    }
}
