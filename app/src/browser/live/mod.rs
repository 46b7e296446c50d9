//! One live stream per browser, however many tabs it has. Only in the WASM build.
//!
//! The tab that holds the Web Lock reads `GET /api/live` and forwards signals to the other tabs over a
//! BroadcastChannel. Signals carry no content: listeners read what they show again. After a gap all listeners read
//! again, so no signal has to arrive.

mod hub;
mod leader;

pub use hub::{Signal, State, is_leader, subscribe};

use crate::browser::dom;
use wasm_bindgen::{JsCast, JsValue, closure::Closure};

/// Joins the stream; `watch` is called with its state.
pub fn start(watch: impl Fn(State) + 'static) {
    hub::watch(watch);
    hub::open_channel(leader::open_if_signed_out);
    request_lock();
}

/// Requests the lock, and leads while it holds the lock: until this page is closed.
fn request_lock() {
    let navigator = JsValue::from(dom::window().navigator());
    let locks = js_sys::Reflect::get(&navigator, &"locks".into()).unwrap_or(JsValue::UNDEFINED);
    let request =
        js_sys::Reflect::get(&locks, &"request".into()).ok().and_then(|f| f.dyn_into::<js_sys::Function>().ok());
    let Some(request) = request else {
        // Without Web Locks (old browsers, plain HTTP on a name other than localhost) each tab reads its own stream.
        leader::lead();
        return;
    };
    let held = Closure::once_into_js(|| {
        leader::lead();
        js_sys::Promise::new(&mut |_, _| {})
    });
    let _ = request.call2(&locks, &"shiftbook-live".into(), &held);
}
