//! What the inbox list shows: open items, grouped by similarity, and the batch buttons.

use super::{
    api::SnoozeItems,
    content::Content,
    item::Item,
    item_text::{agent_name, field_names, proposed_document, subject},
    list::{List, SNOOZES, Shown},
    list_view::ListView,
    row::{question_row, row},
    similar::{Block, Outlier, blocks},
    store::Store,
    terminal_sessions::terminal_sessions,
    undo_offer::undo_offer,
};
use crate::{
    FormState,
    render::to_html,
    session::Titles,
    settings::notify_button,
    text::{escape::query, number},
    ui::{
        button::{Button, ButtonLink, Look},
        empty::Empty,
        field::{Field, TextArea},
        icon::{Icon, icon},
        popover::{Menu, Opens, Popover},
    },
};
use domain::{gate::GateKind, limit::REASON_CHARS_MAX};
use leptos::{prelude::*, server_fn::ServerFn as _};
use std::collections::BTreeSet;
use wire::approval::Approval;

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
    let refused = list
        .refused
        .iter()
        .map(|(id, why)| match list.items.iter().find(|item| item.id.to_string() == *id) {
            Some(item) => format!("{}: {why}", subject(item)),
            None => why.clone(),
        })
        .take(10)
        .collect();
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
        refused,
        page: list.href(""),
        batch: to_html(batch_buttons(&list.batch)),
        empty: to_html(is_empty.then(|| empty(list))),
        pager: to_html((first, more)),
        notify: to_html(notify_button()),
        terminal: to_html(terminal_sessions(&list.terminal_sessions)),
        ..Content::default()
    }
}

fn empty(list: &List) -> impl IntoView + use<> {
    if list.cursor.is_some() {
        return view! { <Empty sentence="Nothing more on this page." link=None/> };
    }
    let (words, link) = match (list.shown, list.everyone) {
        (Shown::Open, false) => {
            ("Nothing is waiting for you.", Some(("Show what is waiting for others", "/inbox?assignedTo=all")))
        }
        (Shown::Open, true) => ("Nothing is waiting for anyone.", None),
        (Shown::Snoozed, _) => ("You have not snoozed anything.", Some(("Show what is waiting", "/inbox"))),
        (Shown::Settled, _) => ("Nothing has been decided yet.", Some(("Show what is waiting", "/inbox"))),
    };
    view! { <Empty sentence=words link=link.map(|(label, href)| (label, href.to_owned()))/> }
}

fn rows(list: &List) -> Vec<Item> {
    let items = &list.items;
    let mut rows = Vec::new();
    for block in blocks(items) {
        match block {
            Block::Single(at) => rows.extend(items.get(at).map(|item| row(list, item, None, &[]))),
            Block::Group { key, alike, outliers } => {
                let unfolded = list.unfolded.as_ref() == Some(&key) || list.selected.as_ref() == Some(&key);
                rows.extend(alike.first().and_then(|&at| items.get(at)).map(|first| {
                    let what = group_words(first, alike.iter().filter_map(|&at| items.get(at)), &list.titles);
                    let title = format!("{} alike: {what}", number::grouped(alike.len() as u64));
                    group_heading(list, first, title, &key, &outliers, unfolded)
                }));
                for Outlier { at, differs } in &outliers {
                    rows.extend(items.get(*at).map(|item| row(list, item, None, differs)));
                }
                for at in alike {
                    rows.extend(items.get(at).map(|item| row(list, item, Some((&key, unfolded)), &[])));
                }
            }
        }
    }
    rows.extend(list.questions.iter().map(|question| question_row(list, question)));
    rows
}

/// What similar items have in common: their question, tool or task; if the tasks differ, the fields they change.
fn group_words<'a>(first: &Approval, mut alike: impl Iterator<Item = &'a Approval>, titles: &Titles) -> String {
    match first.kind {
        GateKind::Question => subject(first),
        GateKind::Tool => first.title.clone(),
        GateKind::Memory => documents(alike.filter_map(|item| proposed_document(item, titles)).collect()),
        GateKind::Output | GateKind::Fields => {
            let is_one_action = alike.all(|item| item.action_name == first.action_name);
            let action = first.action_name.clone().filter(|_| is_one_action);
            action.or_else(|| field_names(first)).unwrap_or_else(|| first.title.clone())
        }
    }
}

