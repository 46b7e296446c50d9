//! The popover of the picker: a combobox over tasks (ARIA combobox pattern), and what is recorded.

use super::{
    Task, Work,
    choice::{Row, moved, rows},
    picker::POPOVER_ID,
};
use crate::{
    count::counted,
    ui::button::{Button, ButtonLink, Look, Press},
};
use leptos::{ev::KeyboardEvent, html, prelude::*};

/// Attribute of the field, in which the page keeps the keys that are pressed before this island has loaded
/// (`document.rs`).
#[cfg(feature = "hydrate")]
const EARLY_KEYS: &str = "data-keys";

/// What the popover shows. A copy is the same state.
#[derive(Clone, Copy)]
struct Chooser {
    work: Work,
    /// Whether the popover was opened. Before, it is as the server rendered it.
    is_open: RwSignal<bool>,
    /// The person's tasks; absent until they are read.
    tasks: RwSignal<Option<Vec<Task>>>,
    /// Whether the person has more tasks than these, or may have. Then each change of the text reads them again.
    has_more: RwSignal<bool>,
    /// Number of the newest read of the tasks. What an older one answers is dropped, unless it has all tasks.
    reads: StoredValue<u32>,
    /// Number of the first read since the popover was opened.
    first_read: StoredValue<u32>,
    /// Whether the newest read is under way.
    is_reading: StoredValue<bool>,
    /// Whether Enter was pressed before the tasks were there that the text names.
    enter_waits: StoredValue<bool>,
    /// Names of the keys that were pressed before this island was loaded, oldest first, separated by spaces. They wait
    /// for the tasks, and later ones wait behind them.
    early_keys: StoredValue<String>,
    typed: RwSignal<String>,
    /// Whether it asks for the name of a new task.
    is_naming: RwSignal<bool>,
    /// Index of the row that the person moved to. Otherwise the first row is selected.
    moved_to: RwSignal<Option<usize>>,
    rows: Memo<Vec<Row>>,
    popover: NodeRef<html::Div>,
    field: NodeRef<html::Input>,
}

impl Chooser {
    fn new(work: Work) -> Self {
        let tasks = RwSignal::new(None::<Vec<Task>>);
        let (typed, is_naming) = (RwSignal::new(String::new()), RwSignal::new(false));
        let is_open = RwSignal::new(false);
        let shown = Memo::new(move |_| {
            if !is_open.get() {
                return Vec::new();
            }
            let is_active = work.active.read().is_some();
            let tasks = tasks.read();
            rows(tasks.as_deref().unwrap_or_default(), &typed.read(), work.may_create, is_naming.get(), is_active)
        });
        Self {
            work,
            is_open,
            tasks,
            has_more: RwSignal::new(true),
            reads: StoredValue::new(0),
            first_read: StoredValue::new(0),
            is_reading: StoredValue::new(false),
            enter_waits: StoredValue::new(false),
            early_keys: StoredValue::new(String::new()),
            typed,
            is_naming,
            moved_to: RwSignal::new(None),
            rows: shown,
            popover: NodeRef::new(),
            field: NodeRef::new(),
        }
    }

    /// Index of the selected row.
    fn selected(self) -> usize {
        self.moved_to.get().unwrap_or_default().min(self.rows.read().len().saturating_sub(1))
    }

    /// Before the popover is shown: nothing is typed yet. The event after it comes late enough to lose the first keys.
    fn prepare(self) {
        self.is_open.set(true);
        self.typed.set(String::new());
        self.is_naming.set(false);
        self.moved_to.set(None);
        self.forget_keys();
        self.first_read.set_value(self.reads.get_value() + 1);
        self.read_tasks();
    }

    /// The popover was opened before this island was loaded: continues with the typed text, and with the keys that were
    /// pressed after it.
    fn catch_up(self) {
        #[cfg(feature = "hydrate")]
        if let (Some(popover), Some(field)) = (self.popover.get_untracked(), self.field.get_untracked()) {
            let keys = field.get_attribute(EARLY_KEYS).unwrap_or_default();
            // From now on the field's own handler has the keys.
            let _ = field.remove_attribute("data-early");
            if popover.matches(":popover-open").unwrap_or(false) {
                let typed = field.value();
                self.prepare();
                if !typed.is_empty() {
                    self.input(typed);
                }
                self.early_keys.set_value(keys);
            }
        }
    }

    /// Forgets the keys that wait for tasks.
    fn forget_keys(self) {
        self.enter_waits.set_value(false);
        self.early_keys.set_value(String::new());
    }

    fn close(self) {
        #[cfg(feature = "hydrate")]
        if let Some(popover) = self.popover.get_untracked() {
            let _ = popover.hide_popover();
        }
    }

    fn focus_field(self) {
        #[cfg(feature = "hydrate")]
        if let Some(field) = self.field.get_untracked() {
            let _ = field.focus();
        }
    }

