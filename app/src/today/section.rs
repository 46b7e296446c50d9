//! The list of one bucket: who, what, since when, why it waits, and one action.

use super::bucket::{BUCKETS, Bucket as Words};
use crate::{
    render::to_html,
    session::{RetrySession, acknowledge, duration_ms, retry_fields, row_title},
    sessions::{SessionEntry, cost_words, input_words, last_words, who},
    shell::Shell,
    text::{duration, markdown, number, shorten::one_line},
    trigger::trigger_button,
    ui::{
        badge::{Badge, StatusBadge},
        button::{Button, ButtonLink},
        empty::Empty,
        icon::Icon,
        time::{moment, since},
    },
};
use domain::{role::Permission, run_again::run_again, session::Status, work_queue::Bucket};
use leptos::{prelude::*, server_fn::ServerFn as _};
use std::collections::BTreeMap;
use wire::action::Action;

/// Longest line about the last event, characters.
const LAST_EVENT_CHARS_MAX: usize = 140;

/// Longest name of an agent on a button, characters.
const AGENT_CHARS_MAX: usize = 24;

/// The gate that a session waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    /// Id of the inbox item.
    pub id: String,
    /// Whether the reader may decide it now.
    pub may_decide: bool,
    /// Whether it is a question, which is answered and not decided.
    pub asks: bool,
}

/// A bucket with its entries: tasks in the bucket `Delegatable`, sessions in all others.
#[derive(Debug, Clone)]
pub struct Section {
    /// Group of the work queue that the section shows.
    pub bucket: Bucket,
    /// Whether it shows everyone's work, not only the reader's.
    pub everyone: bool,
    /// Its sessions, most urgent first.
    pub sessions: Vec<SessionEntry>,
    /// Its tasks.
    pub actions: Vec<Action>,
    /// Gates by the id of the session that waits for them.
    pub gates: BTreeMap<String, Gate>,
    /// How far workers are, by the id of the session.
    pub progress: BTreeMap<String, String>,
    /// Whether there are more entries than these.
    pub has_more: bool,
    /// Number of entries, if there are more than these.
    pub total: Option<u64>,
    /// Number of further failed sessions of tasks that are assigned to no one.
    pub unassigned_failures: u64,
}

/// One section as a fragment, for an update after a change.
pub fn section_fragment(shell: &Shell, section: &Section) -> String {
    to_html(section_view(shell, section, false))
}

/// The section as part of the page; `hidden` if another bucket is selected.
pub fn section_view(shell: &Shell, section: &Section, hidden: bool) -> impl IntoView + use<> {
    let name = section.bucket.as_str();
    let words = words(section.bucket);
    let mut rows: Vec<_> = section.sessions.iter().map(|entry| session_row(shell, section, entry).into_any()).collect();
    rows.extend(section.actions.iter().map(|action| action_row(shell, action).into_any()));
    let shown = number::grouped(rows.len() as u64);
    let count = match section.total {
        Some(total) => format!("{}, {shown} shown", number::grouped(total)),
        None => shown,
    };
    let causes = (section.bucket == Bucket::Failed && !rows.is_empty())
        .then(|| view! { <a href="/failures?window=24h&state=open">"Show by cause"</a> });
    let more = section.has_more.then(|| {
        let href = section.bucket.statuses().first().map_or("/actions".to_owned(), |s| format!("/sessions?status={s}"));
        view! { <a href=href>"Show all"</a> }
    });
    let unassigned_failures = (section.unassigned_failures > 0).then(|| {
        let many = number::counted(section.unassigned_failures, "failure");
        let verb = if section.unassigned_failures == 1 { "belongs" } else { "belong" };
        let href = super::bucket::address(true, name);
        view! { <a href=href>{format!("{many} {verb} to no one")}</a> }
    });
    let body = if rows.is_empty() {
        view! { <Empty sentence=words.empty small=true/> }.into_any()
    } else {
        view! { <ul class="rows" data-part="rows" data-list="">{rows}</ul> }.into_any()
    };
    view! {
        <section class="section" id=format!("section-{name}") data-section=name hidden=hidden aria-labelledby=format!("heading-{name}")>
            <div class="section-head">
                <h2 id=format!("heading-{name}") tabindex="-1">{words.heading(section.everyone)}</h2>
                <span class="meta" data-part="count">{count}</span>
                <span data-part="causes">{causes}</span>
            </div>
            {body}
            <p class="rows-more" data-part="more">{more}</p>
            <p class="rows-more" data-part="unassigned">{unassigned_failures}</p>
        </section>
    }
}

fn words(bucket: Bucket) -> Words {
    BUCKETS.into_iter().find(|w| w.name == bucket.as_str()).unwrap_or(BUCKETS[0])
}

