//! The editor of a tool. Fields: `revision`, `slug` (new tools only), `name`, `description`, and `definition`: the
//! other parts of the definition as JSON.

use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::shorten::one_line,
    ui::{
        button::{Button, Look},
        field::{Field, Input, TextArea},
        notice::Refused,
        page_head::PageHead,
    },
};
use leptos::{prelude::*, tachys::html::InertElement};

/// What the editor holds.
#[derive(Debug, Clone, Default)]
pub struct Draft {
    /// Slug of the tool; `None` for a new one.
    pub slug: Option<String>,
    /// The revision that was read; 0 for a new tool.
    pub revision: u64,
    /// Name of the tool.
    pub name: String,
    /// What the tool does and when to use it.
    pub description: String,
    /// The other parts of the definition as JSON.
    pub definition: String,
}

/// Renders the page. `form` says what is wrong, with the typed values.
pub fn editor_page(shell: &Shell, draft: &Draft, form: &FormState) -> String {
    let title = match &draft.slug {
        None => "New tool".to_owned(),
        Some(_) => format!("Edit {}", one_line(&draft.name, 100)),
    };
    render(shell, &title, || {
        let mut crumbs = vec![("Tools".to_owned(), "/tools".to_owned())];
        if let Some(slug) = &draft.slug {
            crumbs.push((one_line(&draft.name, 60), format!("/tools/{slug}")));
        }
        let page = view! {
            <PageHead title=title.clone() crumbs=crumbs/>
            {editor(draft, form)}
        };
        frame(shell, RailEntry::Actions, page)
    })
}

fn editor(draft: &Draft, form: &FormState) -> InertElement {
    let target = draft.slug.as_ref().map_or_else(|| "/tools".to_owned(), |slug| format!("/tools/{slug}/edit"));
    let slug = draft.slug.is_none().then(|| {
        static_html(view! { <Input scope="edit" field=Field::new("slug", "Slug").hint("Its address, and its name for agents. Created from the name if left empty. It cannot be changed later.") form=form/> })
    });
    let (save, note) = match draft.slug {
        Some(_) => ("Save", "Runs use the published version until you publish again."),
        None => ("Create tool", "A tool can be run when it is published."),
    };
    let json = Field::new("definition", "Definition").required().hint(
        "JSON with kind, inputSchema, and http for an HTTP call or composite for steps. See the documentation of tools for all members.",
    );
    static_html(view! {
        <form class="form tool-form" method="post" action=target novalidate>
            <Refused messages=form.general(&["name", "slug", "description", "definition"])/>
            <input type="hidden" name="revision" value=draft.revision.to_string()/>
            <Input scope="edit" field=Field::new("name", "Name").required() value=&draft.name form=form/>
            {slug}
            <TextArea scope="edit" field=Field::new("description", "Description").hint("What it does and when to use it, for people and models.") value=&draft.description rows=3 form=form/>
            <TextArea scope="edit" field=json value=&draft.definition json=true rows=24 form=form/>
            <div class="form-actions">
                <Button look=Look::Primary>{save}</Button>
                <span class="meta">{note}</span>
            </div>
        </form>
    })
}
