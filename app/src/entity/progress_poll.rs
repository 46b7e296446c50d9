//! Asking how far an import, or an export, has got. Only in the WASM build.

use crate::browser::{dom, fetch, patch};
use wasm_bindgen_futures::spawn_local;

const ASK_EVERY_MS: i32 = 500;

/// Asks until it has ended.
pub fn start() {
    dom::after(ASK_EVERY_MS, || spawn_local(ask()));
}

async fn ask() {
    let Some(shown) = dom::by_id("import-progress") else { return };
    let Some(source) = shown.get_attribute("data-progress") else { return };
    if let Ok(html) = fetch::get_text(&source).await
        && let Some(new) = patch::parse(&html).and_then(|fragment| patch::children(&fragment).into_iter().next())
    {
        if !new.has_attribute("data-running") {
            // What has come of it is on the page itself.
            let _ = dom::window().location().reload();
            return;
        }
        patch::update(&shown, &new);
    }
    start();
}
