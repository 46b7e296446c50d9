//! The page /views/{slug}.

use super::{
    kind_word,
    links::{LinksProps, links_section},
    preview::preview,
    state_badge,
};
use crate::{
    document::render,
    entity::People,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::shorten::one_line,
    ui::{
        button::{Button, ButtonLink, Look},
        notice::Refused,
        page_head::PageHead,
        section::Section,
        table::{Column, Table},
        time::{moment, stamp},
    },
};
use domain::{
    role::Permission,
    view::{Field, Gate, Publication, Responses, State},
};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::view::{View, ViewVersion};

/// Data of the page of a form.
#[derive(Debug, Clone)]
pub struct Props {
    /// The form with its working copy.
    pub form: View,
    /// Its newest versions, newest first.
    pub versions: Vec<ViewVersion>,
    /// Whether there are more versions than these.
    pub has_more_versions: bool,
    /// Names of everyone who may have written it.
    pub people: People,
    /// Why the last publication was refused.
    pub refusals: Vec<String>,
    /// Links to the form, for those who may create them.
    pub links: LinksProps,
    /// The questions of the working copy with the dimensions of their ratings, for the preview.
    pub preview: Vec<Field>,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    let title = one_line(&props.form.title, 120);
    render(shell, &title, || {
        let Props { form, versions, has_more_versions, people, refusals, links, preview: asked } = props;
        let manages = shell.may(Permission::ManageViews);
        let edit = manages.then(|| {
            view! { <ButtonLink href=format!("/views/{}/edit", form.slug)>"Edit"</ButtonLink> }
        });
        let answer = (form.state == State::Published && form.publish_config.gate == Gate::Member).then(|| {
            view! { <ButtonLink href=format!("/views/{}/answer", form.slug)>"Answer"</ButtonLink> }
        });
        let responses = form.version.is_some().then(|| {
            view! { <ButtonLink href=format!("/views/{}/responses", form.slug)>"Responses"</ButtonLink> }
        });
        let version = match form.version {
            None => "none".to_owned(),
            Some(version) if form.changed => format!("{version}, with unpublished changes"),
            Some(version) => version.to_string(),
        };
        let publication = publication(&form.publish_config);
        let preview = preview(&form.title, &form.introduction, &asked);
        let page = view! {
            <PageHead title=title.clone() crumbs=vec![("Forms".to_owned(), "/views".to_owned())]>{answer}{responses}{edit}</PageHead>
            <Refused messages=refusals/>
            <dl class="facts">
                <div><dt>"State"</dt><dd>{state_badge(form.state)}</dd></div>
                <div><dt>"Version"</dt><dd>{version}</dd></div>
                <div><dt>"Slug"</dt><dd><code>{form.slug.clone()}</code></dd></div>
                <div><dt>"Changed"</dt><dd>{moment(form.updated_at)}</dd></div>
                <div><dt>"By"</dt><dd>{people.word(&form.updated_by)}</dd></div>
            </dl>
            {manages.then(|| state_form(&form))}
            {manages.then(|| links_section(&form, &links, &people))}
            {question_table(&form)}
            <Section name="publication" title="Publication">{publication}</Section>
            <Section name="preview" title="Preview">{preview}</Section>
            {history(&form, &versions, has_more_versions, &people)}
        };
        frame(shell, RailEntry::Actions, page)
    })
}

/// Publishes, closes or deletes.
fn state_form(form: &View) -> InertElement {
    // A form without questions cannot be published.
    let is_ready = !form.fields.is_empty() && (form.state != State::Published || form.changed);
    let publish = is_ready.then(|| {
        let word = if form.version.is_some() && form.changed { "Publish changes" } else { "Publish" };
        view! { <Button name="do" value="publish" look=Look::Primary>{word}</Button> }
    });
    let close = (form.state == State::Published).then(|| {
        view! { <Button name="do" value="unpublish">"Unpublish"</Button> }
    });
    let delete = (form.state == State::Draft).then(|| {
        view! { <Button name="do" value="delete" look=Look::Danger>"Delete draft"</Button> }
    });
    static_html(view! {
        <form class="form-actions" method="post" action=format!("/views/{}", form.slug)>
            <input type="hidden" name="revision" value=form.revision.to_string()/>
            {publish}
            {close}
            {delete}
        </form>
    })
}

