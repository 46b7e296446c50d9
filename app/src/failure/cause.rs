//! The page /failures/{id}.

use super::{
    list::PATH,
    parts::{snooze_choices, state_label, state_words, title, trend, window_label},
};
use crate::{
    FormState,
    agent_href::{agent_href, agent_word},
    document::render,
    paced_run,
    render::static_html,
    sessions::{BULK_PATH, LiveRows, selecting_help},
    shell::{RailEntry, Shell, frame},
    text::{escape::query, number, shorten::one_line},
    ui::{
        button::{Button, Look},
        field::{Field, Input, Select},
        notice::Refused,
        page_head::PageHead,
        pager::Pager,
        popover::Popover,
        section::Section,
        tabs::{Tab, Tabs},
        time::{machine, moment, stamp},
    },
};
use domain::{
    Timestamp,
    failure::cause::{CauseState, Window},
    limit::RUN_AGAIN_MAX,
    role::Permission,
};
use leptos::prelude::*;
use wire::failure_cause::{CausedFailure, FailureCause};

/// Characters of a message in headings and crumbs. Longer ones push everything else off a phone's screen.
pub(super) const TITLE_CHARS: usize = 120;
/// Numbers of sessions that the form offers to run again.
const BATCHES: [u64; 3] = [1, 5, 20];

/// Data of the page.
#[derive(Debug, Clone)]
pub struct CauseProps {
    /// What its failures have in common, and its state.
    pub cause: FailureCause,
    /// `?window=`: the time range in which its failures are counted.
    pub window: Window,
    /// Beginning of the range (UTC).
    pub since: Timestamp,
    /// End of the range (UTC).
    pub until: Timestamp,
    /// Its failures, newest first, whenever they were.
    pub sessions: Vec<CausedFailure>,
    /// Cursor of the next page of failures; absent on the last page.
    pub next_cursor: Option<String>,
    /// Whether this is a page after the first.
    pub is_continued: bool,
    /// State of the refused form: `snooze` or `again`.
    pub form: FormState,
}

impl CauseProps {
    fn href(&self, window: Window, cursor: Option<&str>) -> String {
        let from = cursor.map(|cursor| format!("&cursor={}", query(cursor))).unwrap_or_default();
        format!("{PATH}/{}?window={window}{from}", self.cause.id)
    }
}

