//! The page /agents/{slug}/memory/runs: what the agent's memory writer did, what it cost, and how it is set up.

use crate::{
    FormState,
    document::render,
    render::static_html,
    session::turn_href,
    shell::{RailEntry, Shell, frame},
    text::{
        duration,
        number::{counted, dollars, grouped},
    },
    ui::{
        button::{Button, ButtonLink, Look},
        empty::Empty,
        field::{Field, Input},
        notice::{Notice, Refused, Tone},
        page_head::PageHead,
        section::Section,
        time::{due, moment, stamp},
    },
};
use domain::{
    Timestamp,
    memory_writer::{
        plan::Policy,
        run::{RunCause, RunState},
    },
    role::Permission,
};
use leptos::prelude::*;
use wire::memory_writer::MemoryRun;

/// How the writer is set up in this server.
#[derive(Debug, Clone)]
pub struct WriterSettings {
    /// Name of the model.
    pub model: String,
    /// What is written without a review.
    pub policy: Policy,
    /// New turns that start a run.
    pub turn_threshold: u32,
    /// Silence that starts a run, seconds.
    pub idle_seconds: u32,
    /// Most runs on one day.
    pub runs_per_day: u32,
    /// Most tokens on one day.
    pub tokens_per_day: u64,
}

/// Whether the writer runs, waits or is parked.
#[derive(Debug, Clone, Default)]
pub struct WriterState {
    /// When it, or else the first of its sessions, was parked for a person (UTC).
    pub parked_at: Option<Timestamp>,
    /// Number of parked sessions, while it continues with others. 0 if it is parked as a whole.
    pub parked_sessions: u64,
    /// When it, or else the first session of a failed run, is tried again (UTC).
    pub retry_at: Option<Timestamp>,
    /// When a run was asked for that has not begun (UTC).
    pub flush_at: Option<Timestamp>,
    /// Failed runs in a row.
    pub failures: u32,
    /// Why a run that is due or asked for cannot begin.
    pub waits: Option<String>,
    /// Time from which it can begin, if one is known (UTC).
    pub waits_until: Option<Timestamp>,
    /// Number of runs that asked the model since midnight UTC.
    pub runs_today: u32,
    /// Input and output tokens since midnight UTC.
    pub tokens_today: u64,
}

/// Data of the page.
#[derive(Debug, Clone, Default)]
pub struct RunsProps {
    /// Slug of the agent.
    pub agent: String,
    /// How the writer is set up; `None` if this server has none for the agent.
    pub settings: Option<WriterSettings>,
    /// The state of the writer; `None` if it never started.
    pub state: Option<WriterState>,
    /// The newest runs, newest first.
    pub runs: Vec<MemoryRun>,
    /// Number of older sessions that the last request added, if it named a day.
    pub added_sessions: Option<u64>,
    /// State of the refused form `run`.
    pub form: FormState,
}

/// Renders the page.
pub fn runs_page(shell: &Shell, props: RunsProps) -> String {
    let title = format!("Memory writer of {}", props.agent);
    render(shell, &title, || {
        let memory = format!("/agents/{}/memory", props.agent);
        let crumbs = vec![
            ("Memory".to_owned(), "/memory".to_owned()),
            (props.agent.clone(), format!("/agents/{}", props.agent)),
        ];
        let page = view! {
            <PageHead title=title.clone() crumbs=crumbs>
                <ButtonLink look=Look::Quiet href=memory>"Memory"</ButtonLink>
            </PageHead>
            {static_html(state(shell, &props))}
            {static_html(settings(&props))}
            {static_html(runs(&props.runs))}
        };
        frame(shell, RailEntry::Memory, page)
    })
}

