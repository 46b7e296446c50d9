//! The editor as the page shows it.

use super::{
    block::BlockView,
    drag, input, keys,
    notice_view::Notices,
    press::button,
    result::AddResult,
    state::Editor,
    status::words,
    suggestion::{SuggestBar, Suggestions},
};
use crate::{
    browser::view::{browser_view, list, reactive},
    canvas::presence::WhoIsHere,
    ui::button::Look,
};
use domain::canvas::{
    edit::{self, Edit, Focus, Kind, Spot},
    outline::{Content, rest},
};
use leptos::prelude::*;

/// State, blocks and suggestions. Events of all fields are handled here, so that a field is one element.
#[component]
pub fn EditorView(editor: Editor) -> impl IntoView {
    let state = reactive(move || words(editor.mode.get(), editor.connection.get(), editor.waiting.get()));
    let is_waiting = reactive(move || (editor.waiting.get() > 0).then_some(""));
    let rest = editor.watch(rest);
    let is_empty = move || editor.blocks.with(Vec::is_empty) && rest.with(Option::is_none);
    let cannot = move || reactive(move || !editor.mode.get().can_type());
    let is_drop = move || editor.drop.with(|drop| drop.as_ref().is_some_and(|drop| drop.before.is_none()));
    let blocks = list(move || {
        let view = |block: (String, Option<Kind>)| {
            let key = key_of(&block);
            let (id, kind) = block;
            (key, browser_view(move || view! { <BlockView editor id kind/> }))
        };
        editor.blocks.get().into_iter().map(view).collect()
    });
    view! {
        <div class="canvas-parts">
            <p class="canvas-status meta" role="status" data-waiting=is_waiting>{state}</p>
            <p class="hidden-text" role="status">{reactive(move || editor.peers.announcement.get())}</p>
            <WhoIsHere presence=editor.presence/>
            <Notices editor block=None/>
            <div
                class="canvas-editor" role="group" aria-label="Document" node_ref=editor.root
                on:keydown=move |event| keys::press(editor, &event)
                on:keyup=move |event| input::on_move(editor, &event)
                on:input=move |event| input::on_input(editor, &event)
                on:paste=move |event| input::on_paste(editor, &event)
                on:compositionstart=move |event| input::on_composition_start(editor, &event)
                on:compositionend=move |event| input::on_composition_end(editor, &event)
                on:focusin=move |event| input::on_focus(editor, &event)
                on:focusout=move |event| input::on_blur(editor, &event)
                on:pointerdown=move |event| drag::on_down(editor, &event)
                on:pointermove=move |event| drag::on_move(editor, &event)
                on:pointerup=move |_| drag::on_up(editor)
                on:pointercancel=move |_| drag::cancel(editor)
            >
                {blocks}
                <p class="canvas-end" data-drop=reactive(move || is_drop().then_some(""))></p>
            </div>
            <pre class="canvas-other" tabindex="0" hidden=reactive(move || rest.with(Option::is_none))>
                {reactive(move || rest.get().unwrap_or_default())}
            </pre>
            <p class="meta" hidden=reactive(move || !is_empty())>"This canvas is empty."</p>
            <p class="form-actions" hidden=cannot()>{button("Add a block", Look::Plain, move || add(editor))}</p>
            <div hidden=cannot()><AddResult editor/></div>
            <SuggestBar editor/>
            <p class="meta canvas-help" hidden=cannot()>
                "/ chooses a type. Alt ↑ and Alt ↓ move a block, Tab indents it. Escape, then Tab leaves the document."
            </p>
            <Suggestions editor/>
        </div>
    }
}

/// A block that gets another type is another element.
fn key_of((id, kind): &(String, Option<Kind>)) -> String {
    [kind.map_or("", Kind::as_str), " ", id].concat()
}

/// Adds an empty block of text at the end.
fn add(editor: Editor) {
    let id = Editor::new_id();
    let block = edit::new_block(&Content::Text(String::new()), &mut Editor::new_id);
    match editor.read(|document| edit::inserted(document, None, vec![(id.clone(), block)])) {
        Ok(ops) => editor.apply(Edit { ops, focus: Some(Focus { spot: Spot::Text(id), at: 0 }) }),
        Err(_) => editor.say("There is no space for another block."),
    }
}
