//! Reads rows of sessions and conversations, and an open conversation, again after a change. Also calls the server
//! functions of the forms of a conversation. Only in the WASM build.

use crate::browser::task::spawn_local;
use crate::{
    browser::live::{self, Signal},
    browser::{dom, fetch, patch},
    fragment::Slot,
    server_function::{self, Refusal},
    thread::{InterruptTurn, SendMessage},
};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    rc::Rc,
};
use wasm_bindgen::{JsCast, JsValue};
use web_sys::{Event, HtmlElement, HtmlFormElement};

const GATHER_MS: i32 = 250;
/// Rows that are updated.
const ROW: &str = "[data-session-id]";
/// Most rows in one request; the server refuses more.
const IDS_MAX: usize = 100;
/// The status of a refusal because nobody is signed in.
const SIGNED_OUT: u16 = 401;

/// Subscribes the rows of the page to the live stream.
pub fn start(at: Slot) {
    let moved = Rc::new(RefCell::new(BTreeSet::<String>::new()));
    let due = Rc::new(Cell::new(false));
    let gather = move |signal: &Signal| {
        match signal {
            Signal::Session { id, .. } => {
                if row(at, id).is_some() {
                    moved.borrow_mut().insert(id.clone());
                }
            }
            Signal::Resync | Signal::Opened => moved
                .borrow_mut()
                .extend(at.find_all(ROW).into_iter().filter_map(|r| r.get_attribute("data-session-id"))),
            Signal::Counts => {}
        }
        if moved.borrow().is_empty() || due.replace(true) {
            return;
        }
        let (moved, due) = (moved.clone(), due.clone());
        dom::after(GATHER_MS, move || {
            due.set(false);
            let ids: Vec<_> = std::mem::take(&mut *moved.borrow_mut()).into_iter().take(IDS_MAX).collect();
            spawn_local(async move {
                read(at, ids).await;
            });
        });
    };
    if let Some(conversation) = at.find(".conversation") {
        patch::remember(&conversation);
    }
    live::subscribe(gather);
    if let Some(root) = at.root() {
        dom::on(&root, "submit", move |event| on_submit(at, event));
    }
}

/// Reads rows and shows them. Returns the last one.
async fn read(at: Slot, ids: Vec<String>) -> Option<HtmlElement> {
    let from = at.find("[data-rows]").and_then(|rows| rows.get_attribute("data-rows"));
    let from = from.unwrap_or_else(|| "/sessions/rows?ids=".to_owned());
    show(at, &fetch::get_text(&[from, ids.join(",")].concat()).await.ok()?)
}

/// Replaces rows by id. Returns the last one.
fn show(at: Slot, html: &str) -> Option<HtmlElement> {
    let fragment = patch::parse(html)?;
    let mut last = None;
    for new in patch::children(&fragment) {
        if let Some(old) = new.get_attribute("data-session-id").and_then(|id| row(at, &id)) {
            if old.id().is_empty() {
                patch::update(&old, &new);
            } else {
                patch::parts(&old, &new);
            }
        }
        last = Some(new);
    }
    last
}

/// Submits a form of a conversation by calling its server function, then reads the conversation again.
fn on_submit(at: Slot, event: Event) {
    let Some(form) = dom::closest(&event, "form[data-stay]").and_then(|form| form.dyn_into::<HtmlFormElement>().ok())
    else {
        return;
    };
    event.prevent_default();
    if form.has_attribute("data-sending") {
        return;
    }
    let _ = form.set_attribute("data-sending", "");
    spawn_local(async move {
        let text = value(&form, "text");
        let session_id = value(&form, "session_id");
        let sent = call(&form, session_id.clone(), text.clone()).await;
        let _ = form.remove_attribute("data-sending");
        if sent.is_ok() {
            // Text typed since then belongs to the next message, so it is kept.
            if value(&form, "text") == text {
                set(&form, "textarea", "");
            }
            set(&form, "[name=id]", "");
        }
        if let Some(said) = at.find(".composer [role=alert]") {
            said.set_text_content(sent.as_ref().err().map(reason).as_deref());
        }
        let shown = read(at, vec![session_id]).await;
        if let (Ok(()), Some(new)) = (sent, shown) {
            set(&form, "[name=id]", &new.get_attribute("data-form-key").unwrap_or_default());
        }
    });
}

/// Calls the server function that `data-stay` of the form names.
async fn call(form: &HtmlFormElement, session_id: String, text: String) -> Result<(), Refusal> {
    match form.get_attribute("data-stay").as_deref() {
        Some("interrupt") => server_function::call(InterruptTurn { session_id }).await,
        _ => server_function::call(SendMessage { session_id, text, id: Some(value(form, "id")) }).await,
    }
}

fn reason(refusal: &Refusal) -> String {
    if refusal.status == SIGNED_OUT {
        return "You are signed out. Sign in on another tab, then send it again.".to_owned();
    }
    match refusal.errors.as_slice() {
        [] => refusal.message(),
        errors => errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>().join(" "),
    }
}

/// The value of the field with this name; empty without one.
fn value(form: &HtmlFormElement, name: &str) -> String {
    let field = dom::find(form, &["[name=", name, "]"].concat());
    field.and_then(|field| dom::text(&field, "value")).unwrap_or_default()
}

fn set(form: &HtmlFormElement, selector: &str, value: &str) {
    if let Some(field) = dom::find(form, selector) {
        let _ = js_sys::Reflect::set(&field, &"value".into(), &JsValue::from_str(value));
    }
}

fn row(at: Slot, id: &str) -> Option<HtmlElement> {
    at.find(&["[data-session-id=\"", id, "\"]"].concat())
}
