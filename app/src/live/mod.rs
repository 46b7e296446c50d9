//! One live stream per browser, however many tabs. Only in the WASM build.
//!
//! The tab that holds the Web Lock reads `GET /api/live` and tells the others over a BroadcastChannel.
//! Signals carry no content: whoever is interested reads again. After a gap everybody is told to
//! read again, so nothing depends on a signal arriving.

mod hub;
mod leader;

pub use hub::{Signal, State, leads, subscribe};

use crate::browser::dom;
use wasm_bindgen::{JsCast, JsValue, closure::Closure};

/// Joins the stream; `watch` hears of its state.
pub fn start(watch: impl Fn(State) + 'static) {
    hub::watch(watch);
    hub::open_channel();
    compete();
}

/// Asks for the lock and leads while it is held: until this page goes away.
fn compete() {
    let navigator = JsValue::from(dom::window().navigator());
    let locks = js_sys::Reflect::get(&navigator, &"locks".into()).unwrap_or(JsValue::UNDEFINED);
    let request =
        js_sys::Reflect::get(&locks, &"request".into()).ok().and_then(|f| f.dyn_into::<js_sys::Function>().ok());
    let Some(request) = request else {
        // Without Web Locks (old browsers, plain http by another name) each tab reads for itself.
        leader::lead();
        return;
    };
    let held = Closure::once_into_js(|| {
        leader::lead();
        js_sys::Promise::new(&mut |_, _| {})
    });
    let _ = request.call2(&locks, &"shiftbook-live".into(), &held);
}
