//! The page /sessions/{id}/labels: the tags of a session, and the member who looks after it.

use super::title::row_title;
use crate::{
    FormState,
    document::render,
    label::NO_ONE,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    ui::{
        button::{Button, ButtonLink, Look},
        field::{Field, Input, Select},
        notice::Refused,
        page_head::PageHead,
    },
};
use domain::limit::{SESSION_TAGS_MAX, TAG_CHARS_MAX};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::session::Session;

/// Name of the field with the tags that the page showed, separated by spaces.
pub const SHOWN_TAGS: &str = "shownTags";
/// Name of the field with the member whom the page showed, or [`NO_ONE`].
pub const SHOWN_ASSIGNEE: &str = "shownUserId";

/// Data of the page.
#[derive(Debug, Clone)]
pub struct LabelProps {
    /// What is tagged or assigned.
    pub session: Session,
    /// Active members: `(id, name)`.
    pub members: Vec<(String, String)>,
    /// Name of the member who looks after it.
    pub assignee: Option<String>,
    /// What was typed, and why it was refused.
    pub form: FormState,
}

/// Renders the page.
pub fn label_page(shell: &Shell, props: LabelProps) -> String {
    render(shell, "Tag or assign", || {
        let (title, href) = (row_title(&props.session), format!("/sessions/{}", props.session.id));
        let crumbs = vec![("Sessions".to_owned(), "/sessions".to_owned()), (title, href)];
        let page = view! { <PageHead title="Tag or assign" crumbs=crumbs/>{label_form(&props)} };
        frame(shell, RailEntry::Sessions, page)
    })
}

fn label_form(props: &LabelProps) -> InertElement {
    let LabelProps { session, members, assignee, form } = props;
    let href = format!("/sessions/{}", session.id);
    let hint = format!("Separated by spaces, at most {SESSION_TAGS_MAX}: lower-case letters, digits and hyphens.");
    let tags = Field::new("tags", "Tags").hint(&hint);
    let chars_max = SESSION_TAGS_MAX * (TAG_CHARS_MAX + 1);
    let present = session.assignee_id.map_or_else(|| NO_ONE.to_owned(), |id| id.to_string());
    // A member who is no longer active keeps the session until someone else gets it.
    let is_listed = present == NO_ONE || members.iter().any(|(id, _)| *id == present);
    let former = (!is_listed).then(|| (present.clone(), assignee.clone().unwrap_or_else(|| "A former member".into())));
    let options = [(NO_ONE.to_owned(), "No one".to_owned())].into_iter().chain(former).chain(members.iter().cloned());
    let options: Vec<(String, String)> = options.collect();
    let tags_shown = session.tags.join(" ");
    // Only what differs from what the page showed is changed: others may have tagged or assigned it meanwhile.
    let (shown, shown_id) = (form.value_or(SHOWN_TAGS, &tags_shown), form.value_or(SHOWN_ASSIGNEE, &present));
    static_html(view! {
        <form class="form" method="post" action=format!("{href}/labels")>
            <input type="hidden" name=SHOWN_TAGS value=shown/>
            <input type="hidden" name=SHOWN_ASSIGNEE value=shown_id/>
            <Refused messages=form.general(&["tags", "userId"])/>
            <Input scope="labels" field=tags form=form value=tags_shown chars_max=chars_max/>
            <Select scope="labels" field=Field::new("userId", "Assigned to") form=form options=options value=present/>
            <div class="form-actions">
                <Button look=Look::Primary>"Save"</Button>
                <ButtonLink href=href.clone()>"Back to the session"</ButtonLink>
            </div>
        </form>
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{render::to_html, session::fixture};

    #[test]
    fn the_form_begins_with_what_the_session_has() {
        let mut session = fixture::session();
        session.tags = vec!["acme".into(), "billing".into()];
        session.assignee_id = Some("0193b0a0-0000-7000-8000-000000000001".parse().unwrap());
        let member = ("0193b0a0-0000-7000-8000-000000000002".to_owned(), "Bob".to_owned());
        let assignee = Some("<b>Ada</b>".to_owned());
        let props = LabelProps { session, members: vec![member], assignee, form: FormState::default() };
        let html = to_html(label_form(&props));
        assert_eq!(html.matches("value=\"acme billing\"").count(), 2, "shown and typed: {html}");
        for part in ["name=\"shownTags\"", ">No one<", ">Bob<", "&lt;b&gt;Ada&lt;/b&gt;"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        let chosen = "value=\"0193b0a0-0000-7000-8000-000000000001\" selected";
        assert!(html.contains(chosen), "a member who left is still shown: {html}");
    }
}
