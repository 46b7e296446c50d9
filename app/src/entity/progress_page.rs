//! The page /imports/{id}: progress and errors of an import.

use super::{ImportProgress, import_page::error_table};
use crate::{
    document::render,
    render::{static_html, to_html},
    shell::{Place, Shell, frame},
    text::{escape::query, number, shorten::one_line},
    ui::{page_head::PageHead, progress::Progress, time::moment},
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
        let inside = to_html(progress(&import));
        let again = running.then(|| {
            format!(
                "<noscript><meta http-equiv=\"refresh\" content=\"{LOOK_AGAIN_SECONDS}\"><p><a href=\"/imports/{}\">Reload</a></p></noscript>",
                query(&import.id.to_string())
            )
        });
        let shown = view! {
            <div class="import-progress" data-progress=format!("/imports/{}/progress", query(&import.id.to_string())) data-running=running.then_some("") inner_html=inside></div>
        };
        let shown = static_html(shown);
        let shown =
            if running { view! { <ImportProgress>{shown}</ImportProgress> }.into_any() } else { shown.into_any() };
        let page = view! {
            <PageHead title=format!("Import into {}", one_line(&of.name, 100)) crumbs=crumbs/>
            {shown}
            {again.map(|html| view! { <div inner_html=html></div> })}
            {static_html(error_table(&of, &import.errors))}
            <p><a href=format!("/entities?type={}", query(&of.slug))>"Show the entities"</a></p>
        };
        frame(shell, Place::Entities, page)
    })
}

/// HTML of the progress bar and the rows with errors, for scripts that refresh the page.
pub fn progress_fragment(import: &Import) -> String {
    let running = (import.status == ImportStatus::Running).then_some("");
    to_html(view! { <div class="import-progress" data-running=running inner_html=to_html(progress(import))></div> })
}

fn progress(import: &Import) -> impl IntoView + use<> {
    let (done, total) = (import.rows_done, import.rows_total);
    let words = match import.status {
        ImportStatus::Running => "Importing. You can leave this page. The import continues.",
        ImportStatus::Completed if import.failed_count == 0 => "Done. Every row was imported.",
        ImportStatus::Completed => "Done. Rows with errors were left out. Correct them and import only those rows.",
        ImportStatus::Failed => "The import stopped. The entities that it created are kept.",
    };
    view! {
        <p role="status">{words}</p>
        <Progress label="Rows processed" done=done total=Some(total)/>
        <dl class="facts">
            <div><dt>"Rows"</dt><dd>{format!("{} of {}", number::grouped(done), number::grouped(total))}</dd></div>
            <div><dt>"Created"</dt><dd>{number::grouped(import.created_count)}</dd></div>
            <div><dt>"With errors"</dt><dd>{number::grouped(import.failed_count)}</dd></div>
            <div><dt>"Started"</dt><dd>{moment(import.created_at)}</dd></div>
        </dl>
    }
}
