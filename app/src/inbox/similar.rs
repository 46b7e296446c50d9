//! Groups similar items, and finds the outliers of each group.

use super::{
    item_text::{Labels, field_text, label_of, values},
    spread::Spread,
};
use crate::text::number::grouped_digits;
use domain::gate::{GateKind, MEMORY_BASE, MEMORY_BODY};
use serde_json::Value;
use std::collections::BTreeMap;
use wire::approval::Approval;

/// Fewest items that make a group.
const GROUP_MIN: usize = 3;
/// Label under which flags are compared.
const FLAGS: &str = "Flags";
/// Label under which memory proposals are compared: new documents and changed ones.
const DOCUMENT: &str = "Document";

/// An entry of the grouped list. Indexes refer to the list that was grouped.
#[derive(Debug, Clone, PartialEq)]
pub enum Block {
    /// A single item.
    Single(usize),
    /// Similar items.
    Group(Group),
}

/// Similar items.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The key that they share, see `Approval::similar_key`.
    pub key: String,
    /// Items with the usual values, in the order of the list.
    pub alike: Vec<usize>,
    /// Items with at least one unusual value, in the order of the list.
    pub outliers: Vec<Outlier>,
    /// Label and range of the numbers that differ most, outliers included; `None` if no numbers differ.
    pub range: Option<(String, String)>,
}

/// An item that differs from the others of its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlier {
    /// Index of the item.
    pub at: usize,
    /// The values that differ.
    pub differs: Vec<Difference>,
}

/// A value that differs from the usual ones of the group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Label of the field.
    pub label: String,
    /// The value of this item.
    pub value: String,
    /// The value of more than half of the group, or the range of the numbers that are not extreme.
    pub usual: String,
}

/// Groups a list without changing its order: a group takes the position of its first item.
pub fn blocks(items: &[Approval], labels: &Labels) -> Vec<Block> {
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        members.entry(&item.similar_key).or_default().push(at);
    }
    let mut blocks = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let Some(all) = members.get(item.similar_key.as_str()) else { continue };
        if all.first() == Some(&at) {
            match group(items, all, labels) {
                Some(group) => blocks.push(Block::Group(group)),
                None => blocks.extend(all.iter().map(|&at| Block::Single(at))),
            }
        }
    }
    blocks
}

fn group(items: &[Approval], all: &[usize], labels: &Labels) -> Option<Group> {
    if all.len() < GROUP_MIN {
        return None;
    }
    let comparison = Comparison::of(items, all, labels);
    let (mut alike, mut outliers) = (Vec::new(), Vec::new());
    for (at, differs) in comparison.differences() {
        if differs.is_empty() {
            alike.push(at);
        } else {
            outliers.push(Outlier { at, differs });
        }
    }
    let key = items.get(*all.first()?)?.similar_key.clone();
    let range = widest(&comparison.spreads).map(|(label, spread)| (label.clone(), spread.range()));
    (alike.len() >= 2).then_some(Group { key, alike, outliers, range })
}

/// What is unusual about each of these items, which share their key. Nothing is unusual among fewer than three.
pub fn differences(items: &[Approval], labels: &Labels) -> Vec<Vec<Difference>> {
    if items.len() < GROUP_MIN {
        return vec![Vec::new(); items.len()];
    }
    let all: Vec<usize> = (0..items.len()).collect();
    Comparison::of(items, &all, labels).differences().into_iter().map(|(_, differs)| differs).collect()
}

/// Items that share their key, and what is usual among them.
struct Comparison {
    found: Vec<(usize, Compared)>,
    usual: BTreeMap<String, String>,
    spreads: BTreeMap<String, Spread>,
}

impl Comparison {
    /// Compares the items at these places.
    fn of(items: &[Approval], all: &[usize], labels: &Labels) -> Self {
        let found: Vec<(usize, Compared)> =
            all.iter().filter_map(|&at| Some((at, Compared::of(items.get(at)?, labels)))).collect();
        Self { usual: usual(&found), spreads: spreads(&found), found }
    }

    /// The place of each item, and what differs from the usual values.
    fn differences(&self) -> Vec<(usize, Vec<Difference>)> {
        let differs = |(at, compared): &(usize, Compared)| (*at, compared.differs(&self.usual, &self.spreads));
        self.found.iter().map(differs).collect()
    }
}

/// The numbers that differ most: first those with an extreme, then those with the largest number.
fn widest(spreads: &BTreeMap<String, Spread>) -> Option<(&String, &Spread)> {
    let differ = spreads.iter().filter(|(_, spread)| spread.differs());
    differ.max_by(|(_, one), (_, other)| {
        one.has_extreme().cmp(&other.has_extreme()).then(one.high.total_cmp(&other.high))
    })
}

