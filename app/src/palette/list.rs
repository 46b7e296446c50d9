//! The list of the palette: commands are filtered on every key, the server is searched after a pause. Only in the WASM
//! build.

use super::{
    act::{act, control},
    catalog::{Command, SHORTCUTS, Shortcut},
    choice::{Answer, Row, is_asked, moved, rows, status_text},
    found,
    keys_dialog::KeysDialog,
    keys_view::keys_view,
    state::{Keys, Operation},
};
use crate::browser::{dom, task::spawn_local};
use leptos::{html, mount::mount_to_body, prelude::*};
use std::mem;

/// Pause after the last key before the server is searched, in milliseconds.
const PAUSE_MS: i32 = 180;

/// What the list shows. A copy is the same state.
#[derive(Clone, Copy)]
struct List {
    keys: Keys,
    /// The commands that the page has, with their index among all shortcuts.
    commands: RwSignal<Vec<(usize, Shortcut)>>,
    typed: RwSignal<String>,
    answer: RwSignal<Answer>,
    /// Index of the row that the person moved to. Otherwise the first row is selected.
    moved_to: RwSignal<Option<usize>>,
    rows: Memo<Vec<Row>>,
    keys_dialog: NodeRef<html::Dialog>,
}

impl List {
    fn new(keys: Keys) -> Self {
        let (commands, typed) = (RwSignal::new(Vec::new()), RwSignal::new(String::new()));
        let answer = RwSignal::new(Answer::default());
        let rows = Memo::new(move |_| rows(&commands.read(), &typed.read(), &answer.read()));
        let (moved_to, keys_dialog) = (RwSignal::new(None), NodeRef::new());
        Self { keys, commands, typed, answer, moved_to, rows, keys_dialog }
    }

    /// Index of the selected row.
    fn selected(self) -> usize {
        self.moved_to.get().unwrap_or_default().min(self.rows.read().len().saturating_sub(1))
    }

    /// Handles what the person has done since the last call.
    fn catch_up(self) {
        if self.keys.operations.read().is_empty() {
            return;
        }
        let operations = self.keys.operations.try_update_untracked(mem::take).unwrap_or_default();
        untrack(|| operations.into_iter().for_each(|operation| self.handle(operation)));
    }

    fn handle(self, operation: Operation) {
        let is_open = || self.keys.dialog.get_untracked().is_some_and(|dialog| dialog.open());
        match operation {
            Operation::Opened => {
                self.commands.set(on_this_page());
                self.input(String::new());
            }
            Operation::Typed(text) => self.input(text),
            Operation::Moved(by) => {
                self.moved_to.set(Some(moved(self.selected(), by, self.rows.read_untracked().len())))
            }
            Operation::Chose if is_open() => self.run(self.selected()),
            Operation::Chose => {}
            Operation::KeysRequested => {
                if let Some(dialog) = self.keys_dialog.get_untracked().filter(|dialog| !dialog.open()) {
                    let _ = dialog.show_modal();
                }
            }
        }
    }

    fn input(self, text: String) {
        self.moved_to.set(None);
        if is_asked(&text) {
            let asked = text.clone();
            dom::after(PAUSE_MS, move || {
                if *self.typed.read_untracked() == asked {
                    spawn_local(self.ask(asked));
                }
            });
        }
        self.typed.set(text);
    }

    /// Searches the server. The selected row stays where it is: what was found comes below.
    async fn ask(self, asked: String) {
        let (found, failure) = match found::read(asked.trim()).await {
            Ok(found) => (found, ""),
            Err(failed) => (Vec::new(), found::why(failed)),
        };
        if *self.typed.read_untracked() == asked {
            self.answer.set(Answer { asked, found, failure });
        }
    }

    /// Opens the page of a row, or performs its command with the focus where it was before.
    fn run(self, at: usize) {
        let Some(row) = self.rows.read_untracked().get(at).cloned() else { return };
        self.keys.close();
        match row {
            Row::Command(_, shortcut) => {
                act(self.keys, shortcut.command);
            }
            row => {
                let _ = dom::window().location().set_href(row.href().unwrap_or_default());
            }
        }
    }
}

/// The commands of every page, and those whose control is on this one.
fn on_this_page() -> Vec<(usize, Shortcut)> {
    let is_here = |shortcut: &Shortcut| match shortcut.command {
        Command::Press(key) => control(key).is_some(),
        _ => true,
    };
    SHORTCUTS.into_iter().enumerate().filter(|(_, shortcut)| shortcut.is_offered() && is_here(shortcut)).collect()
}

fn option_id(at: usize) -> String {
    ["palette-option-", &dom::integer_text(at as f64)].concat()
}

/// The list, and the text if it has no row. The list of shortcuts is loaded with it.
#[component]
pub fn Results(keys: Keys) -> impl IntoView {
    let list = List::new(keys);
    mount_to_body(move || view! { <KeysDialog bindings=keys.bindings dialog=list.keys_dialog/> });
    Effect::new(move |_| list.catch_up());
    Effect::new(move |_| keys.selected_id.set((!list.rows.read().is_empty()).then(|| option_id(list.selected()))));
    view! {
        <ul class="palette-list" id="palette-list" role="listbox" aria-label="Results">
            {move || options(list)}
        </ul>
        <p class="palette-none" id="palette-none" role="status">
            {move || status_text(&list.typed.read(), !list.rows.read().is_empty(), &list.answer.read())}
        </p>
    }
}

/// The rows, with a heading above each section of what the server found.
fn options(list: List) -> impl IntoView + use<> {
    let rows = list.rows.get();
    let mut section = "";
    let mut shown = Vec::with_capacity(rows.len());
    for (at, row) in rows.iter().enumerate() {
        let heading = (row.section() != section).then(|| {
            section = row.section();
            // Each option says what it is, so readers of screens need no heading.
            view! {
                <li class="palette-item" role="presentation" aria-hidden="true">
                    <span class="palette-text"><span class="meta">{section.to_owned()}</span></span>
                </li>
            }
        });
        shown.push(view! { {heading}{option(list, at, row)} });
    }
    shown
}

fn option(list: List, at: usize, row: &Row) -> impl IntoView + use<> {
    let item = NodeRef::<html::Li>::new();
    let is_selected = Memo::new(move |_| list.selected() == at);
    Effect::new(move |_| {
        if let (true, Some(item)) = (is_selected.get(), item.get()) {
            item.scroll_into_view_with_bool(false);
        }
    });
    let hint = match row {
        Row::Command(at, _) => {
            let at = *at;
            let keys = move || list.keys.bindings.with(|bindings| bindings.get(at).map(|ways| keys_view(ways)));
            view! { <span class="palette-hint">{keys}</span> }.into_any()
        }
        Row::Page(..) => ().into_any(),
        Row::Found(found) => view! { <span class="palette-hint">{found.kind.clone()}</span> }.into_any(),
    };
    view! {
        <li
            class="palette-item" role="option" id=option_id(at) node_ref=item data-href=row.href().map(str::to_owned)
            aria-selected=move || if is_selected.get() { "true" } else { "false" }
            on:click=move |_| list.run(at)
        >
            <span class="palette-text" dir="auto">{row.words().to_owned()}</span>
            {hint}
        </li>
    }
}
