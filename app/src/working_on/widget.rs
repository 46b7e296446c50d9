//! The elements of the picker: shows the active session, messages and the refused events. Only in the WASM build.

use super::{active::Active, control, elapsed::elapsed, state};
use crate::{browser::dom, count::counted};
use gloo_timers::callback::{Interval, Timeout};
use web_sys::{Event, HtmlElement, HtmlInputElement};

/// How long a success message is shown, in milliseconds.
const GOOD_MS: u32 = 5_000;

/// The elements of the picker with this `data-part`.
fn parts(name: &str) -> Vec<HtmlElement> {
    dom::by_id("working").map(|root| dom::find_all(&root, &["[data-part=", name, "]"].concat())).unwrap_or_default()
}

/// The first element of the picker with this `data-part`.
pub fn part(name: &str) -> Option<HtmlElement> {
    parts(name).into_iter().next()
}

fn set_text(name: &str, text: &str) {
    for part in parts(name) {
        if part.text_content().as_deref() != Some(text) {
            part.set_text_content(Some(text));
        }
    }
}

/// The owner and the active session, read from the attributes that the server rendered.
pub fn read() -> Option<(String, Option<Active>)> {
    let root = dom::by_id("working")?;
    let get = |name: &str| root.get_attribute(name).unwrap_or_default();
    let active = Active {
        session_id: get("data-session"),
        task_id: get("data-task"),
        title: part("title").and_then(|title| title.text_content()).unwrap_or_default(),
        started_at: part("elapsed").and_then(|time| time.get_attribute("datetime")).unwrap_or_default(),
        started_words: String::new(),
    };
    Some((super::owner_of(&get("data-tenant"), &get("data-user")), Some(active).filter(Active::is_confirmed)))
}

/// Whether this person may create tasks.
pub fn may_create() -> bool {
    dom::by_id("working").is_some_and(|root| root.has_attribute("data-may-create"))
}

/// Id of the person.
pub fn user_id() -> String {
    dom::by_id("working").and_then(|root| root.get_attribute("data-user")).unwrap_or_default()
}

/// Attaches the event handlers and updates the elapsed time.
pub fn start() {
    show_paused(state::is_paused());
    tick();
    Interval::new(1_000, tick).forget();
    on_part("stop", "submit", |event| {
        event.prevent_default();
        control::stop();
    });
    on_part("switch", "click", |_| state::set_paused(!state::is_paused()));
    on_part("forget", "click", |_| control::dismiss_refused());
    if let Some(dismiss) = part("said").and_then(|line| dom::find(&line, "button")) {
        dom::on(&dismiss, "click", |_: Event| hide("said", true));
    }
}

/// Attaches an event handler to the elements with this `data-part`.
pub fn on_part(name: &str, event: &str, handle: impl FnMut(Event) + 'static) {
    if let Some(part) = part(name) {
        dom::on(&part, event, handle);
    }
}

/// Hides or shows the elements with this `data-part`.
pub fn hide(name: &str, hidden: bool) {
    parts(name).iter().for_each(|part| part.set_hidden(hidden));
}

/// Shows the active working session, or that there is none.
pub fn show_active(active: Option<&Active>) {
    let focused = dom::document().active_element();
    let had_focus = ["idle", "active"].into_iter().filter_map(part).any(|part| part.contains(focused.as_deref()));
    hide("idle", active.is_some());
    hide("active", active.is_none());
    if had_focus {
        // The focused element is hidden now; moves the focus to the one that replaces it.
        let now = part(if active.is_some() { "active" } else { "idle" });
        if let Some(button) = now.and_then(|part| dom::find(&part, "button")) {
            let _ = button.focus();
        }
    }
    let Some(active) = active else { return };
    set_text("title", &active.title);
    for time in parts("elapsed") {
        let _ = time.set_attribute("datetime", &active.started_at);
    }
    if let Some(field) = part("stop").and_then(|form| dom::find(&form, "[name=session_id]")) {
        use wasm_bindgen::JsCast;
        field.unchecked_into::<HtmlInputElement>().set_value(&active.session_id);
    }
    if let Some(button) = part("active").and_then(|split| dom::find(&split, "button")) {
        let _ = button.set_attribute("title", &active.title);
    }
    tick();
}

fn tick() {
    if let Some(active) = state::active() {
        set_text("elapsed", &elapsed(js_sys::Date::now() - js_sys::Date::parse(&active.started_at)));
    }
}

/// Shows whether recording is paused.
pub fn show_paused(paused: bool) {
    hide("paused", !paused);
    if let Some(switch) = part("switch") {
        let _ = switch.set_attribute("aria-checked", if paused { "false" } else { "true" });
    }
}

/// Shows a message. An error stays until it is dismissed.
pub fn say(words: &str, bad: bool) {
    let Some(line) = part("said") else { return };
    let _ = line.set_attribute("data-tone", if bad { "bad" } else { "good" });
    if let Some(body) = dom::find(&line, "p") {
        body.set_text_content(Some(words));
    }
    line.set_hidden(false);
    if !bad {
        let words = words.to_owned();
        Timeout::new(GOOD_MS, move || {
            if dom::find(&line, "p").and_then(|body| body.text_content()).as_deref() == Some(&words) {
                line.set_hidden(true);
            }
        })
        .forget();
    }
}

/// Shows the number of refused events; their JSON can be copied.
pub fn show_refused(events: &[String]) {
    let Some(line) = part("refused") else { return };
    line.set_hidden(events.is_empty());
    if events.is_empty() {
        return;
    }
    if let (Some(body), Some(copy)) = (dom::find(&line, "p"), dom::find(&line, "[data-copy]")) {
        let count = counted(events.len() as u32, "event");
        let words = " not recorded: the working session had ended before the server received this.";
        body.set_text_content(Some(&[&count, words].concat()));
        let _ = copy.set_attribute("data-copy", &["[", &events.join(",\n"), "]"].concat());
    }
}
