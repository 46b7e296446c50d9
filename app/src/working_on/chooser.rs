//! The popover of the picker: a combobox over tasks (ARIA combobox pattern). Only in the WASM build.

use super::{
    choice::{Row, Task, moved, rows},
    control, state, widget,
};
use crate::{browser::dom, count::counted};
use std::cell::RefCell;
use wasm_bindgen::JsCast;
use web_sys::{Event, HtmlElement, HtmlInputElement, KeyboardEvent, MouseEvent};

/// The state of the popover.
#[derive(Default)]
struct Shown {
    /// The person's tasks; absent until they are read.
    tasks: Option<Vec<Task>>,
    /// Whether the person has more tasks than these.
    partial: bool,
    /// Whether it asks for the name of a new task.
    naming: bool,
    /// Index of the selected row.
    at: usize,
    /// Whether the person moved the selection. Otherwise the first row is selected by default.
    is_moved: bool,
    rows: Vec<Row>,
}

thread_local! {
    static SHOWN: RefCell<Shown> = RefCell::new(Shown::default());
}

/// Attaches the event handlers.
pub fn start() {
    let (Some(popover), Some(field), Some(list)) =
        (dom::by_id("working-popover"), dom::by_id("working-find"), dom::by_id("working-list"))
    else {
        return;
    };
    dom::on(&popover, "toggle", |event: Event| {
        if dom::text(&event, "newState").as_deref() == Some("open") {
            open();
        }
    });
    dom::on(&field, "input", |_: Event| {
        SHOWN.with_borrow_mut(|shown| (shown.at, shown.is_moved) = (0, false));
        render_rows();
        if SHOWN.with_borrow(|shown| shown.partial) {
            control::read_tasks(typed());
        }
    });
    dom::on(&field, "keydown", on_key);
    dom::on(&list, "click", |event: MouseEvent| {
        if let Some(at) = option_at(&event) {
            choose(at);
        }
    });
    dom::on(&list, "mousemove", |event: MouseEvent| {
        if let Some(at) = option_at(&event) {
            move_to(at);
        }
    });
    widget::on_part("drop", "click", |_| {
        close();
        super::open_marker();
    });
}

fn field() -> Option<HtmlInputElement> {
    dom::by_id("working-find")?.dyn_into().ok()
}

fn typed() -> String {
    field().map(|field| field.value()).unwrap_or_default()
}

fn open() {
    SHOWN.with_borrow_mut(|shown| {
        *shown = Shown { tasks: shown.tasks.take(), partial: shown.partial, ..Shown::default() };
    });
    if let Some(field) = field() {
        field.set_value("");
        let _ = field.focus();
    }
    widget::hide("drop", state::active().is_none());
    render_rows();
    control::read_tasks(String::new());
}

fn close() {
    if let Some(popover) = dom::by_id("working-popover") {
        let _ = popover.hide_popover();
    }
}

/// Replaces the tasks; `partial` says whether there are more.
pub fn set_tasks(tasks: Vec<Task>, partial: Option<bool>) {
    let chosen = SHOWN.with_borrow_mut(|shown| {
        shown.tasks = Some(tasks);
        shown.partial = partial.unwrap_or(shown.partial);
        shown.rows.get(shown.at).filter(|_| shown.is_moved).cloned()
    });
    render_rows();
    // Keeps the row selected that the person moved to, at its new index.
    let at = SHOWN.with_borrow(|shown| shown.rows.iter().position(|row| Some(row) == chosen.as_ref()));
    if let Some(at) = at {
        mark_selected(at);
    }
}

fn on_key(event: KeyboardEvent) {
    let key = event.key();
    let (at, count) = SHOWN.with_borrow(|shown| (shown.at, shown.rows.len()));
    if event.is_composing() {
        return;
    } else if key == "Enter" {
        choose(at);
    } else if let Some(to) = moved(&key, at, count) {
        move_to(to);
        if let Some(option) = option(to) {
            let nearest = web_sys::ScrollIntoViewOptions::new();
            nearest.set_block(web_sys::ScrollLogicalPosition::Nearest);
            option.scroll_into_view_with_scroll_into_view_options(&nearest);
        }
    } else {
        return;
    }
    event.prevent_default();
}

