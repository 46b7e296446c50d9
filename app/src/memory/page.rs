//! The page /agents/{slug}/memory.

use super::{
    change::new_document,
    document::document,
    erased::{self, erased},
    home::results,
    props::{Props, View},
};
use crate::{
    document::render,
    memory::{document_href, document_name, stalled},
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{number::counted, shorten::one_line},
    ui::{
        button::{ButtonLink, Look},
        empty::Empty,
        page_head::PageHead,
        section::Section,
        time::moment,
    },
};
use domain::{memory::Folder, memory_writer::slot::PARTS_OF_DAY, role::Permission};
use leptos::prelude::*;

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    let title = match &props.selected {
        Some(selected) if selected.is_erased => erased::NAME.to_owned(),
        Some(selected) => one_line(&document_name(&props.people, &selected.document.path), 120),
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
            (Some(selected), _) if selected.is_erased => static_html(erased(&props, selected)).into_any(),
            (Some(selected), _) => static_html(document(shell, &props, selected)).into_any(),
            (None, Some((query, found))) => static_html(results(query, found, &props.people)).into_any(),
            (None, None) => static_html(recent(&props)).into_any(),
        };
        let new = (writes && props.selected.is_none()).then(|| static_html(new_document(&props)));
        let page = view! {
            <PageHead title=title.clone() crumbs=crumbs>
                <ButtonLink look=Look::Quiet href=runs_page>"Writer"</ButtonLink>
                <ButtonLink look=Look::Quiet href=agent_page>"Agent"</ButtonLink>
            </PageHead>
            {static_html(stalled(shell, &props.stalled))}
            {static_html(props.search.view(&format!("/agents/{}/memory", props.agent), "Search this memory"))}
            <div class="memory">
                {aside}
                <div class="memory-main">{main}{new}</div>
            </div>
        };
        frame(shell, RailEntry::Memory, page)
    })
}

/// Most documents whose folders are all unfolded. Of more only the folder of the shown document is.
const UNFOLDED_MAX: usize = 12;

/// The documents by folder. Folders can be folded, and on a narrow screen the whole list, so that the document is not
/// far below.
fn tree(props: &Props) -> impl IntoView + use<> {
    let here = props.selected.as_ref().map(|selected| selected.document.path.as_str());
    let is_short = props.documents.len() <= UNFOLDED_MAX;
    let folders = Folder::ALL.into_iter().filter_map(|folder| {
        let start = format!("{}/", folder.as_str());
        let mut inside: Vec<_> = props.documents.iter().filter(|document| document.path.starts_with(&start)).collect();
        inside.sort_by_cached_key(|document| tree_key(&document.path));
        let is_open = is_short || here.is_some_and(|here| here.starts_with(&start));
        let count = inside.len();
        (!inside.is_empty()).then(|| {
            let items = inside
                .into_iter()
                .map(|document| {
                    let name = document_name(&props.people, &document.path);
                    let name = name.trim_start_matches(&start).trim_end_matches(".md").to_owned();
                    let title = document.path.clone();
                    let is_here = (here == Some(document.path.as_str())).then_some("page");
                    let href = document_href(&props.agent, &document.path, View::Text);
                    view! { <li><a class="memory-link" href=href aria-current=is_here title=title dir="auto">{one_line(&name, 80)}</a></li> }
                })
                .collect::<Vec<_>>();
            view! {
                <li>
                    <details open=is_open>
                        <summary class="memory-folder">{folder.as_str()}"/ "<span class="meta">{count}</span></summary>
                        <ul>{items}</ul>
                    </details>
                </li>
            }
        })
    });
    let folders = folders.collect::<Vec<_>>();
    let is_empty = folders.is_empty();
    let count = counted(props.documents.len() as u64, "document");
    // On a narrow screen the list is above the document, and on a wide one beside it, where it never folds.
    view! {
        <nav class="memory-tree" aria-label="Documents">
            <details class="memory-fold" open=here.is_none()>
                <summary>{count}</summary>
                {is_empty.then(|| view! { <p class="meta">"No documents."</p> })}
                <ul>{folders}</ul>
                {props.has_more.then(|| view! { <p class="meta">"Only the first documents are listed. Search finds all."</p> })}
            </details>
        </nav>
    }
}

/// The order of documents in a folder: by name, and summaries by day, part of the day, and number.
fn tree_key(path: &str) -> (String, usize, u32, String) {
    let name = path.trim_end_matches(".md");
    let summary = name.strip_prefix("sessions/").and_then(|name| name.split_at_checked("2026-01-31-".len()));
    let Some((day, slot)) = summary else { return (name.to_owned(), 0, 0, String::new()) };
    let (part, number) = slot.split_once('-').unwrap_or((slot, "1"));
    let at = PARTS_OF_DAY.iter().position(|known| *known == part).unwrap_or(PARTS_OF_DAY.len());
    (day.to_owned(), at, number.parse().unwrap_or(u32::MAX), slot.to_owned())
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
            let (name, of) = if version.path.starts_with("erased/") {
                (erased::NAME.to_owned(), View::Text)
            } else {
                (one_line(&document_name(&props.people, &version.path), 100), View::History)
            };
            let href = document_href(&props.agent, &version.path, of);
            view! {
                <li class="history-item">
                    <p class="history-head"><a class="quiet" href=href dir="auto">{name}</a><span class="meta">"v"{version.version}" · "{version.operation.as_str()}" · "{moment(version.created_at)}</span></p>
                    <p class="meta">{props.people.word(&version.author)}{(!version.reason.is_empty()).then(|| format!(": {}", one_line(&version.reason, 200)))}</p>
                </li>
            }
        })
        .collect::<Vec<_>>();
    let title = format!("Last changes of {}", counted(props.documents.len() as u64, "document"));
    view! { <Section name="recent" title=title><ol class="history">{rows}</ol></Section> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_are_in_the_order_of_the_day() {
        let mut paths = [
            "sessions/2026-11-21-evening-2.md",
            "sessions/2026-11-21-evening-10.md",
            "sessions/2026-11-21-evening.md",
            "sessions/2026-11-21-night.md",
            "sessions/2026-11-20-evening.md",
        ];
        paths.sort_by_cached_key(|path| tree_key(path));
        let names = paths.map(|path| path.trim_start_matches("sessions/2026-11-").trim_end_matches(".md"));
        assert_eq!(names, ["20-evening", "21-night", "21-evening", "21-evening-2", "21-evening-10"]);
        assert!(tree_key("topics/a.md") < tree_key("topics/a-2.md"));
    }
}