/// The state of the writer, with the button that requests a run.
fn state(shell: &Shell, props: &RunsProps) -> impl IntoView + use<> {
    let state = props.state.clone().unwrap_or_default();
    let failed = props.runs.iter().find(|run| run.state != RunState::Succeeded);
    let why = failed.and_then(|run| run.error.clone()).unwrap_or_default();
    let failures = counted(state.failures.into(), "failure");
    let notice = if let Some(at) = state.parked_at.filter(|_| state.parked_sessions > 0) {
        let sessions = counted(state.parked_sessions, "session");
        let text = view! { <p>"Paused after "{failures}" in a row: "{sessions}", on "{stamp(at)}". Other sessions are still read. Paused ones wait until someone asks to try them again. The last reason: "<span dir="auto">{why}</span></p> };
        static_html(view! { <Notice tone=Tone::Bad>{text}</Notice> }).into_any()
    } else if let Some(at) = state.parked_at {
        let text = view! { <p>"The writer stopped after "{failures}" in a row, on "{stamp(at)}". It waits until someone asks it to try again. The last reason: "<span dir="auto">{why}</span></p> };
        static_html(view! { <Notice tone=Tone::Bad>{text}</Notice> }).into_any()
    } else if let Some(at) = state.retry_at {
        let text = view! { <p>"The last run failed. It is tried again "{due(at)}". The reason: "<span dir="auto">{why}</span></p> };
        static_html(view! { <Notice tone=Tone::Wait>{text}</Notice> }).into_any()
    } else if state.failures > 0 {
        let text = view! { <p>"The last run failed, and is due to be tried again. The reason: "<span dir="auto">{why}</span></p> };
        static_html(view! { <Notice tone=Tone::Wait>{text}</Notice> }).into_any()
    } else if state.flush_at.is_some() && state.waits.is_none() {
        let text = "A run was requested. It starts within seconds on a server that has the writer's model.";
        static_html(view! { <Notice tone=Tone::Wait><p>{text}</p></Notice> }).into_any()
    } else {
        ().into_any()
    };
    let waits = waiting(&state).map(static_html);
    let action = format!("/agents/{}/memory/runs", props.agent);
    let word = if state.failures > 0 { "Try again now" } else { "Run now" };
    let added = props.added_sessions.map(|sessions| {
        let text = match sessions {
            0 => "No session since that day was left to add.".to_owned(),
            _ => format!("Added {} that the writer had not read.", counted(sessions, "session")),
        };
        static_html(view! { <Notice tone=Tone::Good><p>{text}</p></Notice> })
    });
    let form = props.form.of("run");
    let ask = shell.may(Permission::ManageSessions).then(|| {
        static_html(view! {
            <form class="form" method="post" action=action>
                <Refused messages=form.general(&["since"])/>
                <Input
                    scope="run"
                    field=Field::new("since", "Also read sessions since (UTC)").hint("Optional. Adds the unread sessions that began on this day or later, however long before the writer's first start.")
                    kind="date"
                    form=&form
                />
                <div class="form-actions"><Button look=Look::Primary name="step" value="flush">{word}</Button></div>
            </form>
        })
    });
    view! { {notice}{waits}{added}{ask} }
}

/// Why a run cannot begin, and until when. `None` if it can.
fn waiting(state: &WriterState) -> Option<impl IntoView + use<>> {
    let why = state.waits.clone()?;
    let is_asked = state.flush_at.is_some();
    let asked = if is_asked { "A run was requested but cannot start yet: " } else { "No run can start: " };
    let until = state.waits_until.map(|at| view! { " Runs start again "{due(at)}"." });
    let words = format!("{asked}{why}.");
    let text = view! { <p>{words}{until}</p> };
    Some(view! { <Notice tone=Tone::Wait>{text}</Notice> })
}

fn settings(props: &RunsProps) -> impl IntoView + use<> {
    let state = props.state.clone().unwrap_or_default();
    let body = match &props.settings {
        Some(of) => {
            let policy = match of.policy {
                Policy::Review => "Every change waits for a review.",
                Policy::Auto => {
                    "Summaries and additions that a person's turn supports are written at once. Everything else waits for a review."
                }
            };
            let idle = duration::words(u64::from(of.idle_seconds) * 1_000);
            let starts = format!("When a conversation ends, after {} new turns, or after {idle} of silence", of.turn_threshold);
            let runs = format!("{} of {}", grouped(state.runs_today.into()), grouped(of.runs_per_day.into()));
            let tokens = format!("{} of {}", grouped(state.tokens_today), grouped(of.tokens_per_day));
            view! {
                <dl class="facts">
                    <div><dt>"Model"</dt><dd dir="auto">{of.model.clone()}</dd></div>
                    <div><dt>"Policy"</dt><dd>{policy}</dd></div>
                    <div><dt>"Runs"</dt><dd>{starts}</dd></div>
                    <div><dt>"Runs today (UTC)"</dt><dd>{runs}</dd></div>
                    <div><dt>"Tokens today (UTC)"</dt><dd>{tokens}</dd></div>
                </dl>
            }
            .into_any()
        }
        None => view! { <p>"This server has no memory writer for this agent. Writers are set up in the settings file, in the table [memory]."</p> }.into_any(),
    };
    view! { <Section name="writer" title="Settings">{body}</Section> }
}

fn runs(runs: &[MemoryRun]) -> impl IntoView + use<> {
    let body = if runs.is_empty() {
        view! { <Empty sentence="No run yet. The writer reads conversations that began after its first start." small=true/> }.into_any()
    } else {
        let runs = runs.iter().map(run).collect::<Vec<_>>();
        view! { <ol class="history">{runs}</ol> }.into_any()
    };
    view! { <Section name="runs" title="Last runs">{body}</Section> }
}

