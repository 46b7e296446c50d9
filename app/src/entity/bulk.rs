//! Erasing the selected entities of the list. The check boxes are in the rows.

use crate::{
    FormState,
    sessions::selecting_help,
    ui::{button::Button, notice::Refused},
};
use domain::limit::BULK_ENTITIES_MAX;
use leptos::prelude::*;

/// Id of the form, which the check boxes name.
pub const FORM: &str = "selected-entities";
/// Where it is sent, and the confirmation too.
pub(super) const PATH: &str = "/entities/erase";

/// The form. It sends the filter too, for "All of this list", and where its page begins, so that a refusal shows that
/// page. `next` is the address of the page.
pub(super) fn bar(
    next: String,
    slug: Option<String>,
    q: String,
    cursor: Option<String>,
    form: &FormState,
) -> impl IntoView + use<> {
    view! {
        <form class="bulk-bar" id=FORM method="post" action=PATH aria-label="Selected entities">
            <Refused messages=form.general(&[])/>
            <input type="hidden" name="next" value=next/>
            {slug.map(|slug| view! { <input type="hidden" name="type" value=slug/> })}
            <input type="hidden" name="q" value=q/>
            {cursor.map(|cursor| view! { <input type="hidden" name="cursor" value=cursor/> })}
            <Button small=true title="Show what erasing the selected entities would do">"Erase selected…"</Button>
            <label class="choice">
                <input type="checkbox" name="all" value="on" data-tick-all=""/>
                <span>{format!("All of this list, at most {BULK_ENTITIES_MAX}")}</span>
            </label>
            {selecting_help(Some("all of the list"))}
        </form>
    }
}
