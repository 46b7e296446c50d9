//! The form of what is done with the selected sessions of the list. The check boxes are in the rows.

use super::{bulk::PATH, filter::Filter};
use crate::ui::button::Button;
use domain::limit::BULK_SESSIONS_MAX;
use leptos::prelude::*;

/// Id of the form, which the check boxes name.
pub const FORM: &str = "bulk";

/// The form. It sends the filter too, for "All that match".
pub fn bulk_bar(filter: &Filter) -> impl IntoView + use<> {
    let fields = filter.fields().into_iter();
    let fields = fields.map(|(name, value)| view! { <input type="hidden" name=name value=value/> });
    let fields = fields.collect::<Vec<_>>();
    let all = format!("All that match, at most {BULK_SESSIONS_MAX}");
    view! {
        <form class="bulk-bar" id=FORM method="post" action=PATH aria-label="Selected sessions" data-below="">
            {fields}
            <input type="hidden" name="next" value=filter.href(None)/>
            <Button small=true name="verb" value="run_again">"Run again…"</Button>
            <Button small=true name="verb" value="cancel">"Cancel…"</Button>
            <Button small=true name="verb" value="acknowledge">"Mark as seen…"</Button>
            <Button small=true name="verb" value="tag">"Tag…"</Button>
            <Button small=true name="verb" value="assign">"Assign…"</Button>
            <label class="choice">
                <input type="checkbox" name="all" value="on" data-tick-all=""/>
                <span>{all}</span>
            </label>
            {selecting_help(Some("all that match"))}
        </form>
    }
}

/// The number of selected rows, and the keys that select them.
pub fn selecting_help(all: Option<&'static str>) -> impl IntoView + use<> {
    let all = all.map(|words| view! { ", "<kbd>"*"</kbd>" "{words} });
    view! {
        <span class="meta" role="status" data-tick-count=""></span>
        <span class="meta js-only"><kbd>"x"</kbd>" selects a row, "<kbd>"X"</kbd>" all up to it"{all}</span>
    }
}

/// The check box of a row: a field of the form with this id. `name` is the name of the row for screen readers.
pub fn tick(
    (form, field): (&'static str, &'static str),
    id: String,
    name: &str,
    is_ticked: bool,
) -> impl IntoView + use<> {
    let label = format!("Select {name}");
    view! { <input type="checkbox" form=form name=field value=id checked=is_ticked aria-label=label data-tick=""/> }
}
