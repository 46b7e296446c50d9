//! The row of an item in the inbox list.

use super::{
    api::item_field,
    item::Item,
    item_text::{agent_name, changes, decision_word, is_viewers_turn, kind_word, named_subject, whose_turn},
    list::List,
    similar::Difference,
};
use crate::{
    render::to_html,
    session::Titles,
    text::shorten::one_line,
    ui::{
        icon::{Icon, icon},
        time::{due, moment, stamp},
    },
};
use domain::{
    Timestamp,
    gate::{GateKind, GateState},
};
use leptos::prelude::*;
use wire::approval::Approval;

/// Longest value in a difference, characters.
const DIFFERENCE_CHARS_MAX: usize = 60;

/// The row of an item. `group` is the key of its group and whether that is unfolded; `differs` names unusual values.
pub fn row(list: &List, item: &Approval, group: Option<(&str, bool)>, differs: &[Difference]) -> Item {
    let in_selected_group = group.is_some_and(|(key, _)| list.selected.as_deref() == Some(key));
    Item {
        id: item.id.to_string(),
        session_id: item.session_id.to_string(),
        group: group.map(|(key, _)| key.to_owned()),
        title: named_subject(item, &list.titles),
        href: format!("/inbox/{}", item.id),
        digest: (item.may_decide && item.state == GateState::Open).then(|| item.digest.clone()),
        body: to_html(body(list, item, differs)),
        refusal: list.refused.get(&item.id.to_string()).cloned(),
        is_current: list.current.as_ref() == Some(&item.id.to_string()),
        is_ticked: in_selected_group || list.batch.value(&item_field(&item.id.to_string())).is_some(),
        is_folded: group.is_some_and(|(_, unfolded)| !unfolded),
        ..Item::default()
    }
}

/// The row of a question for which no session waits. No batch contains it, because it takes no approval.
pub fn question_row(list: &List, question: &Approval) -> Item {
    let due = question.due_at.map(due_view);
    let facts = view! {
        <div class="inbox-facts"><div class="row-sub">
            <span>{kind_word(question.kind)}</span>
            <span>"The agent keeps working"</span>
            {due}
            {moment(question.opened_at)}
        </div></div>
    };
    Item { digest: None, body: to_html(facts), ..row(list, question, None, &[]) }
}

/// What a row says below its title.
fn body(list: &List, item: &Approval, differs: &[Difference]) -> impl IntoView + use<> {
    view! {
        <p class="inbox-summary" dir="auto">{changes(item, &list.titles)}</p>
        <div class="inbox-facts">
            {(!differs.is_empty()).then(|| differences(differs, &list.titles))}
            {(!item.flags.is_empty()).then(|| flags(&item.flags))}
            {facts(item, list.everyone)}
        </div>
    }
}

fn differences(differs: &[Difference], titles: &Titles) -> impl IntoView + use<> {
    let lines = differs.iter().map(|differs| {
        let short = |text: &str| match titles.get(text).map_or(text, String::as_str) {
            "" => "nothing".to_owned(),
            text => one_line(text, DIFFERENCE_CHARS_MAX),
        };
        let (value, usual) = (short(&differs.value), short(&differs.usual));
        view! { <li>{icon(Icon::Alert)}<span>{differs.label.clone()}": "<strong>{value}</strong>", others "{usual}</span></li> }
    });
    view! { <ul class="inbox-differences">{lines.collect::<Vec<_>>()}</ul> }
}

/// The flags that the agent or a policy put on an item.
pub fn flags(flags: &[String]) -> impl IntoView + use<> {
    let items = flags
        .iter()
        .map(|flag| view! { <li class="inbox-flag">{icon(Icon::Flag)}<span dir="auto">{flag.clone()}</span></li> });
    view! { <ul class="inbox-flags" aria-label="Flags">{items.collect::<Vec<_>>()}</ul> }
}

fn due_view(at: Timestamp) -> impl IntoView {
    view! { <span class="inbox-due">"Due "{due(at)}</span> }
}

/// The line of facts of a row. In the viewer's own list an item that waits for the viewer does not say so.
fn facts(item: &Approval, everyone: bool) -> impl IntoView + use<> {
    let due = item.due_at.filter(|_| item.state == GateState::Open).map(due_view);
    let snoozed = item.snoozed_until.map(|at| view! { <span>"Snoozed until "{stamp(at)}</span> });
    let quorum =
        (item.quorum > 1).then(|| view! { <span>{format!("{} of {} approvals", item.approvals, item.quorum)}</span> });
    let state_text = match (item.state, &item.decision) {
        (GateState::Open, _) if !everyone && is_viewers_turn(item) => String::new(),
        (GateState::Open, _) => whose_turn(item),
        (GateState::Expired, _) => "Expired".to_owned(),
        (GateState::Withdrawn, _) => "Withdrawn".to_owned(),
        (_, Some(decision)) => format!("{} by {}", decision_word(decision), decision.email),
        (_, None) => "Decided".to_owned(),
    };
    let decided = item.decision.as_ref().filter(|_| matches!(item.state, GateState::Held | GateState::Settled));
    let decided_at = decided.map(|decision| view! { ", "{moment(decision.at)} });
    let under_action = item.action_name.clone().filter(|_| item.kind != GateKind::Question);
    view! {
        <div class="row-sub">
            <span>{kind_word(item.kind)}</span>
            <span>{agent_name(item)}</span>
            {due}
            {moment(item.opened_at)}
            {snoozed}
            {quorum}
            {(!state_text.is_empty())
                .then(|| view! { <span class="inbox-turn" data-mine=is_viewers_turn(item).then_some("")>{state_text}{decided_at}</span> })}
            {under_action.map(|name| view! { <span dir="auto">{name}</span> })}
        </div>
    }
}
