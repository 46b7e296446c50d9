//! The header of a session's page: title, status, facts, actions, timeline. Also rendered as a fragment after a
//! change.

use super::{
    CancelSession, RetrySession,
    continuation::{CONTINUE, Offer},
    failure::failure_help,
    find::FoundTick,
    rating::Rating,
    timeline::timeline,
    timeline_bar::{href, timeline_bar},
    title::{duration_ms, row_title},
    usage,
};
use crate::{
    FormState,
    agent_href::agent_href,
    label::tag_links,
    server_function::page_fields,
    shell::Shell,
    text::{duration, error_text, html::Html, number, shorten},
    ui::{
        badge::StatusBadge,
        button::{Button, ButtonLink, Look},
        field::{Field, Input},
        icon::{Icon, icon},
        page_head::Breadcrumbs,
        popover::Popover,
        time::{moment, stamp},
    },
};
use domain::{
    action::ActionStatus,
    limit::REASON_CHARS_MAX,
    role::Permission,
    run_again::{NotAgain, run_again},
    session::{EndReason, Status, Type, Usage, WaitsFor},
    tool::run::{TEST_SOURCE, of_agent},
};
use leptos::{prelude::*, server_fn::ServerFn as _};
use serde_json::value::RawValue;
use wire::{event::Event, failure::Failure, session::Session};

/// Longest error in the header, bytes; the error's event has more of it.
const ERROR_BYTES_MAX: usize = 1_500;

/// Data of the header.
#[derive(Debug, Clone)]
pub struct Summary {
    /// The session at its newest status.
    pub session: Session,
    /// Name of its task; absent for a session without one.
    pub action_name: Option<String>,
    /// Status of its task; absent for a session without one.
    pub action_status: Option<ActionStatus>,
    /// Id and title of the entity that was made from it, if it is a response.
    pub promoted: Option<(String, String)>,
    /// Address of what a response is waiting for before an entity is made from it: an inbox item, or the session of a
    /// task.
    pub promotion_waits_at: Option<String>,
    /// What becomes of its result, if a task is to write it to an entity.
    pub output: Option<RunOutput>,
    /// The events of the timeline (`ledger::event::timeline`).
    pub timeline: Vec<Event>,
    /// Error class, remediation and acknowledgement, if the session failed.
    pub failure: Option<Failure>,
    /// Id of its failure's cause, and how many other failures have it.
    pub alike: Option<(String, u64)>,
    /// Sequence of its last error, if the session failed.
    pub error_sequence: Option<u64>,
    /// The number of events of each kind in the whole log.
    pub kind_counts: Vec<(String, u64)>,
    /// Id of the inbox item that it waits for, and whether the viewer may decide it now.
    pub gate: Option<(String, bool)>,
    /// Whether the viewer may delete what is captured of it as training data.
    pub may_forget: bool,
    /// Whether the viewer may make links with which people without an account read it.
    pub may_share: bool,
    /// Whether the viewer may change its tags and its assignee.
    pub may_label: bool,
    /// Name of the member who looks after it.
    pub assignee: Option<String>,
    /// What the viewer can give the session, if it waits.
    pub offer: Offer,
    /// What the rating panel below the header shows.
    pub rating: Rating,
    /// First and last sequence on the page; the fragment route may pass `(0, 0)`.
    pub shown: (u64, u64),
}

/// What becomes of the result of a run that a task writes to an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunOutput {
    /// It is written when the run completes.
    Waiting,
    /// The session of the task with this id writes it.
    Written(String),
    /// Why it was not written.
    Refused(String),
}

fn output_fact(output: &RunOutput) -> AnyView {
    match output {
        RunOutput::Waiting => fact("Entity", "Written when the run completes").into_any(),
        RunOutput::Written(id) => {
            let href = format!("/sessions/{id}");
            fact("Entity", view! { <a href=href>"Written by a task"</a> }).into_any()
        }
        RunOutput::Refused(why) => {
            let words = format!("Not written: {}", shorten::head(why, ERROR_BYTES_MAX));
            fact("Entity", view! { <span dir="auto">{words}</span> }).into_any()
        }
    }
}

