//! What alike items are called: how many, of what, and the range of what differs most.

use super::{
    item_text::{Labels, field_names, proposed_document, subject},
    list::List,
    similar::Group,
};
use crate::{
    session::Titles,
    text::number::{counted, grouped},
};
use domain::gate::GateKind;
use std::collections::BTreeSet;
use wire::approval::Approval;

/// The title of a group: `80 stripe_refund calls: Amount 1,999 to 1,290,000`. It counts the items of all pages.
pub fn group_title(list: &List, group: &Group) -> String {
    let loaded = group.alike.iter().chain(group.outliers.iter().map(|outlier| &outlier.at));
    let items: Vec<&Approval> = loaded.filter_map(|&at| list.items.get(at)).collect();
    let total = list.alike.get(&group.key).map_or(items.len(), |&all| items.len().max(all as usize));
    let (what, about) = words(&items, total, &list.titles, &list.labels);
    let shown = if total > items.len() { format!(" ({} shown)", grouped(items.len() as u64)) } else { String::new() };
    let range = group.range.as_ref().map(|(label, range)| format!("{label} {range}"));
    let said: Vec<String> = about.into_iter().chain(range).collect();
    if said.is_empty() { format!("{what}{shown}") } else { format!("{what}{shown}: {}", said.join(", ")) }
}

/// How many items of one kind there are, and what they have in common beside it: their question, their documents or
/// the fields that they change.
pub fn words(items: &[&Approval], count: usize, titles: &Titles, labels: &Labels) -> (String, Option<String>) {
    let Some(first) = items.first() else { return (counted(0, "item"), None) };
    let count = count as u64;
    match first.kind {
        GateKind::Question => (counted(count, "question"), Some(subject(first))),
        GateKind::Tool => (counted(count, &format!("{} call", first.title)), None),
        GateKind::Memory => {
            let paths = items.iter().filter_map(|item| proposed_document(item, titles)).collect();
            (counted(count, "memory change"), Some(documents(paths)).filter(|said| !said.is_empty()))
        }
        GateKind::Output | GateKind::Fields => {
            let is_one_action = items.iter().all(|item| item.action_name == first.action_name);
            match first.action_name.as_ref().filter(|_| is_one_action) {
                Some(action) => (counted(count, "output"), Some(action.clone())),
                None => (counted(count, "change"), field_names(first, labels)),
            }
        }
    }
}

/// The documents that similar proposals would change.
fn documents(paths: BTreeSet<String>) -> String {
    let paths: Vec<_> = paths.into_iter().collect();
    match paths.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [one, other] => format!("{one} and {other}"),
        [one, other, more @ ..] => format!("{one}, {other} and {}", counted(more.len() as u64, "more document")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::{
        fixture::{output, question, tool},
        similar::{Block, blocks},
    };
    use serde_json::json;
    use std::collections::HashMap;

    fn title(list: &List) -> String {
        let group = blocks(&list.items, &list.labels).into_iter().find_map(|block| match block {
            Block::Group(group) => Some(group),
            Block::Single(_) => None,
        });
        group_title(list, &group.unwrap())
    }

    #[test]
    fn a_group_says_how_many_of_what_and_the_range() {
        let of = |items| List { items, ..List::default() };
        let refunds = (0..4).map(|n| tool(n, json!({"amount": 1_999 + n * 900, "charge": format!("c{n}")})));
        assert_eq!(title(&of(refunds.collect())), "4 send_mail calls: Amount 1,999 to 4,699");
        assert_eq!(title(&of((0..3).map(question).collect())), "3 questions: Which region?");
        let outputs: Vec<_> = (0..3).map(|n| output(n, json!({"stage": "Won"}))).collect();
        assert_eq!(title(&of(outputs.clone())), "3 outputs: Qualify leads");
        let mut of_several = outputs;
        of_several[1].action_name = Some("Another".into());
        assert_eq!(title(&of(of_several)), "3 changes: Stage");
    }

    #[test]
    fn a_group_counts_what_other_pages_have() {
        let items = (0..20).map(|n| tool(n, json!({"to": format!("kim{n}")}))).collect();
        let list = List { items, alike: HashMap::from([("tool".to_owned(), 25)]), ..List::default() };
        assert_eq!(title(&list), "25 send_mail calls (20 shown)");
    }

    #[test]
    fn similar_proposals_name_their_documents() {
        let of = |paths: &[&str]| documents(paths.iter().map(|path| (*path).to_owned()).collect());
        assert_eq!(of(&["a.md"]), "a.md");
        assert_eq!(of(&["a.md", "b.md"]), "a.md and b.md");
        assert_eq!(of(&["a.md", "b.md", "c.md", "d.md"]), "a.md, b.md and 2 more documents");
    }
}
