//! The pages /criteria-sets/{id} and /criteria-sets/new.

use super::{
    editor::{editor, kind_word},
    preview::{Preview, try_fields, verdict},
};
use crate::{
    FormState,
    document::render,
    entity::People,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::shorten::one_line,
    ui::{
        button::Button,
        page_head::PageHead,
        popover::Sheet,
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{
    criteria_set::{Choice, Dimension, DimensionKind},
    role::Permission,
};
use leptos::prelude::*;
use wire::criteria_set::CriteriaSet;

/// Data of the page of a criteria set.
#[derive(Debug, Clone)]
pub struct Props {
    /// The shown version of the set.
    pub set: CriteriaSet,
    /// The versions of the set, newest first.
    pub versions: Vec<CriteriaSet>,
    /// Whether there are more versions than these.
    pub has_more_versions: bool,
    /// Names of the authors of the versions.
    pub people: People,
    /// The result of a preview: of the shown version, or of the editor (form `edit`).
    pub preview: Option<Preview>,
    /// State of a refused or previewed `POST /criteria-sets/{id}`: form `edit` or `try`.
    pub form: FormState,
}

fn crumbs() -> Vec<(String, String)> {
    vec![("Tasks".to_owned(), "/actions".to_owned()), ("Criteria sets".to_owned(), "/criteria-sets".to_owned())]
}

/// Renders the page that creates a set.
pub fn new_page(shell: &Shell, preview: Option<Preview>, form: &FormState) -> String {
    render(shell, "New criteria set", || {
        let page = view! {
            <PageHead title="New criteria set" crumbs=crumbs()/>
            {static_html(editor(None, preview.as_ref(), form))}
        };
        frame(shell, RailEntry::Actions, page)
    })
}

/// Renders the page of a set.
pub fn page(shell: &Shell, props: Props) -> String {
    let title = one_line(&props.set.name, 120);
    render(shell, &title, || {
        let Props { set, versions, has_more_versions, people, preview, form } = props;
        let is_newest = set.version == set.newest_version;
        let manages = shell.may(Permission::ManageCriteriaSets) && is_newest;
        let (edits, tries) = (form.of("edit"), form.of("try"));
        let editing = form.form == "edit";
        let tried = preview.as_ref().filter(|_| !editing);
        let older = (!is_newest).then(|| {
            let href = format!("/criteria-sets/{}", set.id);
            view! {
                <p class="meta">
                    {format!("This is version {} of {}. ", set.version, set.newest_version)}
                    <a href=href>"Show the newest version"</a>
                </p>
            }
        });
        let edit = manages.then(|| {
            let inner = static_html(editor(Some(&set), preview.as_ref().filter(|_| editing), &edits));
            view! {
                <Sheet summary="Edit" open=editing>
                    <div>{inner}</div>
                </Sheet>
            }
        });
        let about = (!set.description.is_empty()).then(|| view! { <p dir="auto">{set.description.clone()}</p> });
        let page = view! {
            <PageHead title=title.clone() crumbs=crumbs()/>
            {older}
            <dl class="facts">
                <div><dt>"Slug"</dt><dd><code>{set.slug.clone()}</code></dd></div>
                <div><dt>"Version"</dt><dd>{set.version}</dd></div>
                <div><dt>"Created"</dt><dd>{moment(set.updated_at)}</dd></div>
                <div><dt>"By"</dt><dd>{people.word(&set.updated_by)}</dd></div>
            </dl>
            {about}
            {static_html(dimension_table(&set.dimensions))}
            {static_html(try_section(&set, tried, &tries))}
            {edit}
            {static_html(history(&set, &versions, has_more_versions, &people))}
        };
        frame(shell, RailEntry::Actions, page)
    })
}

fn try_section(set: &CriteriaSet, preview: Option<&Preview>, form: &FormState) -> impl IntoView + use<> {
    let chooses = set.dimensions.iter().any(|d| d.kind == DimensionKind::Select);
    let body = if chooses {
        view! {
            <form class="form" method="post" action=format!("/criteria-sets/{}?version={}#verdict", set.id, set.version)>
                {try_fields("try", &set.dimensions, form)}
                {preview.map(verdict)}
                <div class="form-actions"><Button name="do" value="try">"Evaluate"</Button></div>
            </form>
        }
        .into_any()
    } else {
        view! { <p class="meta">"This set has no choices, so it cannot block or score an output."</p> }.into_any()
    };
    view! {
        <Section name="try" title="Try it">
            <p class="meta">"Choose values as an agent's output would have them, and see whether the output would reach a reviewer."</p>
            {body}
        </Section>
    }
}

fn dimension_table(dimensions: &[Dimension]) -> impl IntoView + use<> {
    let rows = dimensions
        .iter()
        .map(|dimension| {
            let range = match (dimension.min, dimension.max) {
                (None, None) => String::new(),
                (Some(min), None) => format!("from {min}"),
                (None, Some(max)) => format!("up to {max}"),
                (Some(min), Some(max)) => format!("{min} to {max}"),
            };
            let options = dimension.options.iter().map(choice).collect::<Vec<_>>();
            view! {
                <tr>
                    <td class="table-main">
                        <span dir="auto">{dimension.name.clone()}</span>
                        <div class="meta" dir="auto">{one_line(&dimension.description, 200)}</div>
                    </td>
                    <td class="meta"><code>{dimension.slug.clone()}</code></td>
                    <td class="meta">{kind_word(dimension.kind)}</td>
                    <td>{(!options.is_empty()).then(|| view! { <ul class="criteria-options">{options}</ul> })}<span class="meta">{range}</span></td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    view! {
        <Table caption="Dimensions, in the order in which they are checked" columns=vec![Column::text("Dimension"), Column::text("Slug"), Column::text("Type of answer"), Column::text("Options or range")] focusable=true>{rows}</Table>
    }
}

/// An option with its style, score and hard block, in words as well as in colour.
fn choice(option: &Choice) -> impl IntoView + use<> {
    let value = (option.label != option.value).then(|| view! { " " <code>{option.value.clone()}</code> });
    let score = option.score.map(|score| format!(" · {score}"));
    let block = option.hard_block.then(|| view! { <strong class="criteria-block">"hard block"</strong> });
    view! {
        <li>
            <span class="criteria-option" data-style=option.style.as_str()>
                <span dir="auto">{option.label.clone()}</span>{value}
                <span class="meta">{option.style.as_str()}{score}</span>
            </span>
            {block}
        </li>
    }
}

fn history(set: &CriteriaSet, versions: &[CriteriaSet], has_more: bool, people: &People) -> impl IntoView + use<> {
    let items = versions
        .iter()
        .map(|version| {
            let here = version.version == set.version;
            let href = format!("/criteria-sets/{}?version={}", set.id, version.version);
            view! {
                <li>
                    <a class="quiet" href=href aria-current=here.then_some("true")>{format!("Version {}", version.version)}</a>
                    <span class="meta">" · "{moment(version.updated_at)}" · "{people.word(&version.updated_by)}</span>
                </li>
            }
        })
        .collect::<Vec<_>>();
    let more = has_more.then(|| view! { <p class="meta">"Earlier versions are available through the API."</p> });
    view! {
        <Section name="versions" title="Versions">
            <ol class="criteria-versions" reversed>{items}</ol>
            {more}
        </Section>
    }
}
