//! The page /agents/{slug}/memory.

use super::{change::new_document, document::document, home::results};
use crate::{
    FormState,
    document::render,
    entity::People,
    memory::{StalledWriter, document_href, stalled},
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{number::counted, shorten::one_line},
    ui::{
        button::{Button, ButtonLink, Look},
        empty::Empty,
        field::{Field, Input},
        page_head::PageHead,
        section::Section,
        time::moment,
    },
};
use domain::{memory::Folder, role::Permission};
use leptos::prelude::*;
use wire::memory::{
    FoundMemory, MemoryBlamedLine, MemoryConflict, MemoryDiff, MemoryDiffLine, MemoryDocument, MemoryVersion,
};

/// A view of a document.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum View {
    /// The rendered text.
    #[default]
    Text,
    /// The versions, and what one of them changed.
    History,
    /// The lines with their origin.
    Origin,
    /// The form that changes it.
    Edit,
}

impl View {
    /// The value of `?view=`; none for the rendered text.
    pub const fn query(self) -> Option<&'static str> {
        match self {
            Self::Text => None,
            Self::History => Some("history"),
            Self::Origin => Some("origin"),
            Self::Edit => Some("edit"),
        }
    }

    /// Returns the view with this value.
    pub fn parse(text: &str) -> Self {
        [Self::History, Self::Origin, Self::Edit]
            .into_iter()
            .find(|view| view.query() == Some(text))
            .unwrap_or_default()
    }
}

/// A change that is shown before it is saved.
#[derive(Debug, Clone)]
pub struct Preview {
    /// The text as it would be.
    pub text: String,
    /// Its lines beside those of the newest version.
    pub lines: Vec<MemoryDiffLine>,
}

/// The document that is shown.
#[derive(Debug, Clone)]
pub struct Selected {
    /// The document at its newest version.
    pub document: MemoryDocument,
    /// The text of that version; empty if it is deleted.
    pub text: String,
    /// Whether its texts were erased.
    pub is_erased: bool,
    /// Which part of the page is shown.
    pub view: View,
    /// Its versions, newest first; only for the history.
    pub versions: Vec<MemoryVersion>,
    /// The change of the version that is looked at; only for the history.
    pub diff: Option<MemoryDiff>,
    /// Its lines with their origin; only for that view.
    pub origin: Vec<MemoryBlamedLine>,
    /// The change that is previewed.
    pub preview: Option<Preview>,
    /// Both sides of a change that was refused, and the lines of the newest version beside those that were typed.
    pub conflict: Option<(MemoryConflict, Vec<MemoryDiffLine>)>,
}

/// Data of the page.
#[derive(Debug, Clone)]
pub struct Props {
    /// Slug of the agent.
    pub agent: String,
    /// Its documents by path.
    pub documents: Vec<MemoryDocument>,
    /// Whether there are more than are shown.
    pub has_more: bool,
    /// The document that is shown.
    pub selected: Option<Selected>,
    /// The newest versions of all documents; shown while no document is.
    pub recent: Vec<MemoryVersion>,
    /// What was searched for, and what was found.
    pub found: Option<(String, Vec<FoundMemory>)>,
    /// The agent's writer, if it waits after failures.
    pub stalled: Vec<StalledWriter>,
    /// Names of the authors.
    pub people: People,
    /// State of a refused form: `new`, `edit` or `change`.
    pub form: FormState,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    let title = match &props.selected {
        Some(selected) => one_line(&selected.document.path, 120),
        None => format!("Memory of {}", props.agent),
    };
    render(shell, &title, || {
        let writes = shell.may(Permission::WriteMemory);
        let crumbs = vec![
            ("Memory".to_owned(), "/memory".to_owned()),
            (props.agent.clone(), format!("/agents/{}", props.agent)),
        ];
        let agent_page = format!("/agents/{}", props.agent);
        let runs_page = format!("/agents/{}/memory/runs", props.agent);
        let aside = static_html(tree(&props));
        let main = match (&props.selected, &props.found) {
            (Some(selected), _) => static_html(document(shell, &props, selected)).into_any(),
            (None, Some((query, found))) => static_html(results(query, found)).into_any(),
            (None, None) => static_html(recent(&props)).into_any(),
        };
        let new = (writes && props.selected.is_none()).then(|| static_html(new_document(&props)));
        let page = view! {
            <PageHead title=title.clone() crumbs=crumbs>
                <ButtonLink look=Look::Quiet href=runs_page>"Writer"</ButtonLink>
                <ButtonLink look=Look::Quiet href=agent_page>"Agent"</ButtonLink>
            </PageHead>
            {static_html(stalled(shell, &props.stalled))}
            {static_html(search(&props))}
            <div class="memory">
                {aside}
                <div class="memory-main">{main}{new}</div>
            </div>
        };
        frame(shell, RailEntry::Memory, page)
    })
}