/// What of an item is compared with the others of its group, by label.
#[derive(Debug, Default)]
struct Compared {
    texts: BTreeMap<String, String>,
    numbers: BTreeMap<String, f64>,
}

impl Compared {
    fn of(item: &Approval, labels: &Labels) -> Self {
        let mut values = values(item);
        // Only whether there is a document already matters, not the number of its version.
        let base = if item.kind == GateKind::Memory { values.remove(MEMORY_BASE) } else { None };
        if item.kind == GateKind::Memory {
            // Of two documents the first lines say nothing about what is proposed.
            values.remove(MEMORY_BODY);
        }
        let mut compared = Self::default();
        for (key, value) in &values {
            compared.add(label_of(key, labels), value);
        }
        if let Some(version) = base {
            let document = if version.as_u64() == Some(0) { "new" } else { "changed" };
            compared.texts.insert(DOCUMENT.to_owned(), document.to_owned());
        }
        compared.texts.insert(FLAGS.to_owned(), item.flags.join(", "));
        compared
    }

    /// Adds a value. Numbers inside of an object are compared one by one.
    fn add(&mut self, label: String, value: &Value) {
        if let Some(number) = value.as_f64() {
            self.numbers.insert(label, number);
            return;
        }
        for (key, inner) in value.as_object().into_iter().flatten() {
            if inner.is_number() || inner.is_object() {
                self.add(format!("{label}: {key}"), inner);
            }
        }
        self.texts.insert(label, field_text(value));
    }

    fn differs(&self, usual: &BTreeMap<String, String>, spreads: &BTreeMap<String, Spread>) -> Vec<Difference> {
        let texts = usual.iter().filter_map(|(label, usual)| {
            let number = self.numbers.get(label).map(|number| grouped_digits(&number.to_string()));
            let value = number.or_else(|| self.texts.get(label).cloned()).unwrap_or_default();
            (value != *usual).then(|| Difference { label: label.clone(), value, usual: usual.clone() })
        });
        let numbers = self.numbers.iter().filter_map(|(label, number)| {
            let spread = spreads.get(label).filter(|spread| spread.is_extreme(*number))?;
            let value = grouped_digits(&number.to_string());
            Some(Difference { label: label.clone(), value, usual: spread.usual_range() })
        });
        texts.chain(numbers).collect()
    }
}

/// For each field the text that more than half of the items share, if there is one.
fn usual(found: &[(usize, Compared)]) -> BTreeMap<String, String> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (label, value) in found.iter().flat_map(|(_, compared)| &compared.texts) {
        *counts.entry((label, value)).or_default() += 1;
    }
    let common = counts.into_iter().filter(|(_, count)| count * 2 > found.len());
    common.map(|((label, value), _)| (label.to_owned(), value.to_owned())).collect()
}