fn session_row(shell: &Shell, section: &Section, entry: &SessionEntry) -> impl IntoView + use<> {
    let bucket = section.bucket;
    let session = &entry.session;
    let title = row_title(session);
    let href = format!("/sessions/{}", session.id);
    let who = who(entry).into_iter().map(|name| view! { <span>{name}</span> }).collect::<Vec<_>>();
    let gate = section.gates.get(&session.id.to_string());
    // How far its worker is says more of a session than its last event.
    let last = section.progress.get(&session.id.to_string()).cloned().or_else(|| last_words(entry));
    let last = last.map(|last| view! { <span class="row-last" dir="auto">{last}</span> }.into_any());
    // Why a session failed says more than what it cost and what it was given.
    let (why, last) = if session.error.is_some() { (last, None) } else { (None, last) };
    let when = match bucket {
        Bucket::NeedsMe => since(session.updated_at).into_any(),
        Bucket::Running => since(session.started_at.unwrap_or(session.created_at)).into_any(),
        Bucket::DoneToday => {
            let lasted = duration_ms(session, shell.now).map(|ms| format!(" · took {}", duration::words(ms)));
            (moment(session.completed_at.unwrap_or(session.updated_at)), lasted).into_any()
        }
        Bucket::Failed | Bucket::Delegatable => moment(session.updated_at).into_any(),
    };
    let href = gate.map_or(href, |gate| format!("/inbox/{}", gate.id));
    let decides = gate.is_some_and(|gate| gate.may_decide);
    let elsewhere = (bucket == Bucket::NeedsMe && gate.is_none() && session.attempt == 0)
        .then(|| view! { <p class="row-help">"Answer in the terminal where the agent runs."</p> });
    let source = session.source.as_deref();
    let repeats = run_again(session.session_type, source, session.status, entry.action_status).is_ok();
    let action = match bucket {
        Bucket::NeedsMe if decides && gate.is_some_and(|gate| gate.asks) => view! { <ButtonLink href=href.clone() small=true about=title.clone()>"Answer this"</ButtonLink> }.into_any(),
        Bucket::NeedsMe if decides => view! { <ButtonLink href=href.clone() small=true about=title.clone()>"Decide"</ButtonLink> }.into_any(),
        Bucket::NeedsMe => view! { <ButtonLink href=href.clone() small=true about=title.clone()>"Open"</ButtonLink> }.into_any(),
        Bucket::Running => view! { <ButtonLink href=href.clone() small=true about=title.clone()>"Watch"</ButtonLink> }.into_any(),
        Bucket::Failed if shell.may(Permission::ManageSessions) && repeats => view! {
            <form method="post" action=RetrySession::PATH>{retry_fields(&session.id.to_string())}<Button small=true about=title.clone()>"Run again"</Button></form>
        }
        .into_any(),
        _ => view! { <ButtonLink href=href.clone() small=true about=title.clone()>"Read"</ButtonLink> }.into_any(),
    };
    let acknowledge = entry.failure.as_ref().map(|failure| acknowledge(shell, failure, "/today"));
    view! {
        <li class="row" data-key-id=session.id.to_string()>
            <StatusBadge status=session.status/>
            <div class="row-body">
                <a class="row-title" href=href dir="auto">{title}</a>
                <div class="row-sub">
                    {who}
                    {why}
                    {cost_words(session).map(|cost| view! { <span>{cost}</span> })}
                    {input_words(session).map(|input| view! { <span class="row-input" dir="auto">{input}</span> })}
                    {last}
                </div>
                {elsewhere}
            </div>
            <span class="row-when">{when}</span>
            <div class="row-action">{acknowledge}{action}</div>
        </li>
    }
}

fn action_row(shell: &Shell, action: &Action) -> impl IntoView + use<> {
    let href = format!("/actions/{}", action.id);
    let about = markdown::one_line(&action.description, LAST_EVENT_CHARS_MAX);
    let delegate = match &action.agent_slug {
        Some(agent) => format!("Delegate to {}", one_line(agent, AGENT_CHARS_MAX)),
        None => "Delegate".to_owned(),
    };
    let way = trigger_button(shell, action, delegate);
    view! {
        <li class="row" data-key-id=action.id.to_string()>
            <Badge picture=Icon::Agent word="Ready" colour=Status::Idle/>
            <div class="row-body">
                <a class="row-title" href=href dir="auto">{action.name.clone()}</a>
                <div class="row-sub">
                    {action.agent_slug.clone().map(|a| view! { <span>{a}</span> })}
                    {(!about.is_empty()).then(|| view! { <span class="row-last" dir="auto">{about}</span> })}
                </div>
            </div>
            <span class="row-when"></span>
            <div class="row-action">{way}</div>
        </li>
    }
}
