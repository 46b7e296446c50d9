//! The runs of a tool, and how it can be run.

use super::start::Start;
use crate::{
    FormState,
    entity::People,
    render::static_html,
    sessions::cost_words,
    text::duration,
    ui::{
        badge::StatusBadge,
        empty::Empty,
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{session::Status, tool::run::ToolRun};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::{session::Session, tool::ToolVersion};

/// How a tool can be run, and its runs.
#[derive(Debug, Clone)]
pub struct Run {
    /// The version that new runs use; `None` if the tool is not published.
    pub published: Option<ToolVersion>,
    /// The run whose input the form begins with.
    pub again: Option<Session>,
    /// Its newest runs, newest first.
    pub runs: Vec<Session>,
    /// Whether there are more runs than these.
    pub has_more_runs: bool,
    /// State of the form that runs the tool.
    pub form: FormState,
    /// What the form begins with, if it was not refused.
    pub start: Start,
}

/// The table of runs.
pub(super) fn runs_section(slug: &str, run: &Run, may_run: bool, people: &People) -> InertElement {
    if run.runs.is_empty() {
        return static_html(view! {
            <Section name="runs" id="runs" title="Runs">
                <Empty sentence="This tool has not been run yet."/>
            </Section>
        });
    }
    let rows = run.runs.iter().map(|session| row(session, may_run.then_some(slug), people)).collect::<Vec<_>>();
    let columns = vec![
        Column::text("Status"),
        Column::text("Who"),
        Column::text("When"),
        Column::text("Version"),
        Column::number("Duration"),
        Column::number("Cost"),
        Column::hidden("Run again"),
    ];
    let more = run.has_more_runs.then(|| view! { <p class="meta">"Older runs are in the list of sessions."</p> });
    static_html(view! {
        <Section name="runs" id="runs" title="Runs">
            <Table caption="Runs, newest first" columns=columns>{rows}</Table>
            {more}
        </Section>
    })
}

/// A row of the table. `again` is the slug of the tool if the reader may run it again.
fn row(session: &Session, again: Option<&str>, people: &People) -> impl IntoView + use<> {
    let lasted = session.duration_ms.map(duration::words).unwrap_or_default();
    let version = ToolRun::of_metadata(session.metadata.get()).map(|run| match run.revision {
        Some(_) => "test".to_owned(),
        None => run.version.to_string(),
    });
    let version = version.unwrap_or_default();
    // The form has links to the drafts of the reader.
    let again = again.filter(|_| session.status != Status::Draft).map(|slug| {
        let href = format!("/tools/{slug}?again={}#run", session.id);
        view! { <a href=href>"Run again"</a> }
    });
    view! {
        <tr>
            <td><a class="quiet" href=format!("/sessions/{}", session.id)><StatusBadge status=session.status/></a></td>
            <td class="meta">{people.word(&session.created_by)}</td>
            <td class="meta">{moment(session.created_at)}</td>
            <td class="meta">{version}</td>
            <td class="meta table-number">{lasted}</td>
            <td class="meta table-number">{cost_words(session)}</td>
            <td>{again}</td>
        </tr>
    }
}
