//! What the inbox list shows: open items, grouped by similarity, and the batch buttons.

use super::{
    content::Content,
    group_words::group_title,
    item::Item,
    item_text::{agent_name, subject},
    list::{ItemFilter, List},
    list_view::ListView,
    row::{decided_row, outlier_row, question_row, row},
    similar::{Block, Group, Outlier, blocks},
    store::Store,
    terminal_sessions::terminal_sessions,
    undo_offer::undo_offer,
};
use crate::{
    render::to_html,
    settings::notify_button,
    text::{escape::query, number::grouped},
    ui::{
        button::ButtonLink,
        empty::Empty,
        icon::{Icon, icon},
        notice::Refused,
    },
};
use domain::gate::GateKind;
use leptos::prelude::*;
use wire::approval::Approval;

/// Most reasons of refused items above the list. Each is at its row too.
const REFUSED_MAX: usize = 10;

/// The list as an HTML fragment, from which the browser updates its store.
pub fn list_fragment(list: &List) -> String {
    let owner = Owner::new();
    let html = owner.with(|| {
        let content = content(list);
        to_html(view! { <ListView store=Store::new(&content) content/> })
    });
    owner.cleanup();
    html
}

/// What the page and the fragment show of a list.
pub fn content(list: &List) -> Content {
    let more = list.next_cursor.as_ref().map(|cursor| {
        let href = list.href(&format!("&cursor={}", query(cursor)));
        view! { <ButtonLink small=true attr:rel="next" href=href>"Show more"</ButtonLink> }
    });
    let first = list
        .cursor
        .is_some()
        .then(|| view! { <ButtonLink small=true href=list.href("")>"Back to the first"</ButtonLink> });
    let is_empty = list.items.is_empty() && list.terminal_sessions.is_empty() && list.questions.is_empty();
    Content {
        rows: rows(list),
        offer: undo_offer(&list.held, list.now),
        page: list.href(""),
        refused: to_html(view! { <Refused messages=refused(list)/> }),
        review: to_html(review_button(list)),
        empty: to_html(is_empty.then(|| empty(list))),
        pager: to_html((first, more)),
        notify: to_html(notify_button()),
        terminal: to_html(terminal_sessions(&list.terminal_sessions)),
        ..Content::default()
    }
}

/// Why items of a batch were refused, with what they are about.
fn refused(list: &List) -> Vec<String> {
    let named = list.refused.iter().map(|(id, why)| match list.items.iter().find(|item| item.id.to_string() == *id) {
        Some(item) => format!("{}: {why}", subject(item)),
        None => why.clone(),
    });
    named.take(REFUSED_MAX).collect()
}

fn empty(list: &List) -> impl IntoView + use<> {
    if list.is_searched() {
        let sentence = if list.next_cursor.is_some() {
            "None of the items that were compared matches the search."
        } else {
            "No item matches the search."
        };
        return view! { <Empty sentence=sentence link=Some(("Show all", list.whole_href()))/> };
    }
    if list.cursor.is_some() {
        return view! { <Empty sentence="Nothing more on this page." link=None/> };
    }
    if list.decided.is_set() {
        let link = Some(("Show all decided items", list.whole_href()));
        return view! { <Empty sentence="Nothing was decided like this." link=link/> };
    }
    let (words, link) = match (list.filter, list.everyone) {
        (ItemFilter::Open, false) => {
            ("Nothing is waiting for you.", Some(("Show what is waiting for others", "/inbox?assignedTo=all")))
        }
        (ItemFilter::Open, true) => ("Nothing is waiting for anyone.", None),
        (ItemFilter::Snoozed, _) => ("You have not snoozed anything.", Some(("Show what is waiting", "/inbox"))),
        (ItemFilter::Settled, _) => ("Nothing has been decided yet.", Some(("Show what is waiting", "/inbox"))),
    };
    view! { <Empty sentence=words link=link.map(|(label, href)| (label, href.to_owned()))/> }
}

