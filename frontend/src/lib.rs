//! The WASM entry point, which hydrates the islands.

use std::sync::atomic::{AtomicBool, Ordering};
use wasm_bindgen::prelude::wasm_bindgen;

// `app` exports the islands to JavaScript. Without this line the linker would drop them.
pub use app;

/// Prepares the page for hydration. The loader script in the document then hydrates each island.
#[wasm_bindgen]
pub fn hydrate() {
    std::panic::set_hook(Box::new(|info| {
        leptos::logging::error!("{info}");
        show_banner();
    }));
    leptos::mount::hydrate_islands();
}

/// Shows that live updates have stopped, once. Links and forms still work.
fn show_banner() {
    static IS_SHOWN: AtomicBool = AtomicBool::new(false);
    if IS_SHOWN.swap(true, Ordering::Relaxed) {
        return;
    }
    let document = leptos::prelude::document();
    let (Some(body), Ok(banner)) = (document.body(), document.create_element("p")) else { return };
    banner.set_id("broken");
    banner.set_class_name("broken");
    let _ = banner.set_attribute("role", "alert");
    banner.set_text_content(Some(
        "Part of this page stopped working. Everything is saved; reload the page to get live updates again.",
    ));
    let _ = body.append_child(&banner);
}
