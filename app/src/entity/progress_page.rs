//! The page /imports/{id}: progress and errors of an import.

use super::import_page::error_table;
use crate::{
    document::render,
    progress::{self, LiveProgress, ProgressState},
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{escape::query, number, shorten::one_line},
    ui::{page_head::PageHead, time::moment},
};
use domain::entity::ImportStatus;
use leptos::prelude::*;
use wire::entity::{EntityType, Import};

/// Reload interval without scripts, seconds.
const LOOK_AGAIN_SECONDS: u32 = 3;

/// Data of the progress page.
#[derive(Debug, Clone)]
pub struct ProgressProps {
    /// The import with the number of rows done so far.
    pub import: Import,
    /// The type of the new entities.
    pub of: EntityType,
}

/// Renders the page.
pub fn progress_page(shell: &Shell, props: ProgressProps) -> String {
    render(shell, "Import", || {
        let ProgressProps { import, of } = props;
        let crumbs = vec![
            ("Entities".to_owned(), "/entities".to_owned()),
            (one_line(&of.name, 60), format!("/entity-types/{}", of.id)),
        ];
        let running = import.status == ImportStatus::Running;
        let again = running.then(|| {
            format!(
                "<noscript><meta http-equiv=\"refresh\" content=\"{LOOK_AGAIN_SECONDS}\"><p><a href=\"/imports/{}\">Reload</a></p></noscript>",
                query(&import.id.to_string())
            )
        });
        let shown = progress_state(&import);
        let shown = if running {
            provide_context(shown);
            view! { <LiveProgress/> }.into_any()
        } else {
            view! { <div class="fragment" inner_html=progress::html(shown)></div> }.into_any()
        };
        let page = view! {
            <PageHead title=format!("Import into {}", one_line(&of.name, 100)) crumbs=crumbs/>
            {shown}
            <p class="meta">"Started "{moment(import.created_at)}</p>
            {again.map(|html| view! { <div inner_html=html></div> })}
            {static_html(error_table(&of, &import.errors))}
            <p><a href=format!("/entities?type={}", query(&of.slug))>"Show the entities"</a></p>
        };
        frame(shell, RailEntry::Entities, page)
    })
}

/// The progress as HTML, for scripts that keep the page current.
pub fn progress_fragment(import: &Import) -> String {
    progress::html(progress_state(import))
}

fn progress_state(import: &Import) -> ProgressState {
    let (done, total) = (import.rows_done, import.rows_total);
    let words = match import.status {
        ImportStatus::Running => "Importing. You can leave this page. The import continues.",
        ImportStatus::Completed if import.failed_count == 0 => "Done. Every row was imported.",
        ImportStatus::Completed => "Done. Rows with errors were left out. Correct them and import only those rows.",
        ImportStatus::Failed => "The import stopped. The entities that it created are kept.",
    };
    let fact = |name: &str, value: String| (name.to_owned(), value);
    ProgressState {
        address: format!("/imports/{}/progress", query(&import.id.to_string())),
        is_running: import.status == ImportStatus::Running,
        words: words.to_owned(),
        label: "Rows processed",
        done: Some((done, Some(total))),
        facts: vec![
            fact("Rows", format!("{} of {}", number::grouped(done), number::grouped(total))),
            fact("Created", number::grouped(import.created_count)),
            fact("With errors", number::grouped(import.failed_count)),
        ],
    }
}