/// The documents that similar proposals would change.
fn documents(paths: BTreeSet<String>) -> String {
    let paths: Vec<_> = paths.into_iter().collect();
    match paths.as_slice() {
        [] => "Memory".to_owned(),
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [one, other, more @ ..] => {
            format!("{one}, {other} and {}", number::counted(more.len() as u64, "more document"))
        }
    }
}

/// The heading row of a group: the number of similar items and outliers.
fn group_heading(
    list: &List,
    first: &Approval,
    title: String,
    key: &str,
    outliers: &[Outlier],
    unfolded: bool,
) -> Item {
    let differ = (!outliers.is_empty()).then(|| {
        let words = if outliers.len() == 1 {
            "1 differs, shown below".to_owned()
        } else {
            format!("{} differ, shown below", outliers.len())
        };
        view! { <span class="inbox-differs">{icon(Icon::Alert)}{words}</span> }
    });
    Item {
        id: key.to_owned(),
        is_heading: true,
        title,
        href: list.href(&format!("&open={}", query(key))),
        select_href: list.href(&format!("&select={}", query(key))),
        body: to_html(view! { <span>{agent_name(first)}</span>{differ} }),
        is_folded: !unfolded,
        ..Item::default()
    }
}

/// What can be done with the selected items. Its label and the button that selects a range are components.
fn batch_buttons(form: &FormState) -> impl IntoView + use<> {
    let snooze = format!("{}?next={}", SnoozeItems::PATH, query("/inbox?notice=snoozed"));
    let snoozes = SNOOZES.map(|(seconds, words)| (seconds.to_string(), words)).to_vec();
    let open = form.value("note").is_some_and(|note| !note.is_empty());
    view! {
        <Button look=Look::Primary small=true name="decision" value="approve" attr:data-key="approve" title="Approve the selected items (a)">"Approve"</Button>
        <Popover label="Deny" title="Deny the selected items (r)" shortcut="deny" group="batch-more" small=true opens=Opens::AboveBar decides=true open=open>
            <TextArea scope="batch" field=Field::new("note", "Why? The agents receive your reason.") rows=2 chars_max=REASON_CHARS_MAX form=form/>
            <Button look=Look::Danger small=true name="decision" value="deny" title="Deny the selected items (Ctrl Enter)">"Deny selected items"</Button>
        </Popover>
        <Menu label="Snooze" title="Snooze the selected items (h)" shortcut="snooze" group="batch-more" small=true name="seconds" choices=snoozes formaction=Some(snooze)/>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{memory, output, question, tool};
    use serde_json::json;
    use std::collections::BTreeMap;

    fn list(items: Vec<Approval>) -> List {
        List { items, ..List::default() }
    }

    #[test]
    fn similar_items_fold_and_an_outlier_stays_unfolded_with_its_difference() {
        let mut items: Vec<_> = (0..4).map(|n| output(n, json!({"stage": "Won"}))).collect();
        items[2] = output(2, json!({"stage": "Lost"}));
        let html = list_fragment(&list(items.clone()));
        assert!(html.contains("3 alike: Qualify leads"), "{html}");
        assert_eq!(html.matches("data-in=\"output\" hidden").count(), 3);
        assert!(html.contains("<strong>Lost</strong>"));
        let open = list_fragment(&List { selected: Some("output".into()), ..list(items) });
        assert_eq!((open.matches(" hidden aria").count(), open.matches(" checked").count()), (0, 3));
    }

    #[test]
    fn similar_proposals_name_their_documents() {
        let of = |paths: &[&str]| documents(paths.iter().map(|path| (*path).to_owned()).collect());
        assert_eq!(of(&["topics/b.md", "topics/a.md"]), "topics/a.md and topics/b.md");
        assert_eq!(of(&["a", "b", "c"]), "a, b and 1 more document");
        let html = list_fragment(&list((1..4).map(memory).collect()));
        assert!(html.contains("3 alike: people/shiftbook-alice.md"), "{html}");
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
        assert!(html.contains("aria-label=\"Selected items\" hidden"), "{html}");
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
