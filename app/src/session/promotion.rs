//! The form on the page of a response that creates an entity from it.

use super::PromoteResponse;
use crate::{
    form::FormState,
    render::static_html,
    server_function::page_fields,
    ui::{
        button::{Button, Look},
        field::{Field, GroupedSelect, Input},
        notice::Refused,
        popover::Sheet,
    },
};
use domain::limit::TITLE_CHARS_MAX;
use leptos::{prelude::*, server_fn::ServerFn as _, tachys::html::InertElement};

/// What the viewer can make of a response.
#[derive(Debug, Clone, Default)]
pub struct PromotionOffer {
    /// Ids and names of entity types.
    pub types: Vec<(String, String)>,
    /// Ids and names of tasks whose output is one entity.
    pub tasks: Vec<(String, String)>,
    /// Whether there are more types or tasks than these.
    pub has_more: bool,
    /// Whether only the viewer can read the response: it answers a question of an incognito session.
    pub is_private: bool,
}

/// The warning if answers of an incognito session would reach others.
const IS_PRIVATE: &str = "Only you can read this response. Everyone in the workspace can read the entity, and reviewers \
     read what they approve.";

/// The form. It is folded until it is refused.
pub fn promotion_form(session_id: &str, offer: &PromotionOffer, form: &FormState) -> InertElement {
    let page = format!("/sessions/{session_id}");
    let options = |kind: &str, offered: &[(String, String)]| {
        offered.iter().map(|(id, name)| (format!("{kind}:{id}"), name.clone())).collect::<Vec<_>>()
    };
    let groups = vec![
        ("At once, as", options("type", &offer.types)),
        ("By a task, with its rules and approval", options("task", &offer.tasks)),
    ];
    let hint = if offer.has_more { "Only the newest are listed here. The API takes the others." } else { "" };
    let to = Field::new("to", "Created as").hint(hint).required();
    let title = Field::new("title", "Title (optional)").hint("By default, the answer with the key title or name.");
    static_html(view! {
        <Sheet summary="Create an entity" open=form.is_refused()>
            <form class="form" method="post" action=PromoteResponse::PATH aria-label="Create an entity">
                {page_fields(format!("{page}?notice=response_promoted"), page)}
                <input type="hidden" name="session_id" value=session_id.to_owned()/>
                <Refused messages=of_answers(form)/>
                {offer.is_private.then(|| view! { <p class="meta">{IS_PRIVATE}</p> })}
                <div class="form-row">
                    <GroupedSelect scope="promote" field=to groups=groups form=form/>
                    <Input scope="promote" field=title chars_max=TITLE_CHARS_MAX form=form/>
                </div>
                <div class="form-actions"><Button look=Look::Primary>"Create"</Button></div>
            </form>
        </Sheet>
    })
}

/// Errors that no control of the form shows. An answer has no control here, so its error begins with its name.
fn of_answers(form: &FormState) -> Vec<String> {
    let errors = form.errors.iter().filter(|error| !matches!(error.field.as_deref(), Some("to" | "title")));
    let messages = errors.map(|error| match &error.field {
        Some(field) => format!("{field}: {}", error.message),
        None => error.message.clone(),
    });
    messages.collect()
}