fn end_words(reason: EndReason) -> Option<&'static str> {
    match reason {
        EndReason::Done | EndReason::Error => None,
        EndReason::Superseded => Some("replaced by another session"),
        EndReason::Cancelled => Some("cancelled"),
        EndReason::TimedOut => Some("ran out of time"),
        EndReason::LeaseExhausted => Some("given up by too many workers"),
        EndReason::HardBlock => Some("stopped by a safety rule"),
        EndReason::Rejected => Some("denied too often"),
        EndReason::DependencyFailed => Some("never started, because a session it depends on did not complete"),
    }
}

/// The header. `found` are the marks of a search in the log; a timeline that has some stays as it was loaded.
pub fn summary_view(shell: &Shell, summary: &Summary, found: &[FoundTick]) -> impl IntoView + use<> {
    let session = &summary.session;
    let line = timeline(session, &summary.timeline, &summary.kind_counts, shell.now);
    let has_line = !line.segments.is_empty();
    let error = session.error.as_ref().map(|error| {
        let mut message = Html::default();
        error_text::push(&mut message, &error.message, ERROR_BYTES_MAX);
        let message = message.finish();
        let code = error.code.clone();
        let place = summary.error_sequence.map(|sequence| {
            let href = href(sequence, summary.shown);
            view! { <a class="meta" href=href>{format!("Failed at event {}", number::grouped(sequence))}</a> }
        });
        view! {
            <div class="session-error">
                <div class="fragment" inner_html=message></div>
                {code.map(|code| view! { <code class="meta">{code}</code> })}
                {place}
            </div>
        }
    });
    view! {
        <header id="summary" class="session-head">
            <Breadcrumbs crumbs=vec![("Sessions".to_owned(), "/sessions".to_owned())]/>
            <div class="session-title">
                <h1 tabindex="-1" dir="auto">{row_title(session)}</h1>
                <span data-part="badge"><StatusBadge status=session.status large=true/></span>
                <div class="session-actions" data-part="actions">{decision_link(summary)}{continue_link(summary)}{actions(shell, summary)}</div>
            </div>
            <dl class="facts" data-part="facts">{facts(shell, summary)}</dl>
            <div data-part="queued">{queued(session)}</div>
            <div data-part="error">{error}{summary.failure.as_ref().map(|failure| failure_help(shell, failure))}{alike(summary)}</div>
            <div data-part=found.is_empty().then_some("timeline")>{has_line.then(|| timeline_bar(&line, found, summary.shown))}</div>
        </header>
    }
}

/// A link to the other failures of the same cause, if there are any.
fn alike(summary: &Summary) -> Option<impl IntoView + use<>> {
    let (id, others) = summary.alike.as_ref().filter(|(_, others)| *others > 0)?;
    let words = format!("{} more like this", number::grouped(*others));
    Some(view! { <p><a href=format!("/failures/{id}?window=7d")>{words}</a></p> })
}

/// Why a queued session has not started.
fn queued(session: &Session) -> Option<impl IntoView + use<>> {
    let is_queued = session.status == Status::Pending && session.waits_for.is_none();
    is_queued.then(|| view! { <p class="meta">"Queued. Events appear here when an agent starts the session."</p> })
}

fn fact(term: &'static str, value: impl IntoView) -> impl IntoView {
    view! { <div><dt>{term}</dt><dd>{value}</dd></div> }
}

