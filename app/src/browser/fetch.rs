//! Reading from our own server. Cookies authenticate; the browser sends them by itself.

use super::dom::window;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::Response;

/// Why nothing was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    /// The server could not be reached.
    Unreachable,
    /// It answered with this status.
    Status(u16),
}

/// An answer whose status says that it worked.
pub async fn get(url: &str) -> Result<Response, Failed> {
    let answer = JsFuture::from(window().fetch_with_str(url)).await.map_err(|_| Failed::Unreachable)?;
    let response: Response = answer.dyn_into().map_err(|_| Failed::Unreachable)?;
    // A redirect means the sign-in page: its HTML must never be taken for a fragment.
    match (response.ok(), response.redirected()) {
        (true, false) => Ok(response),
        (true, true) => Err(Failed::Status(401)),
        (false, _) => Err(Failed::Status(response.status())),
    }
}

/// The text of an answer.
pub async fn text(response: &Response) -> Result<String, Failed> {
    let body = response.text().map_err(|_| Failed::Unreachable)?;
    JsFuture::from(body).await.ok().and_then(|text| text.as_string()).ok_or(Failed::Unreachable)
}

/// The text at an address.
pub async fn get_text(url: &str) -> Result<String, Failed> {
    text(&get(url).await?).await
}

/// The JSON at an address, as a JavaScript value.
pub async fn get_json(url: &str) -> Result<JsValue, Failed> {
    js_sys::JSON::parse(&get_text(url).await?).map_err(|_| Failed::Unreachable)
}

/// A header of an answer.
pub fn header(response: &Response, name: &str) -> Option<String> {
    response.headers().get(name).ok().flatten()
}
