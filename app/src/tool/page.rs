//! The page /tools/{slug}.

use super::{
    NEEDS_ADMIN, audience_words,
    definition::definition_section,
    kind_word,
    offered::{Offered, offered_section},
    run::{Run, runs_section},
    run_form::run_section,
    secrets::secrets_section,
    versions::{Comparison, versions_section},
};
use crate::{
    FormState,
    document::render,
    entity::People,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::shorten::one_line,
    ui::{
        button::{Button, ButtonLink, Look},
        notice::Refused,
        page_head::PageHead,
        time::moment,
    },
    view::state_badge,
};
use domain::{role::Permission, tool::State};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::tool::{Tool, ToolSecret, ToolVersion};

/// Data of the page of a tool.
#[derive(Debug, Clone)]
pub struct Props {
    /// The tool with its working copy.
    pub tool: Tool,
    /// Its newest versions, newest first.
    pub versions: Vec<ToolVersion>,
    /// Whether there are more versions than these.
    pub has_more_versions: bool,
    /// The version that is compared with the one before it, if the reader chose one.
    pub comparison: Option<Comparison>,
    /// Whether the tool is published, and the reader may run it.
    pub may_run: bool,
    /// Names of everyone who may have written it.
    pub people: People,
    /// Whether only an admin may publish or test the working copy, and the reader is none.
    pub needs_admin: bool,
    /// Its secrets without values; `None` for everyone who may not manage them.
    pub secrets: Option<Vec<ToolSecret>>,
    /// Names of secrets that the call needs and that are not set; empty for everyone who may not manage them.
    pub missing_secrets: Vec<String>,
    /// Why the last publication was refused.
    pub refusals: Vec<String>,
    /// State of the form that sets a secret.
    pub secret_form: FormState,
    /// How the tool can be run, and its runs.
    pub run: Run,
    /// The listed tool of its MCP server, for those who may change the tool.
    pub offered: Option<Offered>,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    let title = one_line(&props.tool.definition.name, 120);
    render(shell, &title, || {
        let Props { tool, people, .. } = &props;
        let definition = &tool.definition;
        let manages = shell.may(Permission::ManageTools);
        let edit = manages.then(|| {
            view! {
                <ButtonLink href=format!("/tools/{}/links", tool.slug)>"Links"</ButtonLink>
                <ButtonLink href=format!("/tools/{}/edit", tool.slug)>"Edit"</ButtonLink>
            }
        });
        let version = match tool.version {
            None => "none".to_owned(),
            Some(version) if tool.changed => format!("{version}, with unpublished changes"),
            Some(version) => version.to_string(),
        };
        let about = (!definition.description.is_empty())
            .then(|| view! { <p class="tool-about" dir="auto">{definition.description.clone()}</p> });
        let not_you = (tool.state == State::Published && !props.may_run)
            .then(|| view! { <span class="meta">" · not you"</span> });
        let secrets = props.secrets.as_deref();
        let offered = definition.mcp().zip(props.offered.as_ref());
        // The page has one primary button: the one that publishes what no version has yet, or the one that runs.
        let publishes_first = manages && !props.needs_admin && has_unpublished(tool);
        let run_look = if publishes_first { Look::Plain } else { Look::Primary };
        let page = view! {
            <PageHead title=title.clone() crumbs=vec![("Tools".to_owned(), "/tools".to_owned())]>{edit}</PageHead>
            <Refused messages=props.refusals.clone()/>
            {about}
            <dl class="facts">
                <div><dt>"State"</dt><dd>{state_badge(tool.state)}</dd></div>
                <div><dt>"Version"</dt><dd>{version}</dd></div>
                <div><dt>"Kind"</dt><dd>{kind_word(definition.kind())}</dd></div>
                <div><dt>"Slug"</dt><dd><code>{tool.slug.clone()}</code></dd></div>
                <div><dt>"Who may run it"</dt><dd dir="auto">{audience_words(&definition.audience)}{not_you}</dd></div>
                <div><dt>"Changed"</dt><dd>{moment(tool.updated_at)}</dd></div>
                <div><dt>"By"</dt><dd>{people.word(&tool.updated_by)}</dd></div>
            </dl>
            {manages.then(|| state_form(tool, props.needs_admin))}
            {run_section(shell, &tool.slug, &props.run, props.may_run, run_look)}
            {runs_section(shell, &tool.slug, &props.run, props.may_run, people)}
            {offered.and_then(|(call, offered)| offered_section(call, offered))}
            {definition_section(definition)}
            {secrets.map(|secrets| secrets_section(tool, (secrets, props.missing_secrets.as_slice()), props.versions.first(), people, &props.secret_form))}
            {versions_section(tool, &props.versions, props.has_more_versions, props.comparison.as_ref(), people)}
        };
        frame(shell, RailEntry::Actions, page)
    })
}

/// Whether the working copy differs from the published version, or none is published.
fn has_unpublished(tool: &Tool) -> bool {
    tool.state != State::Published || tool.changed
}

/// Publishes, withdraws or deletes.
fn state_form(tool: &Tool, needs_admin: bool) -> InertElement {
    // The tools of its steps may have newer versions, which a new publication names.
    let is_composite = tool.definition.composite().is_some();
    let can_publish = has_unpublished(tool) || is_composite;
    let why = (can_publish && needs_admin).then(|| view! { <p class="meta">{NEEDS_ADMIN}</p> });
    let publish = (can_publish && !needs_admin).then(|| {
        let word = match (tool.version, tool.changed) {
            (Some(_), true) => "Publish changes",
            _ if tool.state == State::Published => "Publish with the newest versions of its steps",
            _ => "Publish",
        };
        let look = if has_unpublished(tool) { Look::Primary } else { Look::Plain };
        view! { <Button name="do" value="publish" look=look>{word}</Button> }
    });
    let withdraw = (tool.state == State::Published).then(|| {
        view! { <Button name="do" value="unpublish">"Unpublish"</Button> }
    });
    let delete = (tool.state == State::Draft).then(|| {
        view! { <Button name="do" value="delete" look=Look::Danger>"Delete draft"</Button> }
    });
    static_html(view! {
        <form class="form-actions" method="post" action=format!("/tools/{}", tool.slug)>
            <input type="hidden" name="revision" value=tool.revision.to_string()/>
            {publish}
            {withdraw}
            {delete}
            {why}
        </form>
    })
}