/// What started a run, as people say it.
const fn cause(cause: RunCause) -> &'static str {
    match cause {
        RunCause::Flush => "requested, tried again, or left by a server that ended",
        RunCause::End => "a conversation ended",
        RunCause::Turns => "enough new turns",
        RunCause::Idle => "silence",
    }
}

fn run(run: &MemoryRun) -> impl IntoView + use<> {
    let (word, state) = match run.state {
        RunState::Succeeded => ("Succeeded", "completed"),
        RunState::Failed => ("Failed", "failed"),
        RunState::Parked => ("Paused after failures", "failed"),
    };
    let took = duration::words(u64::try_from((run.ended_at - run.started_at).num_milliseconds()).unwrap_or_default());
    let cost = run.cost_usd.map_or_else(|| "cost not known".to_owned(), dollars);
    let tokens = match (run.input_tokens, run.output_tokens) {
        (Some(input), Some(output)) => format!("{} + {} tokens", grouped(input), grouped(output)),
        _ => "tokens not reported".to_owned(),
    };
    let made = match (run.proposals, run.written) {
        (0, 0) => "nothing proposed".to_owned(),
        (proposals, 0) => counted(proposals.into(), "proposal"),
        (proposals, written) => format!("{}, {} written", counted(proposals.into(), "proposal"), written),
    };
    let turns = counted(run.turns.into(), "turn");
    let sessions = run.window.iter().map(|range| {
        let href = turn_href(range.session, range.after + 1);
        let text = format!("events {} to {}", range.after + 1, range.upto);
        view! { <li><a href=href>{text}</a></li> }
    });
    let sessions = sessions.collect::<Vec<_>>();
    let window = format!("Read {}", counted(sessions.len() as u64, "session"));
    let error = run.error.clone().map(|why| view! { <p dir="auto">{why}</p> });
    view! {
        <li class="history-item">
            <p class="history-head">
                <strong data-status=state>{word}</strong>
                <span class="meta">{moment(run.started_at)}" · "{cause(run.cause)}" · "{turns}" · "{made}</span>
            </p>
            {error}
            <p class="meta">{run.model.clone()}" · "{tokens}" · "{cost}" · "{took}</p>
            <details><summary>{window}</summary><ul>{sessions}</ul></details>
        </li>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed() -> MemoryRun {
        let run = serde_json::json!({
            "id": "0193b0a0-0000-7000-8000-000000000001", "cause": "turns", "state": "parked", "turns": 2, "proposals": 0,
            "written": 0, "error": "in <b>verse</b>", "model": "small", "inputTokens": 1200, "outputTokens": 20,
            "costUsd": 0.5, "startedAt": "2026-11-25T10:00:00Z", "endedAt": "2026-11-25T10:00:02Z",
            "window": [{ "session": "0193b0a0-0000-7000-8000-000000000002", "after": 3, "upto": 9 }],
        });
        serde_json::from_value(run).unwrap()
    }

    #[test]
    fn a_run_shows_its_cause_window_cost_and_reason() {
        let html = crate::render::to_html(runs(&[failed()]));
        for part in [
            "Paused after failures",
            "Read 1 session",
            "enough new turns",
            "2 turns",
            "1,200 + 20 tokens",
            "$0.50",
            "in &lt;b&gt;verse",
            "?before=104#seq-4",
            "events 4 to 9",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn a_run_whose_tokens_were_not_reported_says_so() {
        let run = MemoryRun { input_tokens: None, output_tokens: None, cost_usd: None, ..failed() };
        let html = crate::render::to_html(runs(&[run]));
        assert!(html.contains("tokens not reported") && html.contains("cost not known"), "{html}");
        assert!(!html.contains("0 + 0"), "{html}");
    }

    #[test]
    fn a_run_that_cannot_begin_says_why_and_until_when() {
        let at = "2026-11-26T00:00:00Z".parse().ok();
        let waits = Some("the budget of today (UTC) is used up: runs_per_day is 96".to_owned());
        let state = WriterState { flush_at: at, waits, waits_until: at, ..WriterState::default() };
        let html = crate::render::to_html(waiting(&state));
        assert!(html.contains("cannot start yet: ") && html.contains("runs_per_day is 96"), "{html}");
        assert!(html.contains("data-time=\"due\"") && waiting(&WriterState::default()).is_none(), "{html}");
    }

    #[test]
    fn a_server_without_a_writer_says_so() {
        let html = crate::render::to_html(settings(&RunsProps::default()));
        assert!(html.contains("no memory writer for this agent"), "{html}");
    }
}
