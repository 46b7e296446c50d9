//! Forms of browsers without scripts. They post to the URL of a server function, with two fields of their own:
//!
//! - `next`: the page to continue with, a path of this server. `{id}` in it is replaced by the member `id` of the
//!   function's result, so that a form can lead to what its function made: `/sessions/{id}`. A button that sends its
//!   form to another function names its page in the query of its `formaction`, which wins.
//! - `page`: the page to show again if the function is refused. Default: `next` without its query.
//!
//! Of a person who is signed out, the typed text of some forms is kept on the sign-in page (`web::posted`).
//!
//! A field `input.week` is the member `week` of the argument `input`, a map; see [`MAPS`]. Errors name such a field in
//! the same way. A field `input` beside such fields is the member `~`. Other fields with a dot are arguments of this
//! name.
//!
//! A button that changes a form made from a JSON Schema sends it with the field [`STEP`]. The function is not called:
//! the answer is the page with what was typed, and renders the form as the button changes it. A text file that was
//! chosen in such a form is the text of its field.
//!
//! Line ends in fields arrive as CR LF from browsers. The function gets them as LF, as from a script.

use super::{call, second_press::second_press};
use crate::{extract::identify, middleware::RequestId, nonce::Nonce, problem::Problem, state::AppState, web};
use app::{
    FormState,
    inbox::{Decide, DecideMany},
    schema_form::STEP,
    server_function::Created,
    trigger::{TriggerAction, WHOLE},
};
use axum::{
    Router,
    body::Body,
    extract::{FromRequest as _, Request},
    http::{HeaderMap, HeaderValue, Method, Uri, header, request::Parts},
    response::{IntoResponse, Redirect, Response},
};
use http_body_util::{BodyExt as _, Limited};
use leptos::server_fn::ServerFn as _;
use tower::ServiceExt as _;
use web::{Form, FormWithFiles, local_path};

/// The arguments that are maps.
const MAPS: [&str; 2] = ["input", "source"];
/// The functions whose forms can be made from a JSON Schema.
const SCHEMA_FORMS: [&str; 3] = [Decide::PATH, DecideMany::PATH, TriggerAction::PATH];
/// The placeholder of the `id` of the function's result in the field `next`.
const ID: &str = "{id}";
/// Largest result that is read for its `id`, bytes.
const RESULT_BYTES_MAX: usize = 64 * 1024;

/// Whether a browser that expects a page sent this. Scripts send `accept: application/json`.
pub fn is_form_post(headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok()).unwrap_or_default();
    text(header::ACCEPT).contains("text/html")
}

/// Runs the function and answers with the next page, or with the form as it was typed and what is wrong.
pub async fn answer(state: AppState, pages: Router, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let sent = match FormWithFiles::from_request(Request::from_parts(parts.clone(), body), &()).await {
        Ok(sent) => sent,
        Err(problem) => return problem.into_response(),
    };
    let form = &sent.form;
    let next = next_of_query(&parts.uri).or_else(|| form.optional("next"));
    let next = local_path(next.as_deref()).to_owned();
    let page = form.optional("page").unwrap_or_else(|| next.split('?').next().unwrap_or_default().to_owned());
    let page = local_path(Some(&page)).to_owned();
    let identity = match identify(&state, &parts.headers).await {
        Ok(Some(identity)) => identity,
        Ok(None) => {
            return match web::posted::keep(&state, &parts, form, &page).await {
                Some(sign_in) => sign_in,
                // The page sends them to sign in, and back afterwards.
                None => render(pages, &parts, &page, None).await,
            };
        }
        Err(problem) => return problem.into_response(),
    };
    let path = parts.uri.path();
    let (problem, refused) = match before_call(path, &sent) {
        Some(Ok(changed)) => return render(pages, &parts, &page, Some(changed)).await,
        Some(Err(refused)) => refused,
        None => match call(&state, identity, for_script(&parts, form)).await {
            Ok(response) => return go_on(&next, response).await,
            Err(problem) => {
                let refused = form.refused(path, &problem);
                (problem, refused)
            }
        },
    };
    let mut response = render(pages, &parts, &page, Some(refused)).await;
    if response.status().is_success() {
        *response.status_mut() = problem.status();
        problem.mark(&mut response);
        response
    } else {
        problem.into_response()
    }
}

