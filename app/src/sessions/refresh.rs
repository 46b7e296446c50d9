//! Reads rows of sessions and conversations, and an open conversation, again after a change. Also submits the forms
//! of a conversation with fetch. Only in the WASM build.

use crate::{
    browser::{dom, fetch, patch},
    live::{self, Signal},
};
use std::{
    cell::{Cell, RefCell},
    collections::BTreeSet,
    rc::Rc,
};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::spawn_local;
use web_sys::{Event, HtmlElement, HtmlFormElement, KeyboardEvent};

const GATHER_MS: i32 = 250;
/// Most rows in one request; the server refuses more.
const IDS_MAX: usize = 100;

/// Subscribes the rows of the page to the live stream.
pub fn start() {
    let moved = Rc::new(RefCell::new(BTreeSet::<String>::new()));
    let due = Rc::new(Cell::new(false));
    let gather = move |signal: &Signal| {
        match signal {
            Signal::Session { id, .. } => {
                if row(id).is_some() {
                    moved.borrow_mut().insert(id.clone());
                }
            }
            Signal::Resync | Signal::Opened => {
                moved.borrow_mut().extend(rows().into_iter().filter_map(|r| r.get_attribute("data-session-id")))
            }
            Signal::Counts => {}
        }
        if moved.borrow().is_empty() || due.replace(true) {
            return;
        }
        let (moved, due) = (moved.clone(), due.clone());
        dom::after(GATHER_MS, move || {
            due.set(false);
            let ids: Vec<_> = std::mem::take(&mut *moved.borrow_mut()).into_iter().take(IDS_MAX).collect();
            spawn_local(read(ids));
        });
    };
    if let Some(conversation) = dom::by_id("conversation") {
        patch::remember(&conversation);
    }
    live::subscribe(gather);
    dom::on(&dom::document(), "submit", on_submit);
    dom::on(&dom::document(), "keydown", on_key);
}

async fn read(ids: Vec<String>) {
    let from = dom::root().and_then(|root| dom::find(&root, "[data-rows]")?.get_attribute("data-rows"));
    let from = from.unwrap_or_else(|| "/sessions/rows?ids=".to_owned());
    if let Ok(html) = fetch::get_text(&[from, ids.join(",")].concat()).await {
        show(&html);
    }
}

/// Replaces rows by id. Returns the last one.
fn show(html: &str) -> Option<HtmlElement> {
    let fragment = patch::parse(html)?;
    let mut last = None;
    for new in patch::children(&fragment) {
        if let Some(old) = new.get_attribute("data-session-id").and_then(|id| row(&id)) {
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

/// Submits a form of a conversation. The response is the live part of the page.
fn on_submit(event: Event) {
    let Some(form) = dom::closest(&event, "form[data-stay]").and_then(|form| form.dyn_into::<HtmlFormElement>().ok())
    else {
        return;
    };
    event.prevent_default();
    let Some(body) = fetch::fields(&form, None) else { return };
    if form.has_attribute("data-sending") {
        return;
    }
    let _ = form.set_attribute("data-sending", "");
    spawn_local(async move {
        let said = typed(&form);
        let url = form.get_attribute("action").unwrap_or_default();
        let answer = fetch::post_form(&url, &body).await;
        let _ = form.remove_attribute("data-sending");
        let why = match answer {
            Ok((401, _)) => Some("You are signed out. Sign in on another tab, then send it again.".to_owned()),
            Ok((status, html)) => match show(&html) {
                Some(new) => {
                    if status < 300 {
                        // Text typed since then belongs to the next message, so it is kept.
                        if typed(&form) == said {
                            set(&form, "textarea", "");
                        }
                        set(&form, "[name=id]", &new.get_attribute("data-form-key").unwrap_or_default());
                    }
                    new.get_attribute("data-refused")
                }
                None => Some("The server refused it.".to_owned()),
            },
            Err(_) => Some(fetch::UNREACHABLE.to_owned()),
        };
        if let Some(said) = dom::by_id("composer-said") {
            said.set_text_content(why.as_deref());
        }
    });
}

fn typed(form: &HtmlFormElement) -> Option<JsValue> {
    let field = dom::find(form, "textarea")?;
    js_sys::Reflect::get(&field, &"value".into()).ok()
}

fn set(form: &HtmlFormElement, selector: &str, value: &str) {
    if let Some(field) = dom::find(form, selector) {
        let _ = js_sys::Reflect::set(&field, &"value".into(), &JsValue::from_str(value));
    }
}

/// Enter submits in fields that the page marks for it.
fn on_key(event: KeyboardEvent) {
    if event.key() != "Enter" || event.shift_key() || event.is_composing() {
        return;
    }
    let form = dom::closest(&event, "[data-enter]").and_then(|field| field.closest("form").ok()?);
    if let Some(form) = form
        && dom::find(&form, ".enter-hint").is_some_and(|hint| hint.offset_width() > 0)
        && let Some(send) = dom::find(&form, "button[type=submit]")
    {
        event.prevent_default();
        send.click();
    }
}

fn rows() -> Vec<HtmlElement> {
    dom::root().map(|root| dom::find_all(&root, "[data-session-id]")).unwrap_or_default()
}

fn row(id: &str) -> Option<HtmlElement> {
    rows().into_iter().find(|row| row.get_attribute("data-session-id").as_deref() == Some(id))
}