fn rows(list: &List) -> Vec<Item> {
    let items = &list.items;
    if list.filter == ItemFilter::Settled {
        return items.iter().map(|item| decided_row(list, item)).collect();
    }
    let mut rows = Vec::new();
    for block in blocks(items, &list.labels) {
        match block {
            Block::Single(at) => rows.extend(items.get(at).map(|item| row(list, item, None))),
            Block::Group(group) => {
                let unfolded = list.unfolded.as_ref() == Some(&group.key) || list.selected.as_ref() == Some(&group.key);
                let first = group.alike.first().and_then(|&at| items.get(at));
                rows.extend(first.map(|first| group_heading(list, first, &group, unfolded)));
                for Outlier { at, differs } in &group.outliers {
                    rows.extend(items.get(*at).map(|item| outlier_row(list, item, &group.key, differs)));
                }
                for at in group.alike {
                    rows.extend(items.get(at).map(|item| row(list, item, Some((&group.key, unfolded)))));
                }
            }
        }
    }
    rows.extend(list.questions.iter().map(|question| question_row(list, question)));
    rows
}

/// The heading row of a group: what it is, and how many of it differ from the others.
fn group_heading(list: &List, first: &Approval, group: &Group, unfolded: bool) -> Item {
    let differ = (!group.outliers.is_empty()).then(|| {
        let words = if group.outliers.len() == 1 {
            "1 differs, shown below".to_owned()
        } else {
            format!("{} differ, shown below", group.outliers.len())
        };
        view! { <span class="inbox-differs">{icon(Icon::Alert)}{words}</span> }
    });
    Item {
        id: group.key.clone(),
        is_heading: true,
        title: group_title(list, group),
        href: list.href(&format!("&open={}", query(&group.key))),
        select: format!("Select {}", group.alike.len()),
        select_href: list.href(&format!("&select={}", query(&group.key))),
        body: to_html(
            view! { <span>"by "{agent_name(first)}</span>{differ}{table_link(list, first, &group.key)}{offer(list, &group.key)} },
        ),
        is_folded: !unfolded,
        ..Item::default()
    }
}

/// The link to the table of a group. Questions have none, because each needs its own answer. A search has none, because
/// the table would have the items that it leaves out.
fn table_link(list: &List, first: &Approval, key: &str) -> Option<impl IntoView + use<>> {
    let everyone = if list.everyone { "&assignedTo=all" } else { "" };
    let href = format!("/inbox/review?group={}{everyone}", query(key));
    let is_open = list.filter == ItemFilter::Open && first.kind != GateKind::Question && !list.is_searched();
    is_open.then(|| view! { <a href=href>"Review as a table"</a> })
}

/// Offers a rule about a group that people always approved.
fn offer(list: &List, key: &str) -> Option<impl IntoView + use<>> {
    let (from, approvals) = list.offers.get(key)?;
    let title = format!("People approved {} like these in 90 days, and decided nothing else", grouped(*approvals));
    let href = format!("/rules/new?from={from}");
    Some(view! { <a href=href title=title>"Create a rule"</a> })
}

