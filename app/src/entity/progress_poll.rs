//! Asking how far an import has got. Only in the WASM build.

use crate::browser::{dom, fetch, patch};
use wasm_bindgen_futures::spawn_local;

const ASK_EVERY_MS: i32 = 500;

/// Asks until the import has ended.
pub fn start() {
    dom::after(ASK_EVERY_MS, || spawn_local(ask()));
}

async fn ask() {
    let Some(shown) = dom::by_id("import-progress") else { return };
    let Some(id) = shown.get_attribute("data-import-id") else { return };
    if let Ok(html) = fetch::get_text(&format!("/imports/{id}/progress")).await
        && let Some(new) = patch::parse(&html).and_then(|fragment| patch::children(&fragment).into_iter().next())
    {
        if !new.has_attribute("data-running") {
            // The report of errors is on the page itself.
            let _ = dom::window().location().reload();
            return;
        }
        patch::update(&shown, &new);
    }
    start();
}