fn facts(shell: &Shell, summary: &Summary) -> impl IntoView + use<> {
    let session = &summary.session;
    let usage = Usage::read(session.usage.as_deref().map(RawValue::get));
    let action = session.action_id.map(|id| {
        let name =
            summary.action_name.clone().or_else(|| session.action_slug.clone()).unwrap_or_else(|| "task".to_owned());
        fact("Task", view! { <a href=format!("/actions/{id}")>{name}</a> })
    });
    let attempt =
        (session.attempt > 1).then(|| fact("Attempt", format!("{} of {}", session.attempt, session.attempts_max)));
    let ended = session.end_reason.and_then(end_words).map(|words| fact("Ended", words));
    let sealed = (session.head_sequence > 0).then(|| {
        let title = format!("Hash chain: event {} has digest {}", session.head_sequence, session.head_digest);
        fact("Log", view! { <span class="seal" title=title>{icon(Icon::Seal)}{number::counted(session.head_sequence, "event")}</span> })
    });
    (
        session.agent_slug.as_deref().map(|agent| {
            let (term, name) = runner(session, agent);
            fact(term, view! { <a href=agent_href(agent)>{name}</a> })
        }),
        action,
        summary
            .promoted
            .clone()
            .map(|(id, title)| fact("Became", view! { <a href=format!("/entities/{id}") dir="auto">{title}</a> })),
        summary
            .promotion_waits_at
            .clone()
            .map(|href| fact("Entity", view! { <a href=href>"Waiting for approval"</a> })),
        summary.output.as_ref().map(output_fact),
        waits_for(session).map(|words| fact("Waiting for", words)),
        fact("Created", moment(session.created_at)),
        session.completed_at.map(|at| fact("Ended at", stamp(at))),
        duration_ms(session, shell.now).map(|ms| fact("Duration", duration::words(ms))),
        (attempt, ended, labels(summary)),
        usage::tokens(&usage).map(|tokens| fact("Tokens", tokens)),
        usage::cost(&usage).map(|cost| fact("Cost", cost)),
        sealed,
    )
}

/// What works on a session with this agent, and its name: the slug of an agent, or the name of a tool. A run has the
/// name of its tool as its title. The title of a test says more, so a test has the slug.
fn runner(session: &Session, agent: &str) -> (&'static str, String) {
    let is_test = session.source.as_deref() == Some(TEST_SOURCE);
    match of_agent(agent) {
        Some((_, slug)) if is_test => ("Tool", slug.to_owned()),
        Some(_) => ("Tool", row_title(session)),
        None => ("Agent", agent.to_owned()),
    }
}

/// Tags, and who looks after the session.
fn labels(summary: &Summary) -> impl IntoView + use<> {
    let tags = &summary.session.tags;
    let tags = (!tags.is_empty()).then(|| fact("Tags", tag_links(tags)));
    let assignee = summary.assignee.clone().map(|name| fact("Assigned to", view! { <bdi>{name}</bdi> }));
    (tags, assignee)
}

/// What a session waits for that no worker can claim yet.
fn waits_for(session: &Session) -> Option<&'static str> {
    session.waits_for.map(|what| match what {
        WaitsFor::Dependencies => "the sessions it depends on",
        WaitsFor::Children => "the sessions it started",
    })
}

/// A link to the inbox item that the session waits for.
fn decision_link(summary: &Summary) -> impl IntoView + use<> {
    summary.gate.as_ref().map(|(id, may_decide)| {
        let (look, words) =
            if *may_decide { (Look::Primary, "Decide") } else { (Look::Plain, "Show what it is waiting for") };
        view! { <ButtonLink look=look href=format!("/inbox/{id}")>{words}</ButtonLink> }
    })
}

/// A link to the form that continues the session.
fn continue_link(summary: &Summary) -> impl IntoView + use<> {
    let words = match summary.offer {
        Offer::Nothing => return None,
        Offer::Message => "Send a message",
        Offer::Results => "Give a result",
    };
    Some(view! { <ButtonLink look=Look::Primary href=format!("#{CONTINUE}")>{words}</ButtonLink> })
}