/// The button that leads to what is selected: scripts show it by themselves where there is room.
fn review_button(list: &List) -> impl IntoView + use<> {
    view! {
        <button class="button inbox-review" data-size="small" formaction=format!("/inbox/selection?{}", list.query())>
            "Review and decide"
        </button>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{output, person, question, tool};
    use domain::gate::{GateState, Verdict};
    use serde_json::json;
    use std::collections::{BTreeMap, BTreeSet};
    use wire::approval::Decision;

    fn list(items: Vec<Approval>) -> List {
        List { items, ..List::default() }
    }

    #[test]
    fn similar_items_fold_and_an_outlier_stays_unfolded_with_its_difference() {
        let mut items: Vec<_> = (0..4).map(|n| output(n, json!({"stage": "Won"}))).collect();
        items[2] = output(2, json!({"stage": "Lost"}));
        let html = list_fragment(&list(items.clone()));
        assert!(html.contains("4 outputs: Qualify leads") && html.contains(">Select 3<"), "{html}");
        assert_eq!(html.matches("data-in=\"output\" hidden").count(), 3);
        assert_eq!(html.matches("data-outlier").count(), 1);
        assert!(html.contains("<strong>Lost</strong>"));
        let open = List { selected: Some("output".into()), ..list(items) }.with_selection(BTreeSet::new());
        let open = list_fragment(&open);
        assert_eq!((open.matches("data-in=\"output\" hidden").count(), open.matches(" checked").count()), (0, 3));
    }

    #[test]
    fn a_rule_is_offered_in_the_heading_of_its_group_alone() {
        let mut items: Vec<_> = (0..3).map(|n| output(n, json!({"stage": "Won"}))).collect();
        items.extend((3..6).map(|n| tool(n, json!({"to": "x"}))));
        let offers = [(items[0].similar_key.clone(), (items[0].id, 1_200))].into();
        let html = list_fragment(&List { offers, ..list(items.clone()) });
        let (before, after) = html.split_once("Create a rule</a>").unwrap();
        assert!(before.contains("People approved 1,200 like these") && !after.contains("Create a rule"), "{html}");
        assert!(
            before.contains("3 outputs: Qualify leads") && after.matches("data-in=\"output\"").count() == 3,
            "{html}"
        );
        assert!(!list_fragment(&list(items)).contains("Create a rule"));
    }

    #[test]
    fn decided_items_are_one_row_each_with_who_what_and_why() {
        let decided = |n: u32, verdict: Verdict| {
            let mut item = output(n, json!({"stage": "Won"}));
            (item.state, item.may_decide) = (GateState::Settled, false);
            item.decision = Some(Decision {
                number: 1,
                decision: Some(verdict),
                undoes: None,
                user_id: Some(person(1)),
                email: "mia@acme.test".into(),
                value: None,
                note: (verdict == Verdict::Deny).then(|| "Too <early>".into()),
                at: item.opened_at,
            });
            item
        };
        let mut items: Vec<_> = (0..4).map(|n| decided(n, Verdict::Approve)).collect();
        items.push(decided(4, Verdict::Deny));
        let html = list_fragment(&List { filter: ItemFilter::Settled, everyone: true, ..list(items) });
        assert_eq!((html.matches("data-id=").count(), html.matches("data-group").count()), (5, 0), "{html}");
        assert_eq!(html.matches("Approved by mia@acme.test").count(), 4, "{html}");
        assert!(html.contains("Denied by mia@acme.test") && html.contains("Too &lt;early&gt;"), "{html}");
        assert_eq!(html.matches("data-outcome=\"denied\"").count(), 1, "{html}");
    }

    #[test]
    fn questions_of_agents_that_go_on_are_items_that_cannot_be_ticked() {
        let list = List { questions: vec![question(2)], ..list(vec![tool(1, json!({"to": "x"}))]) };
        let html = list_fragment(&list);
        let [call, asked] = [1, 2].map(|n| html.find(&format!("data-id=\"01935f00-0000-7000-8000-{n:012}\"")));
        assert!(call.is_some() && call < asked, "{html}");
        assert!(html.contains("The agent keeps working") && html.contains("/inbox/01935f00"), "{html}");
        assert_eq!(html.matches("type=\"checkbox\"").count(), 1, "{html}");
    }

    #[test]
    fn only_what_the_viewer_may_decide_can_be_ticked() {
        let mut item = tool(1, json!({"to": "x"}));
        assert!(list_fragment(&list(vec![item.clone()])).contains("type=\"checkbox\""));
        item.may_decide = false;
        let html = list_fragment(&list(vec![item]));
        assert!(!html.contains("type=\"checkbox\"") && html.contains("Waiting for legal"));
        assert!(html.contains("id=\"inbox-selection\" hidden"), "{html}");
    }

    #[test]
    fn a_refused_item_keeps_its_row_and_says_why() {
        let item = output(1, json!({"stage": "Won"}));
        let refused = BTreeMap::from([(item.id.to_string(), "It was decided by mia@acme.test.".to_owned())]);
        let html = list_fragment(&List { refused, ..list(vec![item]) });
        assert!(html.contains("Acme Corp 1: It was decided by mia@acme.test."));
    }

    #[test]
    fn what_agents_write_never_becomes_markup() {
        let mut item = output(1, json!({"<b>k</b>": "<script>x</script>"}));
        item.entity_title = Some("<img src=x>".into());
        item.flags = vec!["<i>f</i>".into()];
        let html = list_fragment(&list(vec![item]));
        assert!(
            !html.contains("<script") && !html.contains("<img") && !html.contains("<i>f") && !html.contains("<b>k")
        );
    }
}
