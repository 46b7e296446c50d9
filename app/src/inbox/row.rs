//! The row of an item in the inbox list.

use super::{
    item::Item,
    item_text::{agent_name, decision_word, is_viewers_turn, row_subject, whose_turn},
    list::List,
    similar::Difference,
};
use crate::{
    render::to_html,
    session::Titles,
    text::{label::capitalized, shorten::one_line},
    ui::{
        icon::{Icon, icon},
        time::{due, moment, stamp},
    },
};
use domain::gate::{GateState, Verdict};
use leptos::prelude::*;
use wire::approval::Approval;

/// Longest value in a difference, characters.
const DIFFERENCE_CHARS_MAX: usize = 60;

/// The row of an item. `group` is the key of its group and whether that is unfolded.
pub fn row(list: &List, item: &Approval, group: Option<(&str, bool)>) -> Item {
    Item {
        group: group.map(|(key, _)| key.to_owned()),
        is_folded: group.is_some_and(|(_, unfolded)| !unfolded),
        ..item_of(list, item, to_html(body(list, item, &[], group.is_some())))
    }
}

/// The row of an item that differs from the others of its group. It is shown although its group is folded, and no
/// selection of the group has it.
pub fn outlier_row(list: &List, item: &Approval, group: &str, differs: &[Difference]) -> Item {
    let body = to_html(body(list, item, differs, true));
    Item { group: Some(group.to_owned()), is_outlier: true, ..item_of(list, item, body) }
}

/// The row of a question for which no session waits. No batch contains it, because it takes no approval.
pub fn question_row(list: &List, question: &Approval) -> Item {
    let facts = view! {
        <div class="inbox-about"><p class="inbox-summary">"The agent keeps working"</p></div>
        <div class="row-sub"><span>{when(question)}</span></div>
    };
    Item { digest: None, ..item_of(list, question, to_html(facts)) }
}

/// The row of an item that is closed: who decided what, when and why.
pub fn decided_row(list: &List, item: &Approval) -> Item {
    let is_denied = item.decision.as_ref().is_some_and(|decision| decision.decision == Some(Verdict::Deny));
    let (outcome, picture) = match item.state {
        GateState::Expired | GateState::Withdrawn => ("closed", Icon::Expired),
        _ if is_denied => ("denied", Icon::Close),
        _ => ("done", Icon::Completed),
    };
    let said = match (item.state, &item.decision) {
        (GateState::Expired, _) => "Expired".to_owned(),
        (GateState::Withdrawn, _) => "Withdrawn".to_owned(),
        (_, Some(decision)) => format!("{} by {}", capitalized(decision_word(decision)), decision.email),
        (_, None) => "Decided".to_owned(),
    };
    let at = item.decision.as_ref().map(|decision| decision.at).or(item.settled_at).unwrap_or(item.opened_at);
    let why = item.decision.as_ref().and_then(|decision| decision.note.clone());
    let body = view! {
        <div class="inbox-about"><p class="inbox-summary" data-outcome=outcome>{icon(picture)}<span>{said}</span></p></div>
        <div class="row-sub"><span>{moment(at)}</span></div>
        {why.map(|why| view! { <p class="inbox-why" dir="auto">{why}</p> })}
    };
    item_of(list, item, to_html(body))
}

/// What all rows of items have.
fn item_of(list: &List, item: &Approval, body: String) -> Item {
    let id = item.id.to_string();
    Item {
        session_id: item.session_id.to_string(),
        title: row_subject(item, &list.titles),
        href: list.item_href(&id),
        digest: (item.may_decide && item.state == GateState::Open).then(|| item.digest.clone()),
        body,
        refusal: list.refused.get(&id).cloned(),
        is_current: list.current.as_ref() == Some(&id),
        is_ticked: list.ticked.contains(&id),
        id,
        ..Item::default()
    }
}

/// What a row says beside and below its title. The heading of a group names the agent of its items.
fn body(list: &List, item: &Approval, differs: &[Difference], is_in_group: bool) -> impl IntoView + use<> {
    let states = states(item, list.everyone);
    let marks = (!differs.is_empty() || !item.flags.is_empty() || !states.is_empty()).then(|| {
        view! {
            <div class="inbox-marks">
                {(!states.is_empty()).then(|| view! { <div class="row-sub">{states}</div> })}
                {(!differs.is_empty()).then(|| differences(differs, &list.titles))}
                {(!item.flags.is_empty()).then(|| flags(&item.flags))}
            </div>
        }
    });
    view! {
        <div class="inbox-about">
            <p class="inbox-summary" dir="auto">{list.row_summary(item)}</p>
            {(!is_in_group).then(|| view! { <span class="inbox-agent">{agent_name(item)}</span> })}
        </div>
        <div class="row-sub"><span>{when(item)}</span></div>
        {marks}
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

/// The deadline of an open item, or how long ago it was opened.
fn when(item: &Approval) -> impl IntoView + use<> {
    match item.due_at.filter(|_| item.state == GateState::Open) {
        Some(at) => view! { <span class="inbox-due">"Due "{due(at)}</span> }.into_any(),
        None => moment(item.opened_at).into_any(),
    }
}

/// Whose turn it is and what is left to do. In the viewer's own list an item that waits for the viewer does not say so.
fn states(item: &Approval, everyone: bool) -> Vec<AnyView> {
    let snoozed = item.snoozed_until.map(|at| view! { <span>"Snoozed until "{stamp(at)}</span> }.into_any());
    let quorum = (item.quorum > 1)
        .then(|| view! { <span>{format!("{} of {} approvals", item.approvals, item.quorum)}</span> }.into_any());
    let shows_turn = everyone || !is_viewers_turn(item);
    let turn = (item.state == GateState::Open && shows_turn).then(|| {
        let is_mine = is_viewers_turn(item).then_some("");
        view! { <span class="inbox-turn" data-mine=is_mine>{whose_turn(item)}</span> }.into_any()
    });
    [turn, quorum, snoozed].into_iter().flatten().collect()
}
