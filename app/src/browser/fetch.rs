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

/// A response to a POST request.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The JSON body; a problem document if the request was refused; undefined if the body is not JSON.
    pub json: JsValue,
}

impl Answer {
    /// Whether the status is 2xx.
    pub const fn is_good(&self) -> bool {
        self.status >= 200 && self.status < 300
    }
}

/// The message for a request without a response.
pub const UNREACHABLE: &str = "The server cannot be reached.";

/// The message for a failed request; `None` if it succeeded.
pub fn refusal(answer: Option<&Answer>) -> Option<String> {
    let Some(answer) = answer else { return Some(UNREACHABLE.to_owned()) };
    if answer.is_good() {
        return None;
    }
    let said = dom::text(&answer.json, "detail").or_else(|| dom::text(&answer.json, "title"));
    Some(said.unwrap_or_else(|| "The server refused it.".to_owned()))
}

/// Posts JSON. `None` if the server could not be reached. Uses `keepalive`, so the request survives its page;
/// browsers limit such bodies to 64 KiB in total, so a larger one is sent without it.
pub async fn post(url: &str, body: &str) -> Option<Answer> {
    let response: Response = JsFuture::from(promise(url, body)?).await.ok()?.dyn_into().ok()?;
    let status = if response.redirected() { 401 } else { response.status() };
    let json = text(&response).await.ok().and_then(|text| js_sys::JSON::parse(&text).ok());
    Some(Answer { status, json: json.unwrap_or(JsValue::NULL) })
}

/// The encoded fields of a form, including the pressed button.
pub fn fields(form: &HtmlFormElement, pressed: Option<&HtmlElement>) -> Option<String> {
    let data = FormData::new_with_form(form).ok()?;
    if let Some(pressed) = pressed {
        let get = |name| pressed.get_attribute(name).unwrap_or_default();
        let _ = data.append_with_str(&get("name"), &get("value"));
    }
    let fields = UrlSearchParams::new_with_str_sequence_sequence(&data).ok()?;
    Some(String::from(fields.to_string()))
}

/// Posts form fields and asks for a fragment. Returns status and body.
pub async fn post_form(url: &str, fields: &str) -> Result<(u16, String), Failed> {
    let request = request(url, fields, "application/x-www-form-urlencoded").ok_or(Failed::Unreachable)?;
    let response = send(&request).await?;
    let status = if response.redirected() { 401 } else { response.status() };
    Ok((status, text(&response).await?))
}

/// Posts JSON without waiting for the response, for a page that is being closed.
pub fn post_and_forget(url: &str, body: &str) {
    if let Some(promise) = promise(url, body) {
        // An unhandled rejection would be reported in the console.
        let ignore = wasm_bindgen::closure::Closure::once_into_js(|_: JsValue| {});
        let _ = js_sys::Reflect::get(&promise, &"catch".into())
            .ok()
            .and_then(|catch| catch.dyn_into::<js_sys::Function>().ok())
            .and_then(|catch| catch.call1(&promise, &ignore).ok());
    }
}

/// Largest body of a `keepalive` request, bytes; browsers allow 64 KiB.
pub const KEEPALIVE_BYTES_MAX: usize = 60 * 1024;

fn promise(url: &str, body: &str) -> Option<js_sys::Promise> {
    Some(window().fetch_with_request(&request(url, body, "application/json")?))
}

fn request(url: &str, body: &str, kind: &str) -> Option<Request> {
    build("POST", url, Some(body), kind, "*/*")
}

/// Builds a request. One with a body is sent with `keepalive` unless the body is larger than
/// [`KEEPALIVE_BYTES_MAX`]. `None` if the browser does not accept the parts.
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
    }
    request.headers().set("accept", accept).ok()?;
    request.headers().set("x-fragment", "1").ok()?;
    Some(request)
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