/// What a form leads to without its function: the state of its page after a button that changes the form, or why it is
/// refused, with the state of its page. `None` if the function decides.
fn before_call(path: &str, sent: &FormWithFiles) -> Option<Result<FormState, (Problem, FormState)>> {
    let form = &sent.form;
    if let Some(problem) = &sent.refused {
        return Some(Err((problem.clone(), form.refused(path, problem))));
    }
    if SCHEMA_FORMS.contains(&path) && !form.text(STEP).is_empty() {
        return Some(Ok(form.state_without_errors(path)));
    }
    second_press(path, form).map(Err)
}

fn next_of_query(uri: &Uri) -> Option<String> {
    let mut fields = form_urlencoded::parse(uri.query()?.as_bytes());
    fields.find(|(name, _)| name == "next").map(|(_, next)| next.into_owned())
}

/// The same request as a script sends it. A server function redirects a request that accepts HTML.
fn for_script(parts: &Parts, form: &Form) -> Request {
    let argument_of = |name: &str| match MAPS.iter().find(|map| **map == name && is_map(form, map)) {
        Some(map) => argument(&format!("{map}.{WHOLE}")),
        None => argument(name),
    };
    let fields =
        form.below("").map(|(name, value)| [argument_of(name), encoded(&value.replace("\r\n", "\n"))].join("="));
    let body = fields.collect::<Vec<_>>().join("&");
    let mut request = Request::from_parts(parts.clone(), Body::from(body));
    let headers = request.headers_mut();
    headers.insert(header::ACCEPT, HeaderValue::from_static("application/json"));
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-www-form-urlencoded"));
    request
}

/// Whether a form has fields of a map.
fn is_map(form: &Form, map: &str) -> bool {
    form.below(map).any(|(rest, _)| rest.starts_with('.'))
}

fn encoded(text: &str) -> String {
    form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

/// The encoded name of a field as server functions read it: `input.week` is `input[week]`.
fn argument(field: &str) -> String {
    match field.split_once('.') {
        // Brackets of a key are recognised as `[`, `]`, `%5B` and `%5D`, and digits alone as a number. Neither is in a
        // key that is encoded with small letters, its first byte included.
        Some((map, key)) if MAPS.contains(&map) => {
            let key: String = key.bytes().map(|byte| format!("%{byte:02x}")).collect();
            format!("{map}[{key}]")
        }
        _ => encoded(field),
    }
}

/// The way to the next page, with the cookies of the function's answer.
async fn go_on(next: &str, response: Response) -> Response {
    let (parts, body) = response.into_parts();
    let mut next = next.to_owned();
    if next.contains(ID) {
        let body = Limited::new(body, RESULT_BYTES_MAX).collect().await;
        let result = body.ok().and_then(|body| serde_json::from_slice::<Created>(&body.to_bytes()).ok());
        if let Some(Created { id }) = result {
            next = local_path(Some(&next.replace(ID, &id))).to_owned();
        }
    }
    let mut response = Redirect::to(&next).into_response();
    for cookie in parts.headers.get_all(header::SET_COOKIE) {
        response.headers_mut().append(header::SET_COOKIE, cookie.clone());
    }
    response
}

/// Renders a page in this request, with the state of its forms.
async fn render(pages: Router, parts: &Parts, page: &str, form: Option<FormState>) -> Response {
    let Ok(uri) = page.parse::<Uri>() else { return Redirect::to("/today").into_response() };
    let mut request = Request::new(Body::empty());
    *request.method_mut() = Method::GET;
    *request.uri_mut() = uri;
    *request.headers_mut() = parts.headers.clone();
    request.headers_mut().remove(header::CONTENT_TYPE);
    request.headers_mut().remove(header::CONTENT_LENGTH);
    let extensions = request.extensions_mut();
    if let Some(id) = parts.extensions.get::<RequestId>() {
        extensions.insert(id.clone());
    }
    if let Some(nonce) = parts.extensions.get::<Nonce>() {
        extensions.insert(nonce.clone());
    }
    if let Some(form) = form {
        extensions.insert(form);
    }
    match pages.oneshot(request).await {
        Ok(response) => response,
        Err(never) => match never {},
    }
}
