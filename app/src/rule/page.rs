//! The page /rules/{id}.

use super::{state_badge, suspended_note};
use crate::{
    document::render,
    entity::People,
    render::static_html,
    session::verdict_word,
    shell::{RailEntry, Shell, frame},
    text::{escape::query, number::grouped, shorten::one_line},
    ui::{
        button::{Button, ButtonLink, Look},
        notice::Refused,
        page_head::PageHead,
        section::Section,
        table::{Column, Table},
        time::{moment, stamp},
    },
};
use domain::{Timestamp, gate::GateState, role::Permission, rule::State};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::rule::{Rule, RuleDecision};

/// Longest title in a row, characters.
const TITLE_CHARS_MAX: usize = 120;

/// A version of the rule.
#[derive(Debug, Clone)]
pub struct Version {
    /// Number of the version.
    pub version: u64,
    /// What it approved, in words.
    pub sentence: String,
    /// Who made it: `user:ID`.
    pub made_by: String,
    /// When it was made.
    pub made_at: Timestamp,
}

/// Data of the page of a rule.
#[derive(Debug, Clone)]
pub struct Props {
    /// The rule with its newest version.
    pub rule: Rule,
    /// Its newest versions, newest first.
    pub versions: Vec<Version>,
    /// Decisions of this page, newest first.
    pub decisions: Vec<RuleDecision>,
    /// Cursor of older decisions; absent on the last page.
    pub next_cursor: Option<String>,
    /// Names of everyone who may have changed it.
    pub people: People,
    /// Why a button was refused.
    pub refusals: Vec<String>,
    /// The time of the page.
    pub now: Timestamp,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    render(shell, "Rule", || {
        let Props { rule, versions, decisions, next_cursor, people, refusals, now } = props;
        let is_kept = rule.state != State::Deleted;
        let changes = shell.may(Permission::Administer) && is_kept;
        let edit = changes.then(|| view! { <ButtonLink href=format!("/rules/{}/edit", rule.id)>"Edit"</ButtonLink> });
        let page = view! {
            <PageHead title="Rule" crumbs=vec![("Rules".to_owned(), "/rules".to_owned())]>{edit}</PageHead>
            <Refused messages=refusals/>
            <p dir="auto">{rule.sentence.clone()}</p>
            {suspended_note(&rule)}
            <dl class="facts">
                <div><dt>"State"</dt><dd>{state_badge(&rule, now)}</dd></div>
                <div><dt>"Version"</dt><dd>{rule.version}</dd></div>
                <div><dt>"Decided, 7 days"</dt><dd>{grouped(rule.decided_7d)}</dd></div>
                <div><dt>"Decided, 90 days"</dt><dd>{grouped(rule.decided_90d)}</dd></div>
                <div><dt>"Changed"</dt><dd>{moment(rule.updated_at)}</dd></div>
                <div><dt>"By"</dt><dd>{people.word(&rule.updated_by)}</dd></div>
            </dl>
            {changes.then(|| state_form(&rule))}
            {decisions_section(&rule, &decisions, next_cursor)}
            {versions_section(&versions, &people)}
        };
        frame(shell, RailEntry::Elsewhere, page)
    })
}

/// Suspends, resumes or deletes.
fn state_form(rule: &Rule) -> InertElement {
    let first = match rule.state {
        State::Suspended => view! { <Button name="do" value="resume" look=Look::Primary>"Resume"</Button> }.into_any(),
        State::Active | State::Deleted => view! { <Button name="do" value="suspend">"Suspend"</Button> }.into_any(),
    };
    static_html(view! {
        <form class="form-actions" method="post" action=format!("/rules/{}", rule.id)>
            {first}
            <Button name="do" value="delete" look=Look::Danger>"Delete rule"</Button>
        </form>
    })
}

/// What has become of a decision.
fn now_words(decision: &RuleDecision) -> String {
    let verdict = decision.verdict.map_or("not decided", verdict_word);
    match decision.state {
        GateState::Held => format!("{verdict}, can be undone"),
        GateState::Open => "undone, waits for a person".to_owned(),
        GateState::Settled => verdict.to_owned(),
        GateState::Expired => "expired".to_owned(),
        GateState::Withdrawn => "withdrawn".to_owned(),
    }
}

fn decisions_section(rule: &Rule, decisions: &[RuleDecision], next: Option<String>) -> impl IntoView + use<> {
    let rows = decisions
        .iter()
        .map(|decision| {
            let title = one_line(&decision.title, TITLE_CHARS_MAX);
            let item = format!("/inbox/{}", decision.approval_id);
            view! {
                <tr>
                    <td class="table-main"><a class="quiet" dir="auto" href=format!("/sessions/{}", decision.session_id)>{title}</a></td>
                    <td>{now_words(decision)}" "<a href=item>"Item"</a></td>
                    <td class="meta table-number">{format!("v{}", decision.version)}</td>
                    <td class="meta">{stamp(decision.decided_at)}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let columns =
        vec![Column::text("Session"), Column::text("Now"), Column::number("Version"), Column::text("Decided")];
    let list = if rows.is_empty() {
        view! { <p class="meta">"It has decided nothing yet."</p> }.into_any()
    } else {
        view! { <Table caption="Decisions of the rule, newest first" columns=columns>{rows}</Table> }.into_any()
    };
    let more = next.map(|cursor| {
        let href = format!("/rules/{}?cursor={}#decisions", rule.id, query(&cursor));
        view! { <nav class="pager" aria-label="Pages"><ButtonLink small=true attr:rel="next" href=href>"Older"</ButtonLink></nav> }
    });
    view! { <Section name="decisions" id="decisions" title="Decisions">{list} {more}</Section> }
}

fn versions_section(versions: &[Version], people: &People) -> InertElement {
    let items = versions
        .iter()
        .map(|version| {
            view! {
                <li>
                    {format!("Version {}", version.version)}
                    <span class="meta">" · "{moment(version.made_at)}" · "{people.word(&version.made_by)}</span>
                    <div class="meta" dir="auto">{version.sentence.clone()}</div>
                </li>
            }
        })
        .collect::<Vec<_>>();
    static_html(view! {
        <Section name="versions" id="versions" title="Versions">
            <ul class="tool-versions">{items}</ul>
        </Section>
    })
}