/// Renders the page.
pub fn cause_page(shell: &Shell, props: CauseProps) -> String {
    let title = title(&props.cause.code, &one_line(&props.cause.message, TITLE_CHARS));
    render(shell, &title, || {
        let props = &props;
        let cause = &props.cause;
        let crumbs = vec![("Sessions".to_owned(), "/sessions".to_owned()), ("Failures".to_owned(), PATH.to_owned())];
        let newest = props.is_continued.then(|| props.href(props.window, None));
        let older = props.next_cursor.as_deref().map(|cursor| props.href(props.window, Some(cursor)));
        let sessions = static_html(again(shell, props));
        let page = view! {
            <div data-keys="failures">
                <PageHead title=title.clone() crumbs=crumbs>{decisions(shell, props)}</PageHead>
                {static_html(view! { <Refused messages=props.form.of("snooze").general(&["until", "day"])/> })}
                {whole_message(&cause.message)}
                <dl class="facts">{facts(props)}</dl>
                <p>{cause.remediation.clone()}</p>
                {static_html(view! { <Tabs label="When" tabs=windows(props)/> })}
                <LiveRows>{sessions}</LiveRows>
                <Pager newest=newest older=older/>
            </div>
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

/// The message in full, if the heading has only its beginning.
fn whole_message(message: &str) -> Option<impl IntoView + use<>> {
    let is_cut = one_line(message, TITLE_CHARS) != message;
    is_cut.then(|| static_html(view! { <pre class="cause-message" dir="auto">{message.to_owned()}</pre> }))
}

fn windows(props: &CauseProps) -> Vec<Tab> {
    let tab = |window| Tab::new(window_label(window), props.href(window, None), props.window == window);
    Window::ALL.into_iter().map(tab).collect()
}

fn fact(term: &'static str, value: impl IntoView) -> impl IntoView {
    view! { <div><dt>{term}</dt><dd>{value}</dd></div> }
}

fn facts(props: &CauseProps) -> impl IntoView + use<> {
    let cause = &props.cause;
    let agents = cause.agents.iter().map(|agent| match &agent.agent_slug {
        Some(slug) => {
            let words = format!(" {} ", number::grouped(agent.failures));
            view! { <a href=agent_href(slug)>{slug.clone()}</a>{words} }.into_any()
        }
        None => format!("no agent {} ", number::grouped(agent.failures)).into_any(),
    });
    let agents = agents.collect::<Vec<_>>();
    let has_agents = !agents.is_empty();
    let more = (cause.more_agents > 0).then(|| format!("{} more", number::grouped(cause.more_agents)));
    let decided = cause.decided_at.filter(|_| cause.state != CauseState::Open);
    (
        fact(
            "State",
            view! { {state_label(cause.state)}{state_words(cause).filter(|_| cause.state != CauseState::Acknowledged && cause.state != CauseState::Resolved).map(|words| view! { " · "{words} })}{decided.map(|at| view! { ", "{moment(at)} })} },
        ),
        fact("Failures", view! { {number::grouped(cause.failures)}" "{trend(cause)} }),
        cause.tool.clone().map(|tool| fact("Tool", view! { <span dir="auto">{tool}</span> })),
        cause.step.clone().map(|step| fact("Step", view! { <span dir="auto">{step}</span> })),
        has_agents.then(|| fact("Agents", view! { {agents}{more} })),
        cause.first_at.map(|at| fact("First", stamp(at))),
        cause.last_at.map(|at| fact("Last", stamp(at))),
    )
}

/// What people can decide about the cause.
fn decisions(shell: &Shell, props: &CauseProps) -> impl IntoView + use<> {
    if !shell.may(Permission::ManageSessions) {
        return ().into_any();
    }
    let action = format!("{PATH}/{}/decision", props.cause.id);
    let is_open = props.cause.state == CauseState::Open;
    let form = props.form.of("snooze");
    let back = props.href(props.window, None);
    let next = back.clone();
    let open = is_open.then(|| {
        view! {
            <Button attr:data-key="seen" attr:data-list-key="a" name="decision" value="acknowledge" title="Mark as seen (a, e)">"Mark as seen"</Button>
            <Button name="decision" value="resolve">"Resolve"</Button>
        }
    });
    let closed = (!is_open).then(|| view! { <Button name="decision" value="reopen" title="Open again (z)" attr:data-list-key="z">"Open again"</Button> });
    let snooze = is_open.then(|| {
        view! {
            <Popover label="Snooze" action=action.clone() open=form.is_refused()>
                <input type="hidden" name="next" value=back/>
                <input type="hidden" name="next" value=props.href(props.window, None)/>
                <input type="hidden" name="window" value=props.window.as_str()/>
                <Select scope="snooze" field=Field::new("until", "Until") options=snooze_choices() form=&form/>
                <Input scope="snooze" field=Field::new("day", "Day").hint("For the choice of a day.") kind="date" form=&form/>
                <div class="form-actions"><Button look=Look::Primary name="decision" value="snooze">"Snooze"</Button></div>
            </Popover>
        }
    });
    view! {
        <form class="cause-decisions" method="post" action=action>
            <input type="hidden" name="next" value=next/>
            {open}{closed}
        </form>
        {snooze}
    }
    .into_any()
}

/// The sessions, with the form that runs some of them again.
fn again(shell: &Shell, props: &CauseProps) -> impl IntoView + use<> {
    let may = shell.may(Permission::StartSession);
    let rows: Vec<_> = props.sessions.iter().map(|caused| row(caused, may).into_any()).collect();
    let list = view! { <ul class="rows">{rows}</ul> };
    if !may {
        return view! { <Section name="sessions" title="Sessions">{list}</Section> }.into_any();
    }
    let form = props.form.of("again");
    let all = props.cause.failures.min(RUN_AGAIN_MAX as u64);
    let mut batches = vec![(String::new(), format!("All, at most {RUN_AGAIN_MAX}"))];
    batches.extend(
        BATCHES
            .into_iter()
            .filter(|batch| *batch < all)
            .map(|batch| (batch.to_string(), format!("The {batch} oldest"))),
    );
    let action = format!("{PATH}/{}/run-again", props.cause.id);
    view! {
        <Section name="sessions" title="Sessions">
            <form method="post" action=action>
                <Refused messages=form.general(&[])/>
                <input type="hidden" name="window" value=props.window.as_str()/>
                <input type="hidden" name="since" value=machine(props.since)/>
                <input type="hidden" name="until" value=machine(props.until)/>
                <div class="cause-again">
                    <Button name="which" value="chosen" title="Run the selected sessions again (R)" attr:data-list-key="R" attr:data-of-ticked="">
                        "Run selected again…"
                    </Button>
                    <Select scope="again" field=Field::new("limit", "Of the failures of this time") options=batches form=&form/>
                    <Button look=Look::Primary name="which" value="all" title="Run again (R)" attr:data-list-key="R">"Run again…"</Button>
                </div>
                <div class="form-actions">
                    <Button small=true name="verb" value="tag" attr:formaction=BULK_PATH>"Tag selected…"</Button>
                    <Button small=true name="verb" value="assign" attr:formaction=BULK_PATH>"Assign selected…"</Button>
                    {selecting_help(None)}
                </div>
                <p class="meta">"You see the sessions before any of them starts. A session that was run again before is left out. "<a href=paced_run::PATH>"Paced runs"</a></p>
                {list}
            </form>
        </Section>
    }
    .into_any()
}

fn row(caused: &CausedFailure, may: bool) -> impl IntoView + use<> {
    let failure = &caused.failure;
    let id = failure.session_id;
    let (may_run, was_run) = (caused.retried_by.is_none(), caused.retried_by.is_some());
    let tick = may.then(|| {
        let label = format!("Select {}", failure.title);
        view! { <input type="checkbox" name=format!("items[{id}]") value=id.to_string() aria-label=label disabled=was_run data-tick=may_run.then_some("")/> }
    });
    let again = caused.retried_by.map(|retry| view! { <a href=format!("/sessions/{retry}")>"was run again"</a> });
    view! {
        <li class="row cause-session">
            <span class="cause-tick">{tick}</span>
            <div class="row-body">
                <a class="row-title" href=format!("/sessions/{id}") dir="auto">{failure.title.clone()}</a>
                <div class="row-sub">
                    {failure.agent_slug.as_deref().map(|agent| view! { <span>{agent_word(agent)}</span> })}
                    {again.map(|again| view! { <span>{again}</span> })}
                    <span class="row-last" dir="auto">{failure.message.clone()}</span>
                </div>
            </div>
            <span class="row-when">{moment(failure.at)}</span>
            <span></span>
        </li>
    }
}