    fn input(self, typed: String) {
        self.typed.set(typed);
        self.moved_to.set(None);
        self.forget_keys();
        if self.has_more.get_untracked() {
            self.read_tasks();
        }
    }

    /// Reads the tasks whose names contain the typed text. Keeps the row selected that the person moved to.
    fn read_tasks(self) {
        let number = self.reads.get_value() + 1;
        self.reads.set_value(number);
        self.is_reading.set_value(true);
        #[cfg(feature = "hydrate")]
        let typed = self.typed.get_untracked();
        #[cfg(feature = "hydrate")]
        crate::browser::task::spawn_local(async move {
            let is_all = typed.trim().is_empty();
            let found = crate::server_function::call(super::api::ListTasks { name_contains: typed }).await;
            let newest = self.reads.get_value();
            let has_all = is_all && found.as_ref().is_ok_and(|found| !found.has_more);
            if has_all && number >= self.first_read.get_value() {
                // The text typed since then is among these tasks, so the reads of it say nothing more.
                self.reads.set_value(newest + 1);
            } else if newest != number {
                return;
            }
            self.is_reading.set_value(false);
            let found = match found {
                Ok(found) => found,
                Err(refusal) => {
                    self.forget_keys();
                    self.work.say(["Your tasks could not be loaded. ", &refusal.message()].concat(), true);
                    return;
                }
            };
            let moved_to = self.moved_to.get_untracked();
            let chosen = moved_to.and_then(|at| self.rows.get_untracked().into_iter().nth(at));
            if is_all {
                self.has_more.set(found.has_more);
            }
            self.tasks.set(Some(found.tasks));
            if chosen.is_some() {
                let rows = self.rows.get_untracked();
                self.moved_to.set(rows.iter().position(|row| Some(row) == chosen.as_ref()));
            }
            if self.enter_waits.get_value() {
                self.forget_keys();
                self.choose_selected();
            }
            self.press_early_keys();
        });
    }

    /// Plays the keys that waited for the tasks. What is behind an Enter that has chosen a row is dropped.
    #[cfg(feature = "hydrate")]
    fn press_early_keys(self) {
        let keys = self.early_keys.try_update_value(std::mem::take).unwrap_or_default();
        for key in keys.split_whitespace() {
            self.press(key);
            if key == "Enter" && !self.is_naming.get_untracked() {
                return;
            }
        }
    }

    /// Whether a task may still come that the text names. Until then the first row creates another one.
    fn awaits_named_task(self) -> bool {
        let is_named = !self.is_naming.get_untracked() && !self.typed.read_untracked().trim().is_empty();
        let may_come = self.is_reading.get_value() && self.has_more.get_untracked();
        is_named && may_come && self.moved_to.get_untracked().is_none()
    }

    fn choose_selected(self) {
        let at = untrack(|| self.selected());
        if let Some(row) = self.rows.get_untracked().into_iter().nth(at) {
            self.choose(row);
        }
    }

    fn key(self, event: &KeyboardEvent) {
        if !event.is_composing() && self.press(&event.key()) {
            event.prevent_default();
        }
    }

    /// A key that moves the selection or chooses. Returns false for every other key.
    fn press(self, key: &str) -> bool {
        let (at, count) = (untrack(|| self.selected()), self.rows.read_untracked().len());
        let to = moved(key, at, count);
        if key != "Enter" && to.is_none() {
            return false;
        }
        if !self.early_keys.with_value(|keys| keys.is_empty()) {
            self.early_keys.update_value(|keys| *keys = [keys.as_str(), " ", key].concat());
        } else if let Some(to) = to {
            self.enter_waits.set_value(false);
            self.moved_to.set(Some(to));
        } else if self.awaits_named_task() {
            self.enter_waits.set_value(true);
        } else {
            self.choose_selected();
        }
        true
    }

    fn choose(self, row: Row) {
        if matches!(&row, Row::Create(name) if name.is_empty()) {
            self.is_naming.set(true);
            self.moved_to.set(None);
            self.focus_field();
            return;
        }
        // Closing returns the focus to the picker, so it happens first.
        self.close();
        #[cfg(feature = "hydrate")]
        match row {
            Row::Create(name) => super::control::create(self.work, name),
            Row::Task(task) => super::control::begin(self.work, task),
            Row::Stop => super::control::stop(self.work),
        }
    }

    fn summary(self) -> String {
        let found = self.rows.read().iter().filter(|row| matches!(row, Row::Task(_))).count();
        let words = match (self.tasks.read().is_some(), self.is_naming.get(), found) {
            (_, true, _) => "Type the name of the new task, then press Enter.",
            (false, ..) => "Loading your tasks…",
            (true, _, 0) if self.typed.read().trim().is_empty() => "No active task is assigned to you.",
            (true, _, 0) => "None of your tasks has that name.",
            (true, _, found) => return counted(found as u32, "task"),
        };
        words.to_owned()
    }
}

