//! What became of items that a form decided, and the page that says so.

use crate::{
    document::render,
    inbox::{
        api::{UndoDecisions, item_field},
        item_text::{decision_word, row_subject, whose_turn},
        list::List,
    },
    render::static_html,
    server_function::page_fields,
    shell::{RailEntry, Shell, frame},
    text::{escape::query, label::capitalized, number::counted, shorten::one_line},
    ui::{
        button::{Button, ButtonLink},
        icon::{Icon, icon},
        notice::{Notice, Refused, Tone},
        page_head::PageHead,
        table::{Column, Table},
        time::{clock, stamp},
    },
};
use domain::{
    gate::{GateState, Verdict},
    id::UserId,
};
use leptos::{prelude::*, server_fn::ServerFn as _, tachys::html::InertElement};
use wire::approval::{Approval, Decision};

/// Longest typed text that is shown again, characters.
const UNUSED_CHARS_MAX: usize = 200;

/// An item that a form named, as it is now.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The approval as it is now.
    pub item: Approval,
    /// Labels and texts that were typed for it and not used, because others had decided it.
    pub unused: Vec<(String, String)>,
}

/// Data of the page /inbox/review/result.
#[derive(Debug, Clone)]
pub struct ResultProps {
    /// Titles and the time. Its items are not read.
    pub list: List,
    /// What became of each item.
    pub outcomes: Vec<Outcome>,
    /// Key of the group.
    pub group: String,
    /// Address of this page.
    pub address: String,
    /// The person who looks; absent for a token.
    pub viewer_id: Option<UserId>,
    /// Why an undo was refused.
    pub refusals: Vec<String>,
}

/// Address of the table of a group.
pub fn table_href(group: &str, everyone: bool) -> String {
    let everyone = if everyone { "&assignedTo=all" } else { "" };
    format!("/inbox/review?group={}{everyone}", query(group))
}

/// Renders the page.
pub fn result_page(shell: &Shell, props: &ResultProps) -> String {
    render(shell, "Decided", || {
        let table = table_href(&props.group, props.list.everyone);
        let crumbs = vec![("Inbox".to_owned(), props.list.href("")), ("Review".to_owned(), table.clone())];
        let page = view! {
            <div data-keys="inbox">
                <PageHead title="Decided" crumbs=crumbs/>
                <Refused messages=props.refusals.clone()/>
                {summary(&props.outcomes, props.viewer_id)}
                {undo(props, &table)}
                {outcome_table(&props.list, &props.outcomes, props.viewer_id)}
                <p class="form-actions"><ButtonLink href=table>"Review what is left"</ButtonLink></p>
            </div>
        };
        // The styles of the inbox alone lack those of this page.
        frame(shell, RailEntry::Elsewhere, page)
    })
}

/// The decision that counts, if there is one. An open item may have approvals, and none of them counts alone.
fn decided(item: &Approval) -> Option<&Decision> {
    item.decision.as_ref().filter(|_| matches!(item.state, GateState::Held | GateState::Settled))
}

fn is_own(item: &Approval, viewer_id: Option<UserId>) -> bool {
    viewer_id.is_some() && decided(item).is_some_and(|decision| decision.user_id == viewer_id)
}

/// How many items were decided, and by whom.
pub fn summary(outcomes: &[Outcome], viewer_id: Option<UserId>) -> impl IntoView + use<> {
    let own = outcomes.iter().filter(|outcome| is_own(&outcome.item, viewer_id)).count();
    let waiting = outcomes.iter().filter(|outcome| outcome.item.state == GateState::Open).count();
    let others = outcomes.len() - own - waiting;
    let mut said = vec![format!("You decided {}.", counted(own as u64, "item"))];
    if others > 0 {
        said.push(format!("{} already decided or closed by others.", were(others)));
    }
    if waiting > 0 {
        said.push(format!("{} not decided yet.", were(waiting)));
    }
    let tone = if own == outcomes.len() { Tone::Good } else { Tone::Wait };
    static_html(view! { <Notice tone=tone><p>{said.join(" ")}</p></Notice> })
}

fn were(count: usize) -> String {
    format!("{} {}", counted(count as u64, "item"), if count == 1 { "was" } else { "were" })
}

/// The button that takes the viewer's decisions back, while that is possible.
fn undo(props: &ResultProps, table: &str) -> Option<InertElement> {
    let is_held = |item: &&Approval| {
        let is_open_to_undo = item.held_until.is_some_and(|until| until > props.list.now);
        item.state == GateState::Held && is_open_to_undo && is_own(item, props.viewer_id)
    };
    let held: Vec<&Approval> = props.outcomes.iter().map(|outcome| &outcome.item).filter(is_held).collect();
    let until = held.iter().filter_map(|item| item.held_until).min()?;
    let items: Vec<_> = held
        .iter()
        .map(|item| view! { <input type="hidden" name=item_field(&item.id.to_string()) value=""/> })
        .collect();
    let label = format!("Undo {}", counted(held.len() as u64, "decision"));
    Some(static_html(view! {
        <form class="form-actions" method="post" action=UndoDecisions::PATH>
            {items}
            {page_fields(format!("{table}&notice=decision_undone"), props.address.clone())}
            <Button attr:data-key="undo" title="Undo (z)">{label}</Button>
            <span class="meta">{format!("possible until {} UTC", clock(until))}</span>
        </form>
    }))
}

