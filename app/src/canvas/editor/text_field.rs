//! A field for one text of the document.

use super::{
    slash::{LIST_ID, option_id},
    state::Editor,
};
use crate::browser::{
    field::TextArea,
    view::{memo, reactive},
};
use domain::canvas::edit::{Spot, position_after};
use leptos::{html, prelude::*};

/// A field that grows with its text. Changes of others do not move the cursor from its words. Keys and typed text are
/// handled for all fields at once, see `keys` and `input`.
#[component]
pub fn TextField(
    editor: Editor,
    /// The text.
    spot: Spot,
    /// The name for screen readers.
    label: Memo<String>,
    /// The type of the text: how it is set.
    look: &'static str,
    /// What an empty field shows.
    #[prop(optional)]
    hint: &'static str,
) -> impl IntoView {
    let node = NodeRef::<html::Textarea>::new();
    let path = spot.path().to_string();
    let of = spot.clone();
    let text = editor.watch(move |document| of.text(document));
    Effect::new(move |_| {
        let text = text.get();
        let Some(field) = node.get().and_then(|node| TextArea::of(node.into())) else { return };
        // An input method owns the text of the field while it composes characters.
        if !(field.is_focused() && editor.typing.with_value(|typing| typing.is_composing)) {
            field.show(&text, |old, at| position_after(old, &text, at));
            field.grow();
        }
    });
    let block = spot.block().to_owned();
    // The id of the chosen option, while the menu is open here.
    let option = move || {
        editor.slash.with(|slash| slash.as_ref().filter(|slash| slash.block == block).map(|slash| option_id(slash.at)))
    };
    let option = memo(option);
    let while_open = move |value: &'static str| reactive(move || option.with(Option::is_some).then_some(value));
    let is_code = look == "code";
    view! {
        <textarea
            class="canvas-field" rows="1" dir="auto" data-look=look data-path=path aria-label=reactive(move || label.get()) placeholder=hint
            spellcheck=if is_code { "false" } else { "true" } autocapitalize=is_code.then_some("off") enterkeyhint="enter"
            readonly=reactive(move || !editor.mode.get().can_type()) aria-autocomplete=while_open("list")
            aria-controls=while_open(LIST_ID) aria-activedescendant=reactive(move || option.get())
            node_ref=node
        ></textarea>
    }
}