/// The popover.
#[island(lazy)]
pub fn TaskChooser() -> impl IntoView {
    let chooser = Chooser::new(Work::of_page_or_idle());
    Effect::new(move |_| chooser.catch_up());
    let label = move || if chooser.is_naming.get() { "Name of the new task" } else { "Find a task" };
    let selected_id = move || (!chooser.rows.read().is_empty()).then(|| option_id(chooser.selected()));
    view! {
        <div
            class="working-popover js-only" id=POPOVER_ID popover="auto" role="dialog" aria-label="What are you working on?"
            node_ref=chooser.popover
            on:beforetoggle=move |event| {
                if super::focus::opens(&event) {
                    chooser.prepare();
                } else {
                    chooser.forget_keys();
                }
            }
            on:toggle=move |event| {
                if super::focus::opens(&event) {
                    chooser.focus_field();
                }
            }
        >
            <input
                class="palette-input" id="working-find" type="text" role="combobox" autocomplete="off" spellcheck="false"
                maxlength="200" autofocus=true aria-autocomplete="list" aria-expanded="true" aria-controls="working-list"
                aria-label=label placeholder=label aria-activedescendant=selected_id prop:value=move || chooser.typed.get()
                data-early=""
                node_ref=chooser.field
                on:input:target=move |event| chooser.input(event.target().value())
                on:keydown=move |event| chooser.key(&event)
            />
            <p class="working-count" id="working-count" role="status">{move || chooser.summary()}</p>
            <ul class="palette-list" id="working-list" role="listbox" aria-label="Your active tasks">
                {move || chooser.rows.get().into_iter().enumerate().map(|(at, row)| option(chooser, at, row)).collect_view()}
            </ul>
            <Foot chooser/>
        </div>
    }
}

fn option_id(at: usize) -> String {
    ["working-option-", &at.to_string()].concat()
}

fn option(chooser: Chooser, at: usize, row: Row) -> impl IntoView + use<> {
    let (kind, text) = label_of(&row, chooser.is_naming.get_untracked());
    let item = NodeRef::<html::Li>::new();
    let is_selected = Memo::new(move |_| chooser.selected() == at);
    Effect::new(move |_| {
        if is_selected.get() && chooser.moved_to.get_untracked().is_some() {
            super::focus::scroll_to(item);
        }
    });
    view! {
        <li
            class="palette-item" id=option_id(at) role="option" data-kind=kind node_ref=item
            aria-selected=move || if is_selected.get() { "true" } else { "false" }
            on:click=move |_| chooser.choose(row.clone())
            on:mousemove=move |_| {
                if !is_selected.get_untracked() {
                    chooser.moved_to.set(Some(at));
                }
            }
        >
            <span class="palette-text" dir="auto">{text}</span>
        </li>
    }
}

/// The kind and the label of a row.
fn label_of(row: &Row, is_naming: bool) -> (&'static str, String) {
    match row {
        Row::Task(task) => ("task", task.title.clone()),
        Row::Create(name) if name.is_empty() && is_naming => ("create", "Create and start".to_owned()),
        Row::Create(name) if name.is_empty() => ("create", "Create new task…".to_owned()),
        Row::Create(name) => ("create", ["Create new task “", name, "”"].concat()),
        Row::Stop => ("stop", "Stop working".to_owned()),
    }
}

/// What is recorded, the switch for it, and the marker.
#[component]
fn Foot(chooser: Chooser) -> impl IntoView {
    let work = chooser.work;
    let add_marker = move |_| {
        chooser.close();
        #[cfg(feature = "hydrate")]
        work.open_marker();
    };
    let pause_or_resume = move |_| {
        #[cfg(feature = "hydrate")]
        super::channel::set_paused(work, !work.paused.get_untracked());
    };
    view! {
        <div class="working-foot">
            <p class="meta">"Records the pages you open and the markers you write. Does not record what you type, scroll or hover over."</p>
            <div class="working-tools">
                <Button
                    press=Press::Script small=true attr:role="switch" attr:data-part="switch"
                    attr:aria-checked=move || if chooser.is_open.get() && work.paused.get() { "false" } else { "true" }
                    on:click=pause_or_resume
                >
                    <span class="switch" aria-hidden="true"></span>"Record pages"
                </Button>
                <Button
                    press=Press::Script small=true title="Add a marker (Ctrl M)" attr:data-part="drop"
                    attr:hidden=move || !chooser.is_open.get() || work.active.read().is_none()
                    on:click=add_marker
                >
                    "Add a marker"
                </Button>
                <ButtonLink small=true look=Look::Quiet href="/working-on" title="Your day (g w)">"Your day"</ButtonLink>
            </div>
        </div>
    }
}