fn choose(at: usize) {
    let Some(row) = SHOWN.with_borrow(|shown| shown.rows.get(at).cloned()) else { return };
    match row {
        Row::Create(name) if name.is_empty() => {
            SHOWN.with_borrow_mut(|shown| (shown.naming, shown.at, shown.is_moved) = (true, 0, false));
            render_rows();
            if let Some(field) = field() {
                let _ = field.focus();
            }
        }
        // Closing returns the focus to the picker, so it happens first.
        Row::Create(name) => {
            close();
            control::create(name, widget::user_id());
        }
        Row::Task(task) => {
            close();
            control::begin(task);
        }
        Row::Stop => {
            close();
            control::stop();
        }
    }
}

fn option_id(at: usize) -> String {
    ["working-option-", &at.to_string()].concat()
}

fn option(at: usize) -> Option<HtmlElement> {
    dom::by_id(&option_id(at))
}

fn option_at(event: &Event) -> Option<usize> {
    dom::closest(event, "[role=option]")?.id().rsplit('-').next()?.parse().ok()
}

/// Selects a row that the person moved to.
fn move_to(at: usize) {
    SHOWN.with_borrow_mut(|shown| shown.is_moved = true);
    mark_selected(at);
}

/// Marks the selected row visually and for assistive technology.
fn mark_selected(to: usize) {
    let before = SHOWN.with_borrow_mut(|shown| std::mem::replace(&mut shown.at, to));
    for (at, is_chosen) in [(before, "false"), (to, "true")] {
        if let Some(option) = option(at) {
            let _ = option.set_attribute("aria-selected", is_chosen);
        }
    }
    if let Some(field) = field() {
        let _ = match option(to) {
            Some(option) => field.set_attribute("aria-activedescendant", &option.id()),
            None => field.remove_attribute("aria-activedescendant"),
        };
    }
}

/// Renders the rows that match the typed text.
fn render_rows() {
    let Some(list) = dom::by_id("working-list") else { return };
    let typed = typed();
    let (may_create, active) = (widget::may_create(), state::active().is_some());
    list.set_text_content(None);
    let at = SHOWN.with_borrow_mut(|shown| {
        let tasks = shown.tasks.as_deref().unwrap_or_default();
        shown.rows = rows(tasks, &typed, may_create, shown.naming, active);
        shown.at = shown.at.min(shown.rows.len().saturating_sub(1));
        for (at, row) in shown.rows.iter().enumerate() {
            let (kind, text) = words(row, shown.naming);
            let (Some(item), Some(label)) = (dom::make("li", "palette-item"), dom::make("span", "palette-text")) else {
                return 0;
            };
            item.set_id(&option_id(at));
            for (name, value) in [("role", "option"), ("aria-selected", "false"), ("data-kind", kind)] {
                let _ = item.set_attribute(name, value);
            }
            let _ = label.set_attribute("dir", "auto");
            label.set_text_content(Some(&text));
            let _ = item.append_child(&label);
            let _ = list.append_child(&item);
        }
        shown.at
    });
    mark_selected(at);
    SHOWN.with_borrow(|shown| {
        if let Some(count) = dom::by_id("working-count") {
            count.set_text_content(Some(&summary(shown, typed.trim().is_empty())));
        }
        if let Some(field) = field() {
            let label = if shown.naming { "Name of the new task" } else { "Find a task" };
            let _ = field.set_attribute("aria-label", label);
            field.set_placeholder(label);
        }
    });
}

fn summary(shown: &Shown, nothing_typed: bool) -> String {
    let found = shown.rows.iter().filter(|row| matches!(row, Row::Task(_))).count();
    let words = match (shown.tasks.is_some(), shown.naming, found) {
        (_, true, _) => "Type the name of the new task, then press Enter.",
        (false, ..) => "Loading your tasks…",
        (true, _, 0) if nothing_typed => "No active task is assigned to you.",
        (true, _, 0) => "None of your tasks has that name.",
        (true, _, found) => return counted(found as u32, "task"),
    };
    words.to_owned()
}

/// The label of a row.
fn words(row: &Row, naming: bool) -> (&'static str, String) {
    match row {
        Row::Task(task) => ("task", task.title.clone()),
        Row::Create(name) if name.is_empty() && naming => ("create", "Create and start".to_owned()),
        Row::Create(name) if name.is_empty() => ("create", "Create new task…".to_owned()),
        Row::Create(name) => ("create", ["Create new task “", name, "”"].concat()),
        Row::Stop => ("stop", "Stop working".to_owned()),
    }
}
