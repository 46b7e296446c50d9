//! Web Locks: work that only one tab at a time does. The browser releases the lock of a closed tab.

use super::dom;
use std::{future::Future, pin::Pin};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wasm_bindgen_futures::{JsFuture, future_to_promise};

/// Runs `work` while this tab holds the lock. With `wait` it waits for the lock; otherwise it does nothing if another
/// tab holds it. Browsers without Web Locks (plain HTTP on a name other than localhost) run it at once.
pub async fn exclusive(name: &str, wait: bool, work: impl Future<Output = ()> + 'static) {
    exclusively(name, wait, Box::pin(work)).await;
}

async fn exclusively(name: &str, wait: bool, work: Pin<Box<dyn Future<Output = ()>>>) {
    let locks = dom::member(&dom::window().navigator(), "locks");
    let Ok(request) = dom::member(&locks, "request").dyn_into::<js_sys::Function>() else {
        work.await;
        return;
    };
    let held = Closure::once_into_js(move |lock: JsValue| -> JsValue {
        if lock.is_null() {
            return JsValue::UNDEFINED;
        }
        future_to_promise(async move {
            work.await;
            Ok(JsValue::UNDEFINED)
        })
        .into()
    });
    let options = js_sys::Object::new();
    let _ = js_sys::Reflect::set(&options, &"ifAvailable".into(), &JsValue::from_bool(!wait));
    let asked = request.call3(&locks, &name.into(), &options, &held);
    if let Some(asked) = asked.ok().and_then(|asked| asked.dyn_into::<js_sys::Promise>().ok()) {
        let _ = JsFuture::from(asked).await;
    }
}
