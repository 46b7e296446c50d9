//! A block of the document.

use super::{
    block_menu::BlockMenu, checklist::Checklist, model::label, notice_view::Notices, slash::SlashMenu, state::Editor,
    table::Table, text_field::TextField,
};
use crate::{
    browser::{
        fetch::encoded,
        task::spawn_local,
        view::{BrowserView, browser_view, memo, reactive},
    },
    canvas::presence::AtBlock,
    fragment::{self, Fragment, Slot},
};
use domain::canvas::{
    edit::{Kind, Spot, read_block},
    outline::{Block, Content},
};
use leptos::prelude::*;

/// The block with this id. A block that gets another type is shown anew.
#[component]
pub fn BlockView(editor: Editor, id: String, kind: Option<Kind>) -> impl IntoView {
    let of = id.clone();
    let heading =
        editor.watch(move |document| read_block(document, &of).map(|block| label_of(&block)).unwrap_or_default());
    let of = id.clone();
    let indent = editor.watch(move |document| read_block(document, &of).map_or(0, |block| block.indent).to_string());
    let of = id.clone();
    let name = memo(move || name_of(editor, &of, kind));
    let of = id.clone();
    let is_drop = move || editor.drop.with(|drop| drop.as_ref().is_some_and(|drop| drop.before.as_ref() == Some(&of)));
    let content = match kind {
        Some(Kind::Text | Kind::Heading | Kind::Code) => text(editor, &id, kind, name),
        Some(Kind::Checklist) => {
            let id = id.clone();
            browser_view(move || view! { <Checklist editor id/> })
        }
        Some(Kind::Table) => {
            let id = id.clone();
            browser_view(move || view! { <Table editor id name/> })
        }
        None => other(editor, id.clone()),
    };
    let label = move || {
        let label = move |heading| move || view! { <p class="canvas-label" dir="auto">{heading}</p> };
        Some(heading.get()).filter(|heading| !heading.is_empty()).map(|heading| browser_view(label(heading)))
    };
    let (menu, slash, peers, at_block) = (id.clone(), id.clone(), id.clone(), id.clone());
    view! {
        <div
            class="canvas-block" role="group" aria-label=reactive(move || name.get()) data-block=id.clone()
            data-kind=kind.map(Kind::as_str) data-indent=reactive(move || indent.get())
            data-drop=reactive(move || is_drop().then_some(""))
        >
            <BlockMenu editor id=menu kind name/>
            <div class="canvas-content">
                {reactive(label)}
                {content}
                <SlashMenu editor block=slash/>
            </div>
            <p class="canvas-wrote meta">{reactive(move || editor.peers.at(&peers))}</p>
            <p class="canvas-wrote"><AtBlock presence=editor.presence block=at_block/></p>
            <Notices editor block=Some(id.clone())/>
        </div>
    }
}

/// Type and place of a block, as screen readers say it.
fn name_of(editor: Editor, id: &str, kind: Option<Kind>) -> String {
    let kind = kind.map_or("Data", label);
    editor.blocks.with(|blocks| {
        let at = blocks.iter().position(|(other, _)| other == id).unwrap_or_default() + 1;
        [kind, ", block ", &at.to_string(), " of ", &blocks.len().to_string()].concat()
    })
}

fn text(editor: Editor, id: &str, kind: Option<Kind>, name: Memo<String>) -> BrowserView {
    let look = kind.map_or("text", Kind::as_str);
    let hint = if kind == Some(Kind::Text) { "Write, or press / for other types" } else { "" };
    let spot = Spot::Text(id.to_owned());
    browser_view(move || view! { <TextField editor spot label=name look hint/> })
}

/// The heading of a block. That of a field of an entity says the type of its values too.
fn label_of(block: &Block) -> String {
    match &*block.field {
        "" => block.heading.clone(),
        field => [&block.heading, " (", field, ")"].concat(),
    }
}

/// What has no field is shown as JSON. It changes by the API. The server writes the result of a tool, in the form that
/// it has on other pages, once the block is confirmed. Without the server it is JSON too.
fn other(editor: Editor, id: String) -> BrowserView {
    let (at, is_json) = (Slot::default(), RwSignal::new(false));
    let of = id.clone();
    let json = editor.watch(move |document| match read_block(document, &of).map(|block| block.content) {
        Some(Content::Result(_, json) | Content::Other(json)) => json,
        _ => String::new(),
    });
    let of = id.clone();
    let result = editor.watch_confirmed(move |document| match read_block(document, &of).map(|block| block.content) {
        Some(Content::Result(session, json)) => session + &json,
        _ => String::new(),
    });
    Effect::new(move |_| {
        let of = result.get();
        let named = encoded(&[("block", id.as_str())]);
        let address = editor.id.with_value(|canvas| ["/canvases/", canvas, "?", &named].concat());
        spawn_local(async move {
            let shown = if of.is_empty() { None } else { fragment::read(&address).await };
            // The block can be gone, or another result, by now.
            if result.try_with_untracked(|now| *now == of) == Some(true) {
                is_json.set(shown.is_none());
                shown.iter().for_each(|shown| at.put(shown));
            }
        });
    });
    browser_view(move || {
        view! {
            <div hidden=reactive(move || is_json.get())><Fragment html=String::new() at/></div>
            <pre class="canvas-other" tabindex="0" hidden=reactive(move || !is_json.get())>
                {reactive(move || json.get())}
            </pre>
        }
    })
}
