//! The editor of a tool. Fields: `revision`, `slug` (new tools only), `name`, `description`, and `definition`: the
//! other parts of the definition as JSON.

use super::{NEEDS_ADMIN, NO_INPUT};
use crate::{
    FormState,
    document::render,
    render::static_html,
    schema_form::{Drawn, Place, draw_fields, sent_fields},
    shell::{RailEntry, Shell, frame},
    text::shorten::one_line,
    ui::{
        button::{Button, Look},
        field::{Field, Input, TextArea},
        notice::Refused,
        page_head::PageHead,
        section::Section,
    },
};
use domain::{
    schema_form::{Form, begin},
    tool::Definition,
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
    /// The stored working copy, which can be tried; `None` for a new tool.
    pub stored: Option<Definition>,
    /// Whether only an admin may test the stored working copy, and the reader is none.
    pub needs_admin: bool,
    /// The part of the form that tries it that the last button was about; empty if there was none.
    pub focus: String,
}

/// Renders the page. `form` says what is wrong, with the typed values; `tried` says it of the form that tries the tool.
pub fn editor_page(shell: &Shell, draft: &Draft, form: &FormState, tried: &FormState) -> String {
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
            {try_section(shell, draft, tried)}
        };
        frame(shell, RailEntry::Actions, page)
    })
}

/// The form that tests the stored working copy. It posts the fields `input.KEY` to /tools/{slug}/test.
fn try_section(shell: &Shell, draft: &Draft, tried: &FormState) -> Option<InertElement> {
    let (slug, stored) = (draft.slug.as_ref()?, draft.stored.as_ref()?);
    if draft.needs_admin {
        let why = static_html(
            view! { <Section name="try" id="try" title="Test"><p class="meta">{NEEDS_ADMIN}</p></Section> },
        );
        return Some(why);
    }
    let (target, form) = (format!("/tools/{slug}/test"), Form::of_input(&stored.input_schema));
    let texts = sent_fields(form, tried).unwrap_or_else(|| begin(form));
    let place = Place { scope: "run", label: "Input", target: &target, nothing: NO_INPUT, keeps_rows: false };
    let Drawn { html: fields, names, takes_files, json_button, .. } =
        draw_fields(place, form, &texts, (tried, &draft.focus));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Some(static_html(view! {
        <Section name="try" id="try" title="Test">
            <p class="meta">"Runs the saved working copy, published or not. Calls are real. The session is marked as a test, and insights leave it out."</p>
            <form class="form" method="post" action=format!("{target}#try") enctype=takes_files.then_some("multipart/form-data")>
                // Enter in a field presses the first button, which must not be one that changes the form.
                <button class="hidden-text" type="submit" tabindex="-1" aria-hidden="true">"Run a test"</button>
                <input type="hidden" name="_id" value=format!("{}-{slug}", shell.form_key)/>
                <Refused messages=tried.general(&names)/>
                {fields}
                <div class="form-actions"><Button>"Run a test"</Button>{json_button}</div>
            </form>
        </Section>
    }))
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
        "JSON with kind, inputSchema, and http for an HTTP call, composite for steps, or mcp for a tool of an MCP server. See the documentation of tools for all members.",
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