fn actions(shell: &Shell, summary: &Summary) -> impl IntoView + use<> {
    let session = &summary.session;
    let href = format!("/sessions/{}", session.id);
    let forget = summary.may_forget.then(|| {
        view! { <ButtonLink look=Look::Quiet href=format!("{href}/forget")>"Forget"</ButtonLink> }
    });
    let share = summary.may_share.then(|| {
        view! { <ButtonLink look=Look::Quiet href=format!("{href}/share")>"Share"</ButtonLink> }
    });
    let label = summary.may_label.then(|| {
        view! { <ButtonLink look=Look::Quiet href=format!("{href}/labels")>"Tag or assign"</ButtonLink> }
    });
    let may_promote = shell.may(Permission::WriteEntities) && shell.may(Permission::StartSession);
    let has_result = session.status == Status::Completed && session.result.is_some();
    let promote = (session.session_type == Type::Tool && has_result && may_promote).then(|| {
        view! { <ButtonLink look=Look::Quiet href=format!("{href}/promote")>"Write to an entity"</ButtonLink> }
    });
    let canvas =
        (session.session_type != Type::Mixed && has_result && shell.may(Permission::StartSession)).then(|| {
            let href = format!("/canvases?fromSession={}", session.id);
            view! { <ButtonLink look=Look::Quiet href=href>"New canvas"</ButtonLink> }
        });
    let memories = (session.session_type == Type::Agent && session.agent_slug.is_some()).then(|| {
        view! { <ButtonLink look=Look::Quiet href=format!("{href}/memories")>"Memories"</ButtonLink> }
    });
    let manages = shell.may(Permission::ManageSessions);
    let again = run_again(session.session_type, session.source.as_deref(), session.status, summary.action_status);
    let repeats = manages && again.is_ok();
    let archived = (manages && again == Err(NotAgain::Archived)).then(|| {
        view! { <p class="meta">"Its task is archived, so it cannot be run again."</p> }
    });
    let retry = repeats.then(|| {
        let look = if session.status == Status::Completed { Look::Plain } else { Look::Primary };
        view! { <form method="post" action=RetrySession::PATH>{retry_fields(&session.id.to_string())}<Button look=look>"Run again"</Button></form> }
    });
    // Beside what the session waits for, cancelling is in a menu: the two buttons were next to each other.
    let has_next_step = summary.gate.is_some() || summary.offer != Offer::Nothing;
    let cancel = (manages && !session.status.is_final()).then(|| {
        if has_next_step {
            view! { <Popover label="More" look=Look::Quiet action=CancelSession::PATH>{cancel_fields(&session.id.to_string())}</Popover> }
                .into_any()
        } else {
            view! { <Popover label="Cancel" picture=Icon::Close look=Look::Danger action=CancelSession::PATH>{cancel_fields(&session.id.to_string())}</Popover> }
                .into_any()
        }
    });
    (retry, archived, cancel, promote, canvas, label, memories, share, forget)
}

/// The content of the form that cancels a session.
fn cancel_fields(id: &str) -> impl IntoView + use<> {
    let href = format!("/sessions/{id}");
    let none = FormState::default();
    view! {
        {page_fields(format!("{href}?notice=cancelled"), href)}
        <input type="hidden" name="session_id" value=id.to_owned()/>
        <Input scope="cancel" field=Field::new("reason", "Why? (optional)") chars_max=REASON_CHARS_MAX form=&none/>
        <p class="meta">"A cancelled session cannot be resumed. Sessions that it started and that are still open are cancelled too. The log is kept, and you can run the session again."</p>
        <div class="form-actions"><Button look=Look::Danger>"Cancel session"</Button></div>
    }
}

/// The hidden fields of a form that runs a session again and continues with the new session.
pub fn retry_fields(session_id: &str) -> impl IntoView + use<> {
    view! {
        {page_fields("/sessions/{id}?notice=retried", format!("/sessions/{session_id}"))}
        <input type="hidden" name="session_id" value=session_id.to_owned()/>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture;

    #[test]
    fn a_run_has_the_name_of_its_tool_and_other_sessions_the_slug_of_their_agent() {
        let mut session = fixture::session();
        session.title = "Weather".into();
        assert_eq!(runner(&session, "scout"), ("Agent", "scout".to_owned()));
        assert_eq!(runner(&session, "http:weather"), ("Tool", "Weather".to_owned()));
        session.source = Some(TEST_SOURCE.into());
        assert_eq!(runner(&session, "http:weather"), ("Tool", "weather".to_owned()));
    }
}
