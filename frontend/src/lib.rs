//! The WASM entry point: wakes the islands, nothing else.

use wasm_bindgen::prelude::wasm_bindgen;

// The islands are exported from `app` to JavaScript; naming it keeps them in.
pub use app;

/// Prepares the page for its islands. The loader in the document then calls each of them.
#[wasm_bindgen]
pub fn hydrate() {
    std::panic::set_hook(Box::new(|info| {
        leptos::logging::error!("{info}");
        show_banner();
    }));
    leptos::mount::hydrate_islands();
}

/// Says that the page has stopped being live. Links and forms go on working.
fn show_banner() {
    let document = leptos::prelude::document();
    if document.get_element_by_id("broken").is_some() {
        return;
    }
    let (Some(body), Ok(banner)) = (document.body(), document.create_element("p")) else { return };
    banner.set_id("broken");
    banner.set_class_name("broken");
    let _ = banner.set_attribute("role", "alert");
    banner.set_text_content(Some(
        "Part of this page stopped working. Everything is saved; reload the page to go on live.",
    ));
    let _ = body.append_child(&banner);
}