fn question_table(form: &View) -> InertElement {
    if form.fields.is_empty() {
        return static_html(());
    }
    let rows = form
        .fields
        .iter()
        .map(|field| {
            let mut notes = Vec::new();
            if field.required {
                notes.push("required".to_owned());
            }
            if field.hidden {
                notes.push("not shown".to_owned());
            }
            if field.prefill {
                notes.push("from the link".to_owned());
            }
            if let Some(condition) = &field.show_if {
                notes.push(format!("depends on {}", condition.field));
            }
            view! {
                <tr>
                    <td class="table-main">
                        <span dir="auto">{one_line(&field.label, 200)}</span>
                        <div class="meta" dir="auto">{one_line(&field.help, 200)}</div>
                    </td>
                    <td class="meta"><code>{field.key.clone()}</code></td>
                    <td class="meta">{kind_word(field.kind.name())}</td>
                    <td class="meta">{notes.join(", ")}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    static_html(view! {
        <Table caption="Questions, in the order of the form" columns=vec![Column::text("Question"), Column::text("Key"), Column::text("Kind of answer"), Column::text("Notes")] focusable=true>{rows}</Table>
    })
}

fn publication(config: &Publication) -> InertElement {
    let who = match (config.gate, &config.audience) {
        (Gate::None, _) => "Anyone with the link".to_owned(),
        (Gate::Lead, _) => "Anyone who gives name and e-mail address".to_owned(),
        (Gate::Member, Some(group)) => format!("Members of the group {group}"),
        (Gate::Member, None) => "Members, signed in".to_owned(),
    };
    let often = match config.responses {
        Responses::One => "once",
        Responses::Many => "any number of times",
    };
    let fact = |label: &'static str, value: Option<String>| {
        value.map(|value| view! { <div><dt>{label}</dt><dd dir="auto">{value}</dd></div> })
    };
    let time = |label: &'static str, at: Option<domain::Timestamp>| {
        at.map(|at| view! { <div><dt>{label}</dt><dd>{stamp(at)}</dd></div> })
    };
    let origins = (!config.embed_origins.is_empty()).then(|| config.embed_origins.join(", "));
    static_html(view! {
        <dl class="facts">
            <div><dt>"Who"</dt><dd>{who}</dd></div>
            <div><dt>"How often"</dt><dd>{often}</dd></div>
            {fact("Most responses", config.max_responses.map(|most| most.to_string()))}
            {time("Opens", config.opens_at)}
            {time("Closes", config.closes_at)}
            {fact("Afterwards", config.redirect_url.clone())}
            {fact("Embedded by", origins)}
        </dl>
    })
}

fn history(form: &View, versions: &[ViewVersion], has_more: bool, people: &People) -> InertElement {
    let items = versions
        .iter()
        .map(|version| {
            let href = format!("/api/views/{}/schema?version={}", form.id, version.version);
            view! {
                <li>
                    {format!("Version {}", version.version)}
                    <span class="meta">" · "{moment(version.published_at)}" · "{people.word(&version.published_by)}" · "</span>
                    <a href=href>{format!("JSON Schema of version {}", version.version)}</a>
                </li>
            }
        })
        .collect::<Vec<_>>();
    let none = items.is_empty().then(|| view! { <p class="meta">"It was never published."</p> });
    let more = has_more.then(|| view! { <p class="meta">"Earlier versions are available through the API."</p> });
    static_html(view! {
        <Section name="versions" title="Versions">
            <ol class="criteria-versions" reversed>{items}</ol>
            {none}
            {more}
        </Section>
    })
}
