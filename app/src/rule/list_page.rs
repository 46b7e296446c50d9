//! The page /rules.

use super::{state_badge, suspended_note};
use crate::{
    document::render,
    shell::{RailEntry, Shell, frame},
    text::{escape::query, number::grouped},
    ui::{
        empty::Empty,
        page_head::PageHead,
        pager::more,
        section::Section,
        table::{Column, Table},
    },
};
use domain::{Timestamp, id::GateId};
use leptos::prelude::*;
use wire::rule::Rule;

/// Items that people approved so often that a rule could do it.
#[derive(Debug, Clone)]
pub struct Suggested {
    /// The newest of them.
    pub from: GateId,
    /// What they are, in words: `refund calls of scout`.
    pub what: String,
    /// How many people approved.
    pub approvals: u64,
}

/// Data of the page /rules.
#[derive(Debug, Clone)]
pub struct ListProps {
    /// The rules of this page.
    pub rules: Vec<Rule>,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// What rules could be made about; empty for everyone but admins.
    pub suggested: Vec<Suggested>,
    /// The time of the page.
    pub now: Timestamp,
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Rules", || {
        let ListProps { rules, next_cursor, suggested, now } = props;
        let list = if rules.is_empty() {
            let sentence = "A rule approves items that people have approved many times. After 20 like approvals without \
                            another decision an admin can create one here. There are no rules yet.";
            view! { <Empty sentence=sentence link=Some(("Inbox", "/inbox".to_owned()))/> }.into_any()
        } else {
            table(&rules, now).into_any()
        };
        let more = more(next_cursor.map(|cursor| format!("/rules?cursor={}", query(&cursor))));
        let crumbs = vec![("Inbox".to_owned(), "/inbox".to_owned())];
        let page = view! {
            <PageHead title="Rules" crumbs=crumbs/>
            {suggestions(&suggested)}
            {list}
            {more}
        };
        frame(shell, RailEntry::Elsewhere, page)
    })
}

/// What rules could be made about, each with a link to its draft.
pub(super) fn suggestions(suggested: &[Suggested]) -> Option<impl IntoView + use<>> {
    if suggested.is_empty() {
        return None;
    }
    let items = suggested
        .iter()
        .map(|of| {
            let approved = format!(": {} approved in 90 days, nothing else decided. ", grouped(of.approvals));
            let (href, label) = (format!("/rules/new?from={}", of.from), format!("Create a rule for {}", of.what));
            view! { <li><span dir="auto">{of.what.clone()}</span>{approved}<a href=href>{label}</a></li> }
        })
        .collect::<Vec<_>>();
    Some(view! {
        <Section name="suggested" title="Suggested">
            <ul>{items}</ul>
        </Section>
    })
}

fn table(rules: &[Rule], now: Timestamp) -> impl IntoView + use<> {
    let rows = rules
        .iter()
        .map(|rule| {
            view! {
                <tr>
                    <td class="table-main">
                        <a class="quiet" dir="auto" href=format!("/rules/{}", rule.id)>{rule.sentence.clone()}</a>
                        {suspended_note(rule)}
                    </td>
                    <td>{state_badge(rule, now)}</td>
                    <td class="meta table-number">{grouped(rule.decided_7d)}</td>
                    <td class="meta table-number">{grouped(rule.decided_90d)}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let columns = vec![
        Column::text("Rule"),
        Column::text("State"),
        Column::number("Decided, 7 days"),
        Column::number("Decided, 90 days"),
    ];
    view! { <Table caption="Rules, newest first" columns=columns>{rows}</Table> }
}
