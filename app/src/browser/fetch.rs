//! Requests to our own server. The browser adds the session cookie.

use super::dom::{self, window};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{FormData, HtmlElement, HtmlFormElement, Request, RequestInit, Response, UrlSearchParams};

/// Why a request failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failed {
    /// The server could not be reached.
    Unreachable,
    /// The server responded with this status.
    Status(u16),
}

/// Sends a GET request. Fails unless the response is successful.
pub async fn get(url: &str) -> Result<Response, Failed> {
    let answer = JsFuture::from(window().fetch_with_str(url)).await.map_err(|_| Failed::Unreachable)?;
    let response: Response = answer.dyn_into().map_err(|_| Failed::Unreachable)?;
    // The server redirects to the sign-in page, whose HTML must not be used as a fragment.
    match (response.ok(), response.redirected()) {
        (true, false) => Ok(response),
        (true, true) => Err(Failed::Status(401)),
        (false, _) => Err(Failed::Status(response.status())),
    }
}

/// The body of a response as text.
pub async fn text(response: &Response) -> Result<String, Failed> {
    let body = response.text().map_err(|_| Failed::Unreachable)?;
    JsFuture::from(body).await.ok().and_then(|text| text.as_string()).ok_or(Failed::Unreachable)
}

/// Sends a GET request and returns the body as text.
pub async fn get_text(url: &str) -> Result<String, Failed> {
    text(&get(url).await?).await
}

/// Sends a GET request and returns the body as a JavaScript value.
pub async fn get_json(url: &str) -> Result<JsValue, Failed> {
    js_sys::JSON::parse(&get_text(url).await?).map_err(|_| Failed::Unreachable)
}

/// The message for a request without a response.
pub const UNREACHABLE: &str = "The server cannot be reached.";

/// The message for a request after the sign-in has ended. The typed text is still there.
pub const SIGNED_OUT: &str = "You are signed out. Sign in on another tab, then send it again.";

/// The encoded fields of a form, including the pressed button. `None` for another element.
pub fn fields(form: &HtmlElement, pressed: Option<&HtmlElement>) -> Option<String> {
    let data = FormData::new_with_form(form.dyn_ref::<HtmlFormElement>()?).ok()?;
    if let Some(pressed) = pressed {
        let get = |name| pressed.get_attribute(name).unwrap_or_default();
        let _ = data.append_with_str(&get("name"), &get("value"));
    }
    let fields = UrlSearchParams::new_with_str_sequence_sequence(&data).ok()?;
    Some(String::from(fields.to_string()))
}

/// Named texts, encoded like the fields of a form.
pub fn encoded(named: &[(&str, &str)]) -> String {
    let Ok(fields) = UrlSearchParams::new() else { return String::new() };
    named.iter().for_each(|(name, value)| fields.append(name, value));
    String::from(fields.to_string())
}

/// Largest body of a `keepalive` request, bytes; browsers allow 64 KiB.
pub const KEEPALIVE_BYTES_MAX: usize = 60 * 1024;

/// Builds a request. One with a body is sent with `keepalive` unless the body is larger than
/// [`KEEPALIVE_BYTES_MAX`], and names the owner of the page. `None` if the browser does not accept the parts.
pub fn build(method: &str, url: &str, body: Option<&str>, kind: &str, accept: &str) -> Option<Request> {
    let init = RequestInit::new();
    init.set_method(method);
    if let Some(body) = body {
        init.set_body(&JsValue::from_str(body));
        if body.len() <= KEEPALIVE_BYTES_MAX {
            let _ = js_sys::Reflect::set(&init, &"keepalive".into(), &JsValue::TRUE);
        }
    }
    let request = Request::new_with_str_and_init(url, &init).ok()?;
    if body.is_some() {
        request.headers().set("content-type", kind).ok()?;
        request.headers().set(crate::OWNER_HEADER, &dom::owner()).ok()?;
    }
    request.headers().set("accept", accept).ok()?;
    request.headers().set(crate::FRAGMENT_HEADER, "1").ok()?;
    Some(request)
}

/// Posts the fields of a form, and returns the fragment of a page that answers.
pub async fn post_text(url: &str, fields: &str) -> Option<String> {
    let request = build("POST", url, Some(fields), "application/x-www-form-urlencoded", "text/html")?;
    let response = send(&request).await.ok().filter(|response| response.ok() && !response.redirected())?;
    text(&response).await.ok()
}

/// Sends a request and returns the response, whatever its status.
pub async fn send(request: &Request) -> Result<Response, Failed> {
    let answer = JsFuture::from(window().fetch_with_request(request)).await.map_err(|_| Failed::Unreachable)?;
    answer.dyn_into().map_err(|_| Failed::Unreachable)
}

/// A header of a response.
pub fn header(response: &Response, name: &str) -> Option<String> {
    response.headers().get(name).ok().flatten()
}
