//! The runs of a tool, and how it can be run.

use super::start::Start;
use crate::{
    FormState,
    entity::People,
    render::static_html,
    result::write_result,
    sessions::cost_words,
    shell::Shell,
    text::{duration, html::Html, shorten},
    ui::{
        badge::StatusBadge,
        empty::Empty,
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{role::Permission, session::Status, tool::run::ToolRun};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::{session::Session, tool::ToolVersion};

/// Longest message of an error that is shown, bytes.
const ERROR_BYTES_MAX: usize = 2_000;

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
    /// The part of the form that the last button was about; empty if there was none.
    pub focus: String,
    /// The initial values, if the form was not refused.
    pub start: Start,
}

/// The table of runs.
pub(super) fn runs_section(shell: &Shell, slug: &str, run: &Run, may_run: bool, people: &People) -> InertElement {
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
    let may_promote = shell.may(Permission::WriteEntities) && shell.may(Permission::StartSession);
    let latest = run.runs.iter().find(|session| session.result.is_some() || session.error.is_some());
    let latest = latest.map(|session| latest_result(session, may_promote));
    static_html(view! {
        <Section name="runs" id="runs" title="Runs">
            <Table caption="Runs, newest first" columns=columns>{rows}</Table>
            {more}
            {latest}
        </Section>
    })
}

/// Result or error of the newest run that has ended.
fn latest_result(session: &Session, may_promote: bool) -> impl IntoView + use<> {
    let id = session.id.to_string();
    let mut html = Html::default();
    if let Some(result) = session.result.as_deref() {
        write_result(&mut html, result, &id);
    } else if let Some(error) = &session.error {
        html.raw("<div class=\"result-error\"><p dir=\"auto\">").text(shorten::head(&error.message, ERROR_BYTES_MAX));
        if let Some(code) = &error.code {
            html.raw(" <code>").text(code).raw("</code>");
        }
        html.raw("</p>");
        if let Some(advice) = error.code.as_deref().and_then(advice) {
            html.raw("<p>").raw(advice).raw("</p>");
        }
        html.raw("</div>");
    }
    let promote = (may_promote && session.status == Status::Completed && session.result.is_some()).then(|| {
        view! { <p><a href=format!("/sessions/{id}/promote")>"Write to an entity"</a></p> }
    });
    view! {
        <h3>"Result of "<a href=format!("/sessions/{id}")>"the newest run that has ended"</a></h3>
        <div inner_html=html.finish()></div>
        {promote}
    }
}

/// Advice about a run that failed with this code.
fn advice(code: &str) -> Option<&'static str> {
    Some(match code {
        "may_have_run" => "Find out from the service whether the call took effect before you run the tool again.",
        "time_limit" => "Run it again, or give the tool a longer time limit.",
        "unreachable" | "no_answer" => "Run it again later. If it fails again, check the address of the tool.",
        "answer_too_large" => "Request a smaller answer from the service.",
        "call_refused" => "The operator of this server can allow the address in the settings.",
        "call_invalid" => "Check the input, and whether all secrets of the tool are set.",
        "tool_unavailable" => "An admin has to set the secrets of the tool again.",
        "output_invalid" => "Change the output schema of the tool, or what the tool returns.",
        "input_invalid" => "Run it again with an input that the input schema allows.",
        _ => return None,
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
