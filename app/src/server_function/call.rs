//! Calls server functions with the browser's `fetch` and `JSON`.
//!
//! Leptos's own client would bring a parser of JSON, an encoder of forms and a second library for requests into the
//! WASM. This one has none of them: each function says here how its arguments are sent and how its result is read. It
//! sends with `keepalive`, so that a call survives the page that made it: the recorder sends its last events when the
//! page is hidden.

use super::{Created, FieldRefusal, Refusal};
use crate::browser::{dom, fetch};
use leptos::server_fn::ServerFn;
use wasm_bindgen::JsValue;

/// Media type of a form's fields.
const FORM: &str = "application/x-www-form-urlencoded";
const JSON: &str = "application/json";

/// The arguments of a call, encoded as the function expects them.
pub enum Arguments {
    /// Fields of the query of a GET request.
    Query(String),
    /// Fields of a form.
    Form(String),
    /// A JSON object.
    Json(String),
}

/// A server function that the browser calls. The value holds its arguments.
pub trait Call: ServerFn {
    /// The encoded arguments.
    fn arguments(self) -> Arguments;
}

/// A result that the browser reads.
pub trait Answer: Sized {
    /// Reads it; `None` if it has another form.
    fn read(value: &JsValue) -> Option<Self>;
}

/// Encodes named texts as fields.
pub fn fields(named: &[(&str, &str)]) -> String {
    fetch::encoded(named)
}

/// Encodes named texts as a JSON object.
pub fn json(named: &[(&str, &str)]) -> String {
    stringified(&dom::object(named))
}

/// Encodes a JavaScript value as JSON.
pub fn stringified(value: &JsValue) -> String {
    js_sys::JSON::stringify(value).map(String::from).unwrap_or_default()
}

/// Calls a server function.
///
/// # Errors
/// Why the function was refused, or that the server could not be reached.
pub async fn call<F: Call>(function: F) -> Result<F::Output, Refusal>
where
    F::Output: Answer,
{
    read(&send(F::PATH, function.arguments()).await?)
}

/// Sends the encoded fields of a form to the server function to which the form posts, and returns the function's
/// result.
///
/// # Errors
/// See [`call`].
pub async fn submit<T: Answer>(path: &str, fields: String) -> Result<T, Refusal> {
    read(&send(path, Arguments::Form(fields)).await?)
}

fn read<T: Answer>(answer: &JsValue) -> Result<T, Refusal> {
    T::read(answer).ok_or_else(Refusal::unreadable)
}

async fn send(path: &str, arguments: Arguments) -> Result<JsValue, Refusal> {
    let request = match arguments {
        Arguments::Query(fields) => fetch::build("GET", &[path, "?", &fields].concat(), None, "", JSON),
        Arguments::Form(fields) => fetch::build("POST", path, Some(&fields), FORM, JSON),
        Arguments::Json(object) => fetch::build("POST", path, Some(&object), JSON, JSON),
    };
    let request = request.ok_or_else(Refusal::unreachable)?;
    let response = fetch::send(&request).await.map_err(|_| Refusal::unreachable())?;
    let body = fetch::text(&response).await.map_err(|_| Refusal::unreachable())?;
    let answer = js_sys::JSON::parse(&body).map_err(|_| Refusal::unreadable())?;
    if response.ok() { Ok(answer) } else { Err(Refusal::read(&answer).unwrap_or_else(Refusal::unreadable)) }
}

/// Reads each element of a JavaScript array.
pub fn list<T: Answer>(array: &JsValue) -> Option<Vec<T>> {
    js_sys::Array::is_array(array).then(|| js_sys::Array::from(array).iter().filter_map(|one| T::read(&one)).collect())
}

impl Answer for () {
    fn read(_: &JsValue) -> Option<Self> {
        Some(())
    }
}

impl Answer for String {
    fn read(value: &JsValue) -> Option<Self> {
        value.as_string()
    }
}

impl<T: Answer> Answer for Option<T> {
    fn read(value: &JsValue) -> Option<Self> {
        if value.is_null() { Some(None) } else { T::read(value).map(Some) }
    }
}

impl<T: Answer> Answer for Vec<T> {
    fn read(value: &JsValue) -> Option<Self> {
        list(value)
    }
}

impl Answer for Created {
    fn read(value: &JsValue) -> Option<Self> {
        Some(Self { id: dom::text(value, "id")? })
    }
}

impl Answer for FieldRefusal {
    fn read(value: &JsValue) -> Option<Self> {
        Some(Self { field: dom::text(value, "field")?, message: dom::text(value, "message")? })
    }
}

impl Answer for Refusal {
    fn read(value: &JsValue) -> Option<Self> {
        Some(Self {
            code: dom::text(value, "code")?,
            status: dom::number(value, "status").unwrap_or_default() as u16,
            title: dom::text(value, "title").unwrap_or_default(),
            detail: dom::text(value, "detail"),
            errors: list(&dom::member(value, "errors")).unwrap_or_default(),
        })
    }
}
