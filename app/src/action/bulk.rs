//! Archiving and restoring the selected tasks of the list. The check boxes are in the rows.

use crate::{
    FormState,
    sessions::selecting_help,
    ui::{button::Button, notice::Refused},
};
use domain::limit::BULK_ACTIONS_MAX;
use leptos::prelude::*;

/// Id of the form, which the check boxes name.
pub const FORM: &str = "tasks";
/// Where it is sent.
const PATH: &str = "/actions/decisions";

/// The form. It sends the filter too, for "All of this list".
pub(super) fn bar(next: &str, q: &str, shows_archived: bool, form: &FormState) -> impl IntoView + use<> {
    let decide = if shows_archived {
        view! { <Button small=true name="decision" value="restore" title="Restore the selected tasks">"Restore selected"</Button> }
            .into_any()
    } else {
        view! {
            <Button
                small=true name="decision" value="archive"
                title="Archive the selected tasks: they cannot be run, and keep their sessions"
            >
                "Archive selected"
            </Button>
        }
        .into_any()
    };
    view! {
        <form class="bulk-bar" id=FORM method="post" action=PATH aria-label="Selected tasks">
            <Refused messages=form.general(&[])/>
            <input type="hidden" name="next" value=next.to_owned()/>
            <input type="hidden" name="q" value=q.to_owned()/>
            {decide}
            <label class="choice">
                <input type="checkbox" name="all" value="on" data-tick-all=""/>
                <span>{format!("All of this list, at most {BULK_ACTIONS_MAX}")}</span>
            </label>
            {selecting_help(Some("all of the list"))}
        </form>
    }
}

/// The form that takes back a decision about these tasks, which was made in this list.
pub(super) fn undo_form(next: &str, tasks: Vec<String>, shows_archived: bool) -> impl IntoView + use<> {
    let decision = if shows_archived { "archive" } else { "restore" };
    let fields = tasks.into_iter().map(|id| view! { <input type="hidden" name="task" value=id/> });
    let fields = fields.collect::<Vec<_>>();
    view! {
        <form class="form-actions" method="post" action=PATH>
            <input type="hidden" name="next" value=next.to_owned()/>
            {fields}
            <Button small=true name="decision" value=decision title="Undo (z)" attr:data-list-key="z">"Undo"</Button>
        </form>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    #[test]
    fn a_list_offers_the_status_that_its_tasks_do_not_have() {
        let none = FormState::default();
        let active = to_html(bar("/actions", "refund", false, &none));
        assert!(active.contains("value=\"archive\"") && !active.contains("value=\"restore\""), "{active}");
        assert!(active.contains("name=\"q\" value=\"refund\""), "{active}");
        let archived = to_html(bar("/actions?status=archived", "", true, &none));
        assert!(archived.contains("value=\"restore\"") && !archived.contains("value=\"archive\""), "{archived}");
    }

    #[test]
    fn undo_gives_each_task_the_status_that_it_had() {
        for count in [1, 2, 7, 40] {
            let html = to_html(undo_form("/actions", vec!["t".to_owned(); count], false));
            assert_eq!(html.matches("name=\"task\"").count(), count);
            assert!(html.contains("value=\"restore\""), "{html}");
        }
        assert!(to_html(undo_form("/actions", vec!["t".into()], true)).contains("value=\"archive\""));
    }
}