/// The numbers of each field that has numbers.
fn spreads(found: &[(usize, Compared)]) -> BTreeMap<String, Spread> {
    let mut numbers: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (label, number) in found.iter().flat_map(|(_, compared)| &compared.numbers) {
        numbers.entry(label).or_default().push(*number);
    }
    let spreads = numbers.into_iter().filter_map(|(label, numbers)| Some((label.to_owned(), Spread::of(numbers)?)));
    spreads.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{memory, output, tool};
    use serde_json::json;

    fn blocks(items: &[Approval]) -> Vec<Block> {
        super::blocks(items, &Labels::default())
    }

    fn first_group(items: &[Approval]) -> Group {
        let Some(Block::Group(group)) = blocks(items).into_iter().next() else { panic!("no group") };
        group
    }

    fn stages(stages: &[&str]) -> Vec<Approval> {
        let one = |(n, stage): (usize, &&str)| output(n as u32, json!({"stage": stage, "owner": format!("o{n}")}));
        stages.iter().enumerate().map(one).collect()
    }

    #[test]
    fn an_outlier_is_shown_with_the_usual_value() {
        let items = stages(&["Won", "Won", "Lost", "Won"]);
        let differs = vec![Difference { label: "Stage".into(), value: "Lost".into(), usual: "Won".into() }];
        let Group { alike, outliers, range, .. } = first_group(&items);
        assert_eq!((blocks(&items).len(), alike.as_slice(), range), (1, &[0, 1, 3][..], None));
        assert_eq!(outliers, [Outlier { at: 2, differs }]);
    }

    #[test]
    fn values_without_a_majority_make_no_outlier() {
        let group = first_group(&stages(&["A", "B", "C"]));
        assert_eq!((group.alike.len(), group.outliers), (3, Vec::new()));
    }

    #[test]
    fn a_refund_far_above_the_others_is_an_outlier_and_the_range_names_it() {
        let amount = |n: u32| if n == 40 { 1_290_000 } else { [1_999, 4_900, 12_900][n as usize % 3] };
        let items: Vec<_> =
            (0..80).map(|n| tool(n, json!({"charge": format!("ch_{n}"), "amount": amount(n)}))).collect();
        let group = first_group(&items);
        assert_eq!(group.range, Some(("Amount".to_owned(), "1,999 to 1,290,000".to_owned())));
        let differs =
            vec![Difference { label: "Amount".into(), value: "1,290,000".into(), usual: "1,999 to 12,900".into() }];
        assert_eq!((group.alike.len(), group.outliers), (79, vec![Outlier { at: 40, differs }]));
    }

    #[test]
    fn two_common_amounts_make_no_outlier_however_many_have_each() {
        let arr = |n: u32| if n < 9 { 52_000 } else { 61_000 };
        for count in [17, 20, 40] {
            let items: Vec<_> = (0..count).map(|n| output(n, json!({"arr": arr(n)}))).collect();
            assert_eq!(first_group(&items).outliers, Vec::new(), "{count}");
        }
    }

    #[test]
    fn a_number_inside_of_an_object_is_compared_too_and_a_field_has_its_own_name() {
        let cents = |n: u32| if n == 3 { 90_000 } else { 100 + n };
        let items: Vec<_> = (0..5).map(|n| output(n, json!({"arr": {"cents": cents(n)}}))).collect();
        let labels = Labels::from([("arr".to_owned(), "ARR".to_owned())]);
        let blocks = super::blocks(&items, &labels);
        let Block::Group(group) = &blocks[0] else { panic!("{blocks:?}") };
        assert_eq!((group.outliers.len(), group.outliers[0].at), (1, 3));
        assert_eq!(group.outliers[0].differs[0].label, "ARR: cents");
    }

    #[test]
    fn a_flag_that_the_others_do_not_have_is_a_difference() {
        let mut items = stages(&["Won"; 5]);
        items[4].flags = vec!["tone: sharp".into()];
        let outliers = first_group(&items).outliers;
        assert_eq!((outliers[0].at, outliers[0].differs[0].value.as_str()), (4, "tone: sharp"));
    }

    #[test]
    fn a_memory_proposal_for_a_document_that_is_there_differs_from_new_ones() {
        let proposal = |(n, version): (u32, u64)| {
            // The body that most of them share is no usual value that the others differ from.
            let body = json!({ "body": if n == 4 { "# Other" } else { "# Same" }, "baseVersion": version });
            Approval { proposed: Some(serde_json::value::to_raw_value(&body).unwrap()), ..memory(n) }
        };
        let items: Vec<_> = [(1, 0), (2, 0), (3, 4), (4, 0)].into_iter().map(proposal).collect();
        let differs = vec![Difference { label: "Document".into(), value: "changed".into(), usual: "new".into() }];
        let group = first_group(&items);
        assert_eq!((group.alike.as_slice(), group.outliers), (&[0, 1, 3][..], vec![Outlier { at: 2, differs }]));
        let changed: Vec<_> = [(1, 1), (2, 2), (3, 4)].into_iter().map(proposal).collect();
        assert_eq!(first_group(&changed).outliers, Vec::new());
    }

    #[test]
    fn what_is_unusual_is_known_also_where_most_items_differ() {
        let items = stages(&["Won", "Won", "Lost"]);
        let mut flagged = items.clone();
        flagged[0].flags = vec!["tone: sharp".into()];
        assert_eq!(differences(&flagged, &Labels::default()).iter().filter(|differs| !differs.is_empty()).count(), 2);
        assert_eq!(blocks(&flagged).len(), 3, "fewer than two are alike, so the list has no group");
        assert!(differences(&items[1..], &Labels::default()).iter().all(Vec::is_empty), "two are too few to compare");
    }

    #[test]
    fn few_or_mixed_items_stay_single_and_keep_their_order() {
        assert_eq!(blocks(&stages(&["Won", "Lost"])), [Block::Single(0), Block::Single(1)]);
        let mut items = vec![tool(9, json!({"to": "a"}))];
        items.extend(stages(&["Won"; 3]));
        items.push(tool(8, json!({"to": "b"})));
        let found = blocks(&items);
        assert_eq!((&found[0], &found[1], found.len()), (&Block::Single(0), &Block::Single(4), 3));
        assert!(matches!(&found[2], Block::Group(group) if group.alike == [1, 2, 3]));
    }

    #[test]
    fn no_item_is_lost_or_doubled() {
        let items = stages(&["Won", "Won", "Lost", "Won", "Lead"]);
        let mut seen: Vec<usize> = blocks(&items)
            .into_iter()
            .flat_map(|block| match block {
                Block::Single(at) => vec![at],
                Block::Group(Group { alike, outliers, .. }) => {
                    alike.into_iter().chain(outliers.into_iter().map(|o| o.at)).collect()
                }
            })
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4]);
    }
}
