//! Polls the progress of an import or export. Only in the WASM build.

use crate::browser::{dom, fetch, patch};
use wasm_bindgen_futures::spawn_local;

const ASK_EVERY_MS: i32 = 500;

/// Polls until the work has ended.
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
            // Only the whole page shows the result.
            let _ = dom::window().location().reload();
            return;
        }
        patch::update(&shown, &new);
    }
    start();
}
