//! The page on which the tag or the member is chosen for selected sessions, before the preview.

use super::bulk::PATH;
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
use domain::{limit::TAG_CHARS_MAX, session::BulkVerb};
use leptos::{prelude::*, tachys::html::InertElement};

/// Data of the page.
#[derive(Debug, Clone)]
pub struct ChoiceProps {
    /// Tag, untag, or assign.
    pub verb: BulkVerb,
    /// Fields that select the sessions, and the address of their list.
    pub fields: Vec<(String, String)>,
    /// Number of sessions whose check boxes are ticked; `None` for all that match a search.
    pub count: Option<usize>,
    /// Address of the list in which the sessions were selected.
    pub next: String,
    /// Active members: `(id, name)`.
    pub members: Vec<(String, String)>,
    /// What was typed, and why it was refused.
    pub form: FormState,
}

/// Renders the page.
pub fn bulk_choice_page(shell: &Shell, props: ChoiceProps) -> String {
    let is_tag = props.verb != BulkVerb::Assign;
    let title = if is_tag { "Tag sessions" } else { "Assign sessions" };
    render(shell, title, || {
        let crumbs = vec![("Sessions".to_owned(), props.next.clone())];
        let page = view! { <PageHead title=title crumbs=crumbs/>{choice_form(&props, is_tag)} };
        frame(shell, RailEntry::Sessions, page)
    })
}

fn choice_form(props: &ChoiceProps, is_tag: bool) -> InertElement {
    let selected = match props.count {
        Some(1) => "1 session is selected. The next page shows what will happen.".to_owned(),
        Some(count) => format!("{count} sessions are selected. The next page shows what will happen."),
        None => "All sessions that match are selected. The next page shows what will happen.".to_owned(),
    };
    let hidden = props.fields.iter().cloned();
    let hidden = hidden.map(|(name, value)| view! { <input type="hidden" name=name value=value/> });
    let hidden = hidden.collect::<Vec<_>>();
    let (field, buttons) = if is_tag { tag_parts(props) } else { assign_parts(props) };
    static_html(view! {
        <form class="form" method="post" action=PATH>
            {hidden}
            <Refused messages=props.form.general(&["tag", "userId"])/>
            <p class="meta">{selected}</p>
            {field}
            <div class="form-actions">
                {buttons}
                <ButtonLink href=props.next.clone()>"Back to the list"</ButtonLink>
            </div>
        </form>
    })
}

fn tag_parts(props: &ChoiceProps) -> (InertElement, InertElement) {
    let field = Field::new("tag", "Tag").hint("Lower-case letters, digits and hyphens, such as billing.").required();
    let input = view! { <Input scope="bulk" field=field form=&props.form chars_max=TAG_CHARS_MAX/> };
    let buttons = view! {
        <Button look=Look::Primary name="verb" value="tag">"Add the tag…"</Button>
        <Button name="verb" value="untag">"Remove the tag…"</Button>
    };
    (static_html(input), static_html(buttons))
}

fn assign_parts(props: &ChoiceProps) -> (InertElement, InertElement) {
    let no_one = (NO_ONE.to_owned(), "No one".to_owned());
    let options = props.members.iter().cloned().chain([no_one]).collect();
    let field = Field::new("userId", "Assigned to");
    let select = view! { <Select scope="bulk" field=field form=&props.form options=options/> };
    let buttons = view! { <Button look=Look::Primary name="verb" value="assign">"Assign…"</Button> };
    (static_html(select), static_html(buttons))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    fn props(verb: BulkVerb, count: Option<usize>) -> ChoiceProps {
        ChoiceProps {
            verb,
            fields: vec![("session".into(), "1".into()), ("session".into(), "2".into())],
            count,
            next: "/sessions".into(),
            members: vec![("7".into(), "<b>Ada</b>".into())],
            form: FormState::default(),
        }
    }

    #[test]
    fn the_selection_is_sent_on_with_the_tag_or_the_member() {
        let html = to_html(choice_form(&props(BulkVerb::Tag, Some(2)), true));
        for part in ["2 sessions are selected", "name=\"tag\"", "value=\"tag\"", "value=\"untag\""] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert_eq!(html.matches("name=\"session\"").count(), 2, "{html}");
        let html = to_html(choice_form(&props(BulkVerb::Assign, None), false));
        for part in ["All sessions that match", "&lt;b&gt;Ada&lt;/b&gt;", "<option value=\"none\"", "value=\"assign\""]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("name=\"tag\""), "{html}");
    }
}
