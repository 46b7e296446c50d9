//! The runs of a tool, and how it can be run.

use super::{run_target::Targets, start::Start};
use crate::{
    FormState,
    entity::People,
    render::static_html,
    result::{tree_script, write_result},
    sessions::cost_words,
    shell::Shell,
    text::{duration, html::Html, number, shorten},
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
    /// The tasks by which the result of a run can be written to an entity.
    pub targets: Option<Targets>,
    /// Its newest runs, newest first.
    pub runs: Vec<Session>,
    /// Whether there are more runs than these.
    pub has_more_runs: bool,
    /// How its runs ended, not only these.
    pub ended: EndedRuns,
    /// State of the form that runs the tool.
    pub form: FormState,
    /// The part of the form that the last button was about; empty if there was none.
    pub focus: String,
    /// The initial values, if the form was not refused.
    pub start: Start,
}

/// How runs of a tool ended, tests left out.
#[derive(Debug, Clone, Copy, Default)]
pub struct EndedRuns {
    /// Number of runs that completed, failed or expired.
    pub ended: u64,
    /// Number of these that failed or expired.
    pub failed: u64,
    /// Whether only the newest runs are counted.
    pub is_cut: bool,
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
    let failures = failure_words(&run.runs, run.ended).map(|words| {
        view! { <p class="meta">{words}" "<a href="/insights">"Insights"</a>" count all runs."</p> }
    });
    let more = run.has_more_runs.then(|| view! { <p class="meta">"Older runs are in the list of sessions."</p> });
    let may_promote = shell.may(Permission::WriteEntities) && shell.may(Permission::StartSession);
    let latest = run.runs.iter().find(|session| session.result.is_some() || session.error.is_some());
    let script = latest.and_then(|session| {
        tree_script(session.result.as_deref(), (shell.nonce.as_str(), shell.tree_js_href.as_str()))
    });
    let latest = latest.map(|session| latest_result(session, may_promote));
    static_html(view! {
        <Section name="runs" id="runs" title="Runs">
            <Table caption="Runs, newest first" columns=columns>{rows}</Table>
            {failures}
            {more}
            {latest}
            {script}
        </Section>
    })
}

/// How many of these runs failed, and of all, as insights count it: tests and cancelled runs are left out. `None` if
/// none of these ended.
fn failure_words(runs: &[Session], all: EndedRuns) -> Option<String> {
    let is_test =
        |run: &&Session| ToolRun::of_metadata(run.metadata.get()).is_some_and(|named| named.revision.is_some());
    let (mut ended, mut failed) = (0_u64, 0_u64);
    for run in runs.iter().filter(|run| !is_test(run)) {
        match run.status {
            Status::Completed => ended += 1,
            Status::Failed | Status::Expired => (ended, failed) = (ended + 1, failed + 1),
            _ => {}
        }
    }
    (ended > 0).then(|| {
        let share = |failed: u64, ended: u64| number::percent(failed as f64 / ended as f64);
        let newest = number::counted(ended, "ended run");
        let mut words = format!("{failed} of the newest {newest} failed ({})", share(failed, ended));
        if all.ended > ended {
            let of = if all.is_cut { "the last" } else { "all" };
            let (count, failed) = (number::grouped(all.ended), number::grouped(all.failed));
            words.push_str(&format!(", {failed} of {of} {count} ({})", share(all.failed, all.ended)));
        }
        words.push('.');
        words
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
    // On a phone the cells have no headings.
    let version = ToolRun::of_metadata(session.metadata.get()).map(|run| match run.revision {
        Some(_) => "test".into_any(),
        None => view! { <span class="unit">"Version "</span>{run.version.to_string()} }.into_any(),
    });
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture;
    use serde_json::{json, value::to_raw_value};

    #[test]
    fn cancelled_runs_and_tests_are_not_in_the_failure_rate() {
        let run = |status: Status| Session { status, ..fixture::session() };
        let none = EndedRuns::default();
        assert_eq!(failure_words(&[], none), None);
        assert_eq!(failure_words(&[run(Status::Running), run(Status::Abandoned)], none), None);
        let one = [run(Status::Failed)];
        assert_eq!(failure_words(&one, none).as_deref(), Some("1 of the newest 1 ended run failed (100%)."));
        let tool = json!({ "tool": { "id": run(Status::Failed).id, "slug": "a", "version": 0, "revision": 3,
            "repeatable": false, "timeLimitSeconds": 1, "retries": 0, "requiresConfirmation": false,
            "hasPrivateInput": false } });
        let test = Session { metadata: to_raw_value(&tool).unwrap(), ..run(Status::Failed) };
        let runs = [test, run(Status::Expired), run(Status::Completed), run(Status::Completed), run(Status::Pending)];
        assert_eq!(failure_words(&runs, none).as_deref(), Some("1 of the newest 3 ended runs failed (33%)."));
        let all = |is_cut: bool| EndedRuns { ended: 1_000, failed: 40, is_cut };
        let words = |of: &str| format!("1 of the newest 3 ended runs failed (33%), 40 of {of} 1,000 (4%).");
        assert_eq!(failure_words(&runs, all(false)), Some(words("all")));
        assert_eq!(failure_words(&runs, all(true)), Some(words("the last")));
    }
}