/// One row for each item: what was decided, by whom and when.
pub fn outcome_table(list: &List, outcomes: &[Outcome], viewer_id: Option<UserId>) -> impl IntoView + use<> {
    let rows: Vec<_> = outcomes.iter().map(|outcome| line(list, outcome, viewer_id)).collect();
    let columns = vec![Column::text("Item"), Column::text("What became of it")];
    static_html(view! { <Table caption="Items, and what became of each" columns=columns>{rows}</Table> })
}

fn line(list: &List, Outcome { item, unused }: &Outcome, viewer_id: Option<UserId>) -> impl IntoView + use<> {
    let (outcome, picture, said) = words(item, viewer_id);
    let at = decided(item).map(|decision| view! { " "{stamp(decision.at)} });
    let unused: Vec<_> = unused
        .iter()
        .map(|(label, text)| {
            let text = one_line(text, UNUSED_CHARS_MAX);
            view! { <p class="meta" dir="auto">{format!("You typed, and it was not used: {label} {text}")}</p> }
        })
        .collect();
    view! {
        <tr>
            <td class="table-main"><a href=format!("/inbox/{}", item.id) dir="auto">{row_subject(item, &list.titles)}</a></td>
            <td class="table-text">
                <p class="review-outcome" data-outcome=outcome>{icon(picture)}<span>{said}{at}</span></p>
                {unused}
            </td>
        </tr>
    }
}

/// The kind of outcome, its icon and its words.
fn words(item: &Approval, viewer_id: Option<UserId>) -> (&'static str, Icon, String) {
    match (item.state, decided(item)) {
        (GateState::Expired, _) => ("closed", Icon::Expired, "Expired".to_owned()),
        (GateState::Withdrawn, _) => ("closed", Icon::Expired, "Withdrawn".to_owned()),
        (_, Some(decision)) => {
            let is_denied = decision.decision == Some(Verdict::Deny);
            let (outcome, picture) = if is_denied { ("denied", Icon::Close) } else { ("done", Icon::Completed) };
            let word = decision_word(decision);
            let is_own = is_own(item, viewer_id);
            let said = if is_own { capitalized(word) } else { format!("Already {word} by {}", decision.email) };
            (outcome, picture, said)
        }
        (_, None) if item.approved_by_caller => ("waiting", Icon::Pending, whose_turn(item)),
        (_, None) => ("waiting", Icon::Pending, "Not decided".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{output, person};
    use serde_json::json;

    fn outcome(n: u32, by: u32, verdict: Verdict, state: GateState) -> Outcome {
        let item = output(n, json!({"stage": "Won"}));
        let decision = Decision {
            number: 1,
            decision: Some(verdict),
            undoes: None,
            user_id: Some(person(by)),
            email: format!("p{by}@acme.test"),
            value: None,
            note: None,
            at: item.opened_at,
        };
        let held_until = Some(item.opened_at + chrono::TimeDelta::seconds(5));
        let item = Approval { state, held_until, decision: Some(decision), ..item };
        Outcome { item, unused: Vec::new() }
    }

    #[test]
    fn each_item_says_who_decided_it() {
        let mut late = outcome(2, 2, Verdict::Deny, GateState::Held);
        late.unused = vec![("Stage".into(), "<b>Lost</b>".into())];
        let outcomes = [outcome(1, 1, Verdict::Approve, GateState::Held), late];
        let html = crate::render::to_html((
            summary(&outcomes, Some(person(1))),
            outcome_table(&List::default(), &outcomes, Some(person(1))),
        ));
        assert!(html.contains("You decided 1 item. 1 item was already decided or closed by others."), "{html}");
        assert!(html.contains("<span>Approved") && html.contains("<span>Already denied by p2@acme.test"), "{html}");
        assert!(html.contains("Stage &lt;b&gt;Lost&lt;/b&gt;"), "{html}");
    }

    #[test]
    fn only_own_decisions_that_are_held_can_be_undone() {
        let outcomes = vec![
            outcome(1, 1, Verdict::Approve, GateState::Held),
            outcome(2, 2, Verdict::Approve, GateState::Held),
            outcome(3, 1, Verdict::Approve, GateState::Settled),
        ];
        let now = outcomes[0].item.opened_at;
        let props = |now| ResultProps {
            list: List { now, ..List::default() },
            outcomes: outcomes.clone(),
            group: "a&b".into(),
            address: "/inbox/review/result".into(),
            viewer_id: Some(person(1)),
            refusals: Vec::new(),
        };
        let html = crate::render::to_html(undo(&props(now), &table_href("a&b", true)));
        assert!(html.contains("Undo 1 decision") && html.matches("name=\"items[").count() == 1, "{html}");
        assert!(html.contains("group=a%26b&amp;assignedTo=all&amp;notice=decision_undone"), "{html}");
        assert!(undo(&props(now + chrono::TimeDelta::seconds(5)), "").is_none());
    }
}
