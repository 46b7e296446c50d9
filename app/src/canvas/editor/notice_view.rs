//! The notices on the page.

use super::{notice::Notice, press::small_button, state::Editor};
use crate::{
    browser::view::{browser_view, list},
    ui::button::Look,
};
use domain::canvas::{
    Operation,
    edit::{self, Edit},
    outline::Content,
};
use leptos::prelude::*;

/// Makes the change of a notice again. If its place is gone, the text of it becomes a new block at the end.
fn put_back(editor: Editor, notice: &Notice) {
    dismiss(editor, notice.id);
    let ops: Vec<Operation> = notice.ops.iter().filter(|op| op.writes()).cloned().collect();
    if editor.read(|document| document.apply(&ops).is_ok()) {
        return editor.apply(Edit { ops, focus: None });
    }
    let text = ops.iter().rev().find_map(|op| match op {
        Operation::Replace { value, .. } | Operation::Add { value, .. } => {
            value.as_str().or_else(|| value.get("text")?.as_str())
        }
        _ => None,
    });
    let Some(text) = text.map(str::to_owned) else {
        editor.say("This cannot be made again, because its place is gone.");
        return;
    };
    let id = Editor::new_id();
    let block = edit::new_block(&Content::Text(text), &mut Editor::new_id);
    match editor.read(|document| edit::inserted(document, None, vec![(id, block)])) {
        Ok(ops) => editor.apply(Edit { ops, focus: None }),
        Err(_) => editor.say("This cannot be put back."),
    }
}

fn dismiss(editor: Editor, id: u64) {
    let gone = editor.notices.with_untracked(|notices| notices.iter().find(|notice| notice.id == id).cloned());
    if let (Some(gone), Some(kept)) = (gone, editor.outbox()) {
        gone.kept_as.iter().for_each(|op_id| kept.dismiss(op_id));
    }
    editor.notices.update(|notices| notices.retain(|notice| notice.id != id));
}

/// The notices beside a block, or those that belong to none.
#[component]
pub fn Notices(editor: Editor, block: Option<String>) -> impl IntoView {
    let own = list(move || {
        let of = |notice: &&Notice| notice.block == block;
        let view = |notice: &Notice| {
            let notice = notice.clone();
            (notice.id.to_string(), browser_view(move || view! { <NoticeView editor notice/> }))
        };
        editor.notices.with(|notices| notices.iter().filter(of).map(view).collect())
    });
    view! { <div class="canvas-notices" role="alert">{own}</div> }
}

#[component]
fn NoticeView(editor: Editor, notice: Notice) -> impl IntoView {
    let id = notice.id;
    let part = |label: &'static str, text: &str| {
        let text = text.to_owned();
        (!text.is_empty()).then(|| view! { <p class="canvas-notice-text" dir="auto"><b>{label}</b>" "{text}</p> })
    };
    let (mine, kept, words) = (part("Yours:", &notice.mine), part("There now:", &notice.kept), notice.words.clone());
    let again =
        (!notice.ops.is_empty()).then(|| small_button("Put mine back", Look::Plain, move || put_back(editor, &notice)));
    view! {
        <div class="canvas-notice">
            <p>{words}</p>
            {mine}
            {kept}
            <p class="form-actions">
                {again}
                {small_button("Close", Look::Quiet, move || dismiss(editor, id))}
            </p>
        </div>
    }
}
