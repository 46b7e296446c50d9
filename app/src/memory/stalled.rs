//! Memory writers that wait after failures or have sessions which wait, each as a notice with the button that tries
//! again.

use crate::{
    render::static_html,
    shell::Shell,
    text::{number::counted, shorten::one_line},
    ui::{
        button::Button,
        notice::{Notice, Tone},
        time::{due, stamp},
    },
};
use domain::{Timestamp, role::Permission};
use leptos::prelude::*;

/// A memory writer that waits after failures, or that has sessions which wait.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StalledWriter {
    /// Slug of the agent.
    pub agent: String,
    /// When it, or else the first of its sessions, was parked for a person (UTC).
    pub parked_at: Option<Timestamp>,
    /// Number of parked sessions, while it continues with others. 0 if it is parked as a whole.
    pub parked_sessions: u64,
    /// When it, or else the first session of a failed run, is tried again (UTC); `None` if that time has passed.
    pub retry_at: Option<Timestamp>,
    /// Failed runs in a row.
    pub failures: u32,
    /// Why the last run that failed did.
    pub why: String,
}

/// A notice for each writer. Those who may ask for a run get the button.
pub fn stalled(shell: &Shell, writers: &[StalledWriter]) -> impl IntoView + use<> {
    let may = shell.may(Permission::ManageSessions);
    writers.iter().map(|writer| static_html(notice(writer, may))).collect::<Vec<_>>()
}

fn notice(writer: &StalledWriter, may: bool) -> impl IntoView + use<> {
    let agent = writer.agent.clone();
    let runs = format!("/agents/{agent}/memory/runs");
    let (action, about) = (runs.clone(), format!("the memory writer of {agent}"));
    // The time in an alert is absolute: a script rewrites ages, and a screen reader would repeat the alert each time.
    let tone = if writer.parked_at.is_some() { Tone::Bad } else { Tone::Wait };
    let failures = counted(writer.failures.into(), "failure");
    let state = match (writer.parked_at, writer.retry_at) {
        (Some(at), _) if writer.parked_sessions > 0 => {
            let sessions = counted(writer.parked_sessions, "session");
            view! { " paused "{sessions}" after "{failures}" in a row, on "{stamp(at)}". What was said there is kept, and is not summarised until someone asks for a run. Other sessions are still read." }
                .into_any()
        }
        (Some(at), _) => {
            view! { " stopped after "{failures}" in a row, on "{stamp(at)}". What was said since is kept, and is not summarised until someone asks for a run." }
                .into_any()
        }
        (None, Some(at)) => view! { " failed. What was said is kept. It is tried again "{due(at)}"." }.into_any(),
        (None, None) => {
            view! { " failed. What was said is kept. It is due to be tried again by a server that has its model." }
                .into_any()
        }
    };
    let why = (!writer.why.is_empty()).then(|| {
        let why = one_line(&writer.why, 300);
        view! { " The reason: "<span dir="auto">{why}</span> }
    });
    let ask = may.then(|| {
        view! {
            <form method="post" action=action>
                <Button small=true name="step" value="flush" about=about>"Try again now"</Button>
            </form>
        }
    });
    let body = view! {
        <p>"The "<a href=runs>"memory writer of "{agent}</a>{state}{why}</p>
        {ask}
    };
    view! { <Notice tone=tone>{body}</Notice> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parked_writer_has_a_button_and_a_failed_one_says_when_it_is_tried_again() {
        let at = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        let parked = StalledWriter {
            agent: "scout".into(),
            parked_at: at("2026-11-25T10:00:00Z"),
            failures: 3,
            why: "in <b>verse</b>".into(),
            ..StalledWriter::default()
        };
        let html = crate::render::to_html(notice(&parked, true));
        for part in ["3 failures", "in &lt;b&gt;verse", "action=\"/agents/scout/memory/runs\"", "Try again now"] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(html.contains("until someone asks") && !html.contains("Other sessions"), "{html}");
        assert!(html.contains("role=\"alert\"") && html.contains("data-time=\"date\""), "{html}");
        assert!(!html.contains("data-time=\"ago\""), "{html}");
        let some = StalledWriter { parked_sessions: 2, ..parked.clone() };
        let html = crate::render::to_html(notice(&some, true));
        for part in
            [" paused ", "2 sessions", "3 failures", "Other sessions are", "Try again now", "data-time=\"date\""]
        {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("data-time=\"ago\""), "{html}");
        let waits = StalledWriter { parked_at: None, retry_at: at("2026-11-25T10:10:00Z"), ..parked.clone() };
        let html = crate::render::to_html(notice(&waits, false));
        assert!(html.contains("data-time=\"due\"") && html.contains("2026-11-25T10:10:00"), "{html}");
        assert!(!html.contains("ago") && !html.contains("<form"), "{html}");
        let due = StalledWriter { retry_at: None, ..waits };
        assert!(crate::render::to_html(notice(&due, false)).contains("due to be tried again"));
    }
}
