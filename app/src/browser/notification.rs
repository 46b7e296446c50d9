//! Notifications of the operating system.

use super::dom;
use wasm_bindgen::JsCast;
use wasm_bindgen_futures::JsFuture;
use web_sys::{Event, Notification, NotificationOptions, NotificationPermission};

fn exist() -> bool {
    !dom::member(&dom::window(), "Notification").is_undefined()
}

/// Whether the person has allowed them.
pub fn are_allowed() -> bool {
    exist() && Notification::permission() == NotificationPermission::Granted
}

/// Whether the browser has none, or the person has forbidden them.
pub fn are_blocked() -> bool {
    !exist() || Notification::permission() == NotificationPermission::Denied
}

/// Asks the person whether they are allowed, and returns whether the question was answered. Browsers ask only after a
/// click.
pub async fn ask() -> bool {
    if !exist() {
        return false;
    }
    let Ok(asked) = Notification::request_permission() else { return false };
    JsFuture::from(asked).await.is_ok()
}

/// Shows a notification that replaces an earlier one with the same tag. A click opens the page at this path.
pub fn show(title: &str, body: &str, tag: &str, path: String) {
    let options = NotificationOptions::new();
    options.set_body(body);
    options.set_tag(tag);
    let Ok(shown) = Notification::new_with_options(title, &options) else { return };
    dom::on(&shown, "click", move |event: Event| {
        let _ = dom::window().focus();
        let _ = dom::window().location().set_href(&path);
        if let Some(shown) = event.target().and_then(|target| target.dyn_into::<Notification>().ok()) {
            shown.close();
        }
    });
}
