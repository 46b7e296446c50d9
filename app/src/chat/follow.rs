//! Reads a conversation again after a change, and calls the server functions of its forms. Only in the WASM build.

use super::store::Store;
use crate::{
    browser::{
        dom, fetch,
        id::new_id,
        live::{self, Signal},
        patch,
        task::spawn_local,
    },
    fragment,
    server_function::{Refusal, call, submit},
    thread::{InterruptTurn, SendMessage},
};
use leptos::{
    ev::{MouseEvent, SubmitEvent},
    prelude::{Effect, GetUntracked as _, GetValue as _, RwSignal, Set as _, Track as _, WithValue as _},
    server_fn::ServerFn as _,
};
use std::{cell::Cell, rc::Rc};

/// Signals within this time cause one request, in milliseconds.
const GATHER_MS: i32 = 250;
/// End of the address to which ratings of memories are posted.
const MEMORIES: &str = "/memories";
/// The message for a rating of a memory that was not saved.
const NOT_RATED: &str = "The memory was not rated. Press the button again, or reload the page.";
/// The status of a refusal because no one is signed in.
const SIGNED_OUT: u16 = 401;

/// Reads the conversation after each signal about it.
pub fn start(store: Store) {
    if let Some(shown) = store.conversation.child() {
        patch::remember(&shown);
    }
    // The facts of the conversation count its ratings.
    Effect::new(move |before: Option<()>| {
        store.rating.rating.track();
        if before.is_some() {
            spawn_local(read(store));
        }
    });
    let due = Rc::new(Cell::new(false));
    live::subscribe(move |signal| {
        let concerns = match signal {
            Signal::Session { id, .. } => store.session_id.with_value(|own| own == id),
            Signal::Resync | Signal::Opened => true,
            Signal::Counts => false,
        };
        if concerns && !due.replace(true) {
            let due = due.clone();
            dom::after(GATHER_MS, move || {
                due.set(false);
                spawn_local(read(store));
            });
        }
    });
}

/// Reads the conversation and shows it. Its address is in `data-live`.
async fn read(store: Store) {
    let Some(shown) = store.conversation.child() else { return };
    let address = shown.get_attribute("data-live").unwrap_or_default();
    let calls = store.rating.calls_ended();
    let html = store.reads.text(&address).await;
    let Some(new) = html.and_then(|html| fragment::element(&html)) else { return };
    patch::parts(&shown, &new);
    store.rating.read(&new, calls);
}

/// Sends the typed text.
pub fn send(store: Store) {
    let (text, id) = (store.text.get_untracked(), store.key.get_untracked());
    let message = SendMessage { session_id: store.session_id.get_value(), text: text.clone(), id: Some(id) };
    run(store, store.is_sending, async move {
        call(message).await?;
        // The next message may be sent before the server is read again, and its answer may be lost.
        store.key.set(new_id());
        // Text typed since then belongs to the next message, so it is kept.
        if store.text.get_untracked() == text {
            store.text.set(String::new());
        }
        Ok(())
    });
}

/// Sends a form that the server rendered, if it stays on this page: one that stops the agent's turn or sends a message
/// again.
pub fn on_submit(store: Store, event: &SubmitEvent) {
    let Some(form) = dom::closest(event, "form").filter(|_| !event.default_prevented()) else { return };
    let path = form.get_attribute("action").unwrap_or_default();
    if path.ends_with(MEMORIES) {
        return rate_memory(store, event, form, path);
    }
    if ![InterruptTurn::PATH, SendMessage::PATH].contains(&path.as_str()) {
        return;
    }
    event.prevent_default();
    let fields = fetch::fields(&form, None).unwrap_or_default();
    run(store, store.is_calling, async move { submit(&path, fields).await });
}

/// Sends the rating of a memory and stays on the page, so that typed text is kept. The button that was pressed shows
/// what was rated.
fn rate_memory(store: Store, event: &SubmitEvent, form: dom::HtmlElement, path: String) {
    event.prevent_default();
    let pressed = event.submitter();
    let fields = fetch::fields(&form, pressed.as_ref()).unwrap_or_default();
    run(store, store.is_calling, async move {
        if !is_rated(&path, &fields).await {
            return Err(Refusal { title: NOT_RATED.to_owned(), ..Refusal::default() });
        }
        if let Some(before) = dom::find(&form, "[aria-pressed]") {
            let _ = before.remove_attribute("aria-pressed");
        }
        if let Some(pressed) = pressed {
            let _ = pressed.set_attribute("aria-pressed", "true");
        }
        Ok(())
    });
}

/// Posts the fields of a rating. A rating that counts is answered with the page that the form names.
async fn is_rated(path: &str, fields: &str) -> bool {
    let request = fetch::build("POST", path, Some(fields), "application/x-www-form-urlencoded", "text/html");
    let Some(request) = request else { return false };
    let answer = fetch::send(&request).await;
    answer.is_ok_and(|response| response.ok() && response.url().contains("/chat/"))
}

/// A click. One that opens the question at the end of the conversation moves the focus to its first answer.
pub fn on_click(store: Store, event: &MouseEvent) {
    if dom::closest(event, ".conversation-end summary").is_none() {
        return;
    }
    // The `details` element opens after this event.
    dom::after(0, move || {
        if let Some(yes) = store.head.find("[open] [name=feedback]") {
            let _ = yes.focus();
        }
    });
}

/// Runs a call unless one of its kind is under way, says why it was refused, and reads the conversation.
fn run(store: Store, is_busy: RwSignal<bool>, calling: impl Future<Output = Result<(), Refusal>> + 'static) {
    if is_busy.get_untracked() {
        return;
    }
    is_busy.set(true);
    spawn_local(async move {
        let called = calling.await;
        is_busy.set(false);
        store.said.set(called.err().as_ref().map(reason).unwrap_or_default());
        read(store).await;
    });
}

fn reason(refusal: &Refusal) -> String {
    if refusal.status == SIGNED_OUT {
        return fetch::SIGNED_OUT.to_owned();
    }
    match refusal.errors.as_slice() {
        [] => refusal.message(),
        errors => errors.iter().map(|error| error.message.as_str()).collect::<Vec<_>>().join(" "),
    }
}
