//! Adding what a run of a tool returned as a block.

use super::{
    live,
    press::{button, small_button},
    state::Editor,
};
use crate::{
    browser::{
        dom,
        task::spawn_local,
        times,
        view::{browser_view, reactive},
    },
    canvas::json::{list, take, text},
    ui::button::Look,
};
use domain::canvas::edit::{self, Edit};
use leptos::{html, prelude::*};
use serde_json::{Map, Value};

/// The runs that are offered: the newest ones.
const RUNS: &str = "/api/sessions?type=tool&status=completed&limit=20";

/// A completed run of a tool.
#[derive(Debug, Clone, PartialEq)]
struct Run {
    id: String,
    title: String,
    /// When it was created, RFC 3339.
    at: String,
}

impl Run {
    fn read(item: &Value) -> Option<Self> {
        Some(Self { id: text(item, "id")?, title: text(item, "title")?, at: text(item, "createdAt")? })
    }
}

/// A button that lists runs of tools. The chosen one becomes a block at the end.
#[component]
pub fn AddResult(editor: Editor) -> impl IntoView {
    let runs = RwSignal::new(None::<Vec<Run>>);
    let node = NodeRef::<html::Div>::new();
    let open = move || {
        spawn_local(async move {
            match live::get(RUNS, |answer| list(&answer, "items", Run::read)).await {
                Ok(found) => runs.set(Some(found)),
                Err(_) => editor.say("The runs of tools could not be read. Try again."),
            }
        });
    };
    let choose = move |run: Run| {
        runs.set(None);
        // The button of the run is gone.
        if let Some(button) = node.get_untracked().and_then(|node| dom::find(&node, "button")) {
            let _ = button.focus();
        }
        spawn_local(add(editor, run));
    };
    let list = reactive(move || {
        let found = runs.get()?;
        if found.is_empty() {
            return Some(browser_view(|| view! { <p class="meta">"No run of a tool has been completed yet."</p> }));
        }
        let item = |run: Run| {
            // A tool often has several of the runs.
            let label = [&*run.title, " · ", &times::local(&run.at)].concat();
            let press = small_button(&label, Look::Quiet, move || choose(run.clone()));
            view! { <li>{press}</li> }
        };
        let items = found.into_iter().map(item).collect::<Vec<_>>();
        let list = move || view! { <ul class="canvas-runs" aria-label="Completed runs of tools">{items}</ul> };
        Some(browser_view(list))
    });
    view! {
        <div class="canvas-results" node_ref=node>
            {button("Add a result of a tool", Look::Plain, open)}
            {list}
        </div>
    }
}

/// Adds the result of a run at the end.
async fn add(editor: Editor, run: Run) {
    let address = ["/api/sessions/", &run.id].concat();
    let result = |mut session| Some(take(&mut session, "result")).filter(|result| !result.is_null());
    let Ok(value) = live::get(&address, result).await else {
        return editor.say("The result of this run could not be read.");
    };
    let mut block = Map::new();
    let members = [("type", "result".into()), ("heading", run.title.into()), ("session", run.id.into())];
    for (name, member) in members.into_iter().chain([("value", value)]) {
        block.insert(name.to_owned(), member);
    }
    let block = Value::Object(block);
    match editor.read(|document| edit::inserted(document, None, vec![(Editor::new_id(), block)])) {
        Ok(ops) => {
            editor.apply(Edit { ops, focus: None });
            editor.peers.announcement.set("The result is the last block now.".to_owned());
        }
        Err(_) => editor.say("There is no space for another block."),
    }
}
