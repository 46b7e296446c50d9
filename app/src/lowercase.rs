//! Lower case by the browser's tables: Rust's own would be part of the WASM.

/// A text in lower case.
#[cfg(feature = "hydrate")]
pub fn lowercase(text: &str) -> String {
    js_sys::JsString::from(text).to_lower_case().into()
}

/// A text in lower case.
#[cfg(not(feature = "hydrate"))]
pub fn lowercase(text: &str) -> String {
    text.to_lowercase()
}
