//! The page /sessions/paced/{id}: how far a paced run has come, and its sessions.

use super::{PATH, begun, total};
use crate::{
    document::render,
    progress::{self, LiveProgress, ProgressState},
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::number::{counted, grouped},
    ui::{
        badge::StatusBadge,
        button::{Button, ButtonLink, Look},
        page_head::PageHead,
        table::{Column, Table},
        time::{due, moment},
    },
};
use domain::paced_run::{Outcome, State};
use leptos::prelude::*;
use wire::paced_run::{PacedRun, PacedRunDetail, PacedSession};

/// How often a browser without scripts looks again, seconds.
const LOOK_AGAIN_SECONDS: u32 = 3;
/// Sessions that the page lists. The others are counted.
const LISTED_MAX: usize = 100;

/// Renders the page.
pub fn page(shell: &Shell, detail: &PacedRunDetail) -> String {
    render(shell, "Paced run", || {
        let run = &detail.run;
        let crumbs = vec![("Sessions".to_owned(), "/sessions".to_owned()), ("Paced runs".to_owned(), PATH.to_owned())];
        let state = progress_state(run);
        let shown = if state.is_running {
            let again = format!(
                "<noscript><meta http-equiv=\"refresh\" content=\"{LOOK_AGAIN_SECONDS}\"><p><a href=\"{PATH}/{}\">Reload</a></p></noscript>",
                run.id
            );
            provide_context(state);
            view! { <LiveProgress/><div inner_html=again></div> }.into_any()
        } else {
            view! { <div class="fragment" inner_html=progress::html(state)></div> }.into_any()
        };
        let page = view! {
            <PageHead title=format!("{} run again", counted(total(run), "session")) crumbs=crumbs/>
            {shown}
            {static_html(pace(run))}
            {static_html(controls(run))}
            {static_html(table(&detail.sessions))}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

/// The progress alone, which the page reads again.
pub fn progress_fragment(run: &PacedRun) -> String {
    progress::html(progress_state(run))
}

fn progress_state(run: &PacedRun) -> ProgressState {
    let (begun, total) = (begun(run), total(run));
    let words = match run.state {
        State::Open if begun == 0 => "No session has begun yet.".to_owned(),
        State::Open => format!("{} of {} have begun.", grouped(begun), counted(total, "session")),
        State::Done => format!("{} of {} have begun. None is left.", grouped(begun), counted(total, "session")),
        State::Cancelled => {
            format!("Cancelled. {} of {} had begun; they continue.", grouped(begun), counted(total, "session"))
        }
    };
    let facts = [
        ("Waiting", run.waiting),
        ("Queued or running", run.running),
        ("Completed", run.completed),
        ("Ended otherwise", run.failed),
        ("Run again by others", run.already),
        ("Cannot", run.refused),
        ("Cancelled", run.cancelled),
    ];
    ProgressState {
        address: format!("{PATH}/{}/progress", run.id),
        is_running: run.state == State::Open,
        words,
        label: "Begun",
        done: Some((begun, Some(total))),
        facts: facts.map(|(name, count)| (name.to_owned(), grouped(count))).to_vec(),
    }
}

/// How fast it goes.
fn pace(run: &PacedRun) -> impl IntoView + use<> {
    let number = if u64::from(run.at_a_time) >= total(run) {
        "All at once".to_owned()
    } else {
        format!("At most {} queued or running at a time", run.at_a_time)
    };
    let start = (run.state == State::Open && begun(run) == 0).then(|| view! { ", from "{due(run.start_at)} });
    view! { <p class="meta">{number}{start}". Requested "{moment(run.created_at)}"."</p> }
}

fn controls(run: &PacedRun) -> impl IntoView + use<> {
    let cancel = (run.state == State::Open).then(|| {
        let label = format!("Cancel {} waiting", grouped(run.waiting));
        view! {
            <form method="post" action=format!("{PATH}/{}/cancel", run.id)>
                <Button look=Look::Danger>{label}</Button>
            </form>
        }
    });
    view! { <div class="form-actions">{cancel}<ButtonLink look=Look::Quiet href="/failures">"Failures"</ButtonLink></div> }
}

fn table(sessions: &[PacedSession]) -> impl IntoView + use<> {
    let rows: Vec<_> = sessions.iter().take(LISTED_MAX).map(row).collect();
    let unlisted = sessions.len().saturating_sub(LISTED_MAX) as u64;
    let unlisted = (unlisted > 0).then(|| {
        let text = format!("And {} more.", grouped(unlisted));
        view! { <p class="meta">{text}</p> }
    });
    let columns = vec![Column::text("Session"), Column::text("New session")];
    view! {
        <Table caption="Sessions in the order in which they are run again" columns=columns>{rows}</Table>
        {unlisted}
    }
}

fn row(session: &PacedSession) -> impl IntoView + use<> {
    let title = match session.title.clone() {
        Some(title) => {
            view! { <a class="quiet" href=format!("/sessions/{}", session.session_id) dir="auto">{title}</a> }
                .into_any()
        }
        None => session.session_id.to_string().into_any(),
    };
    let new = session.new_session_id.map(|id| format!("/sessions/{id}"));
    let what = match (session.outcome, new) {
        (Outcome::Started, Some(href)) => {
            let status = session.status.map(|status| view! { " "<StatusBadge status=status/> });
            view! { <a href=href>"Runs again"</a>{status} }.into_any()
        }
        (Outcome::Already, Some(href)) => view! { <a href=href>"Was run again before"</a> }.into_any(),
        (Outcome::Started, None) => "Was run again".into_any(),
        (Outcome::Already, None) => "Was run again before".into_any(),
        (Outcome::Waiting, _) => "Waits for its turn".into_any(),
        (Outcome::Cancelled, _) => "Cancelled before its turn".into_any(),
        (Outcome::Refused, _) => format!("Cannot: {}", session.reason.clone().unwrap_or_default()).into_any(),
    };
    view! {
        <tr>
            <td class="table-main">{title}</td>
            <td class="table-text">{what}</td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    fn run(state: State) -> PacedRun {
        PacedRun {
            id: "0190b0a0-0000-7000-8000-000000000001".parse().unwrap(),
            state,
            at_a_time: 5,
            start_at: "2026-11-30T09:00:00Z".parse().unwrap(),
            created_by: "user:x".into(),
            created_at: "2026-11-30T09:00:00Z".parse().unwrap(),
            ended_at: None,
            waiting: 30,
            running: 5,
            completed: 3,
            failed: 1,
            already: 1,
            refused: 0,
            cancelled: 0,
        }
    }

    #[test]
    fn progress_counts_the_sessions_whose_turn_has_come() {
        let state = progress_state(&run(State::Open));
        assert_eq!((state.words.as_str(), state.done), ("10 of 40 sessions have begun.", Some((10, Some(40)))));
        assert!(state.is_running && !progress_state(&run(State::Done)).is_running);
        let first = PacedRun { waiting: 40, running: 0, completed: 0, failed: 0, already: 0, ..run(State::Open) };
        assert_eq!(progress_state(&first).words, "No session has begun yet.");
    }

    #[test]
    fn only_what_has_not_begun_can_be_cancelled() {
        assert!(to_html(controls(&run(State::Open))).contains("Cancel 30 waiting"));
        assert!(!to_html(controls(&run(State::Done))).contains("<form"));
    }
}