fn search(props: &Props) -> impl IntoView + use<> {
    let none = FormState::default();
    let asked = props.found.as_ref().map(|(query, _)| query.clone()).unwrap_or_default();
    let action = format!("/agents/{}/memory", props.agent);
    view! {
        <form class="filter" method="get" action=action role="search">
            <div class="field" data-wide="">
                <Input scope="search" field=Field::new("q", "Search this memory") kind="search" value=asked form=&none/>
            </div>
            <Button>"Search"</Button>
        </form>
    }
}

/// The documents by folder.
fn tree(props: &Props) -> impl IntoView + use<> {
    let here = props.selected.as_ref().map(|selected| selected.document.path.as_str());
    let folders = Folder::ALL.into_iter().filter_map(|folder| {
        let start = format!("{}/", folder.as_str());
        let inside: Vec<_> = props.documents.iter().filter(|document| document.path.starts_with(&start)).collect();
        (!inside.is_empty()).then(|| {
            let items = inside
                .into_iter()
                .map(|document| {
                    let name = document.path.trim_start_matches(&start).trim_end_matches(".md").to_owned();
                    let is_here = (here == Some(document.path.as_str())).then_some("page");
                    let href = document_href(&props.agent, &document.path, View::Text);
                    view! { <li><a class="memory-link" href=href aria-current=is_here dir="auto">{one_line(&name, 80)}</a></li> }
                })
                .collect::<Vec<_>>();
            view! {
                <li>
                    <span class="memory-folder">{folder.as_str()}"/"</span>
                    <ul>{items}</ul>
                </li>
            }
        })
    });
    let folders = folders.collect::<Vec<_>>();
    let is_empty = folders.is_empty();
    view! {
        <nav class="memory-tree" aria-label="Documents">
            {is_empty.then(|| view! { <p class="meta">"No documents."</p> })}
            <ul>{folders}</ul>
            {props.has_more.then(|| view! { <p class="meta">"Only the first documents are listed. Search finds all."</p> })}
        </nav>
    }
}

fn recent(props: &Props) -> impl IntoView + use<> {
    if props.recent.is_empty() {
        let sentence = "This agent remembers nothing yet. Documents appear here when its conversations are summarised, when it uses the memory tool, or when you write one.";
        return view! { <Empty sentence=sentence/> }.into_any();
    }
    let rows = props
        .recent
        .iter()
        .map(|version| {
            let is_gone = version.path.starts_with("erased/");
            let href = document_href(&props.agent, &version.path, View::History);
            let path = one_line(&version.path, 100);
            let name = if is_gone {
                view! { <span class="meta">"An erased document"</span> }.into_any()
            } else {
                view! { <a class="quiet" href=href dir="auto">{path}</a> }.into_any()
            };
            view! {
                <li class="history-item">
                    <p class="history-head">{name}<span class="meta">"v"{version.version}" · "{version.operation.as_str()}" · "{moment(version.created_at)}</span></p>
                    <p class="meta">{props.people.word(&version.author)}{(!version.reason.is_empty()).then(|| format!(": {}", one_line(&version.reason, 200)))}</p>
                </li>
            }
        })
        .collect::<Vec<_>>();
    let title = format!("Last changes of {}", counted(props.documents.len() as u64, "document"));
    view! { <Section name="recent" title=title><ol class="history">{rows}</ol></Section> }.into_any()
}
