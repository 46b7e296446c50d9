//! Groups similar items, and finds the outliers of each group.

use super::item_text::{field_text, values};
use crate::text::label::slug_label;
use domain::gate::{GateKind, MEMORY_BASE};
use std::collections::BTreeMap;
use wire::approval::Approval;

/// Fewest items that make a group.
const GROUP_MIN: usize = 3;
/// Label under which flags are compared.
const FLAGS: &str = "Flags";
/// Label under which memory proposals are compared: new documents and changed ones.
const DOCUMENT: &str = "Document";

/// An entry of the grouped list. Indexes refer to the list that was grouped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// A single item.
    Single(usize),
    /// Similar items.
    Group {
        /// The key that they share, see `Approval::similar_key`.
        key: String,
        /// Items with the usual values, in the order of the list.
        alike: Vec<usize>,
        /// Items with at least one unusual value, in the order of the list.
        outliers: Vec<Outlier>,
    },
}

/// An item that differs from the others of its group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outlier {
    /// Index of the item.
    pub at: usize,
    /// The values that differ.
    pub differs: Vec<Difference>,
}

/// A value that differs from the usual one of the group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Label of the field.
    pub label: String,
    /// The value of this item.
    pub value: String,
    /// The value of more than half of the group.
    pub usual: String,
}

/// Groups a list without changing its order: a group takes the position of its first item.
pub fn blocks(items: &[Approval]) -> Vec<Block> {
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, item) in items.iter().enumerate() {
        members.entry(&item.similar_key).or_default().push(at);
    }
    let mut blocks = Vec::new();
    for (at, item) in items.iter().enumerate() {
        let Some(all) = members.get(item.similar_key.as_str()) else { continue };
        if all.first() == Some(&at) {
            match group(items, all) {
                Some(group) => blocks.push(group),
                None => blocks.extend(all.iter().map(|&at| Block::Single(at))),
            }
        }
    }
    blocks
}

fn group(items: &[Approval], all: &[usize]) -> Option<Block> {
    if all.len() < GROUP_MIN {
        return None;
    }
    let texts: Vec<(usize, BTreeMap<String, String>)> =
        all.iter().filter_map(|&at| Some((at, texts(items.get(at)?)))).collect();
    let usual = usual(&texts);
    let (mut alike, mut outliers) = (Vec::new(), Vec::new());
    for (at, texts) in &texts {
        let differs: Vec<_> = usual
            .iter()
            .filter_map(|(label, usual)| {
                let value = texts.get(label).cloned().unwrap_or_default();
                (value != *usual).then(|| Difference { label: label.clone(), value, usual: usual.clone() })
            })
            .collect();
        if differs.is_empty() {
            alike.push(*at);
        } else {
            outliers.push(Outlier { at: *at, differs });
        }
    }
    let key = items.get(*all.first()?)?.similar_key.clone();
    (alike.len() >= 2).then_some(Block::Group { key, alike, outliers })
}

fn texts(item: &Approval) -> BTreeMap<String, String> {
    let mut values = values(item);
    // Only whether there is a document already matters, not the number of its version.
    let base = if item.kind == GateKind::Memory { values.remove(MEMORY_BASE) } else { None };
    let mut texts: BTreeMap<_, _> = values.iter().map(|(key, value)| (slug_label(key), field_text(value))).collect();
    if let Some(version) = base {
        let document = if version.as_u64() == Some(0) { "new" } else { "changed" };
        texts.insert(DOCUMENT.to_owned(), document.to_owned());
    }
    texts.insert(FLAGS.to_owned(), item.flags.join(", "));
    texts
}

/// For each field the value that more than half of the items share, if there is one.
fn usual(texts: &[(usize, BTreeMap<String, String>)]) -> BTreeMap<String, String> {
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for (label, value) in texts.iter().flat_map(|(_, texts)| texts) {
        *counts.entry((label, value)).or_default() += 1;
    }
    let common = counts.into_iter().filter(|(_, count)| count * 2 > texts.len());
    common.map(|((label, value), _)| (label.to_owned(), value.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{memory, output, tool};
    use serde_json::json;

    fn stages(stages: &[&str]) -> Vec<Approval> {
        let one = |(n, stage): (usize, &&str)| output(n as u32, json!({"stage": stage, "owner": format!("o{n}")}));
        stages.iter().enumerate().map(one).collect()
    }

    #[test]
    fn an_outlier_is_shown_with_the_usual_value() {
        let found = blocks(&stages(&["Won", "Won", "Lost", "Won"]));
        let differs = vec![Difference { label: "Stage".into(), value: "Lost".into(), usual: "Won".into() }];
        let Block::Group { alike, outliers, .. } = &found[0] else { unreachable!("{found:?}") };
        assert_eq!((found.len(), alike.as_slice()), (1, &[0, 1, 3][..]));
        assert_eq!(outliers, &[Outlier { at: 2, differs }]);
    }

    #[test]
    fn values_without_a_majority_make_no_outlier() {
        let found = blocks(&stages(&["A", "B", "C"]));
        assert!(matches!(&found[0], Block::Group { alike, outliers, .. } if alike.len() == 3 && outliers.is_empty()));
    }

    #[test]
    fn a_flag_that_the_others_do_not_have_is_a_difference() {
        let mut items = stages(&["Won"; 5]);
        items[4].flags = vec!["tone: sharp".into()];
        let Block::Group { outliers, .. } = &blocks(&items)[0] else { unreachable!() };
        assert_eq!((outliers[0].at, outliers[0].differs[0].value.as_str()), (4, "tone: sharp"));
    }

    #[test]
    fn a_memory_proposal_for_a_document_that_is_there_differs_from_new_ones() {
        let proposal = |(n, version): (u32, u64)| {
            let body = json!({ "body": format!("- line {n}"), "baseVersion": version });
            Approval { proposed: Some(serde_json::value::to_raw_value(&body).unwrap()), ..memory(n) }
        };
        let items: Vec<_> = [(1, 0), (2, 0), (3, 4), (4, 0)].into_iter().map(proposal).collect();
        let Block::Group { alike, outliers, .. } = &blocks(&items)[0] else { unreachable!() };
        let differs = vec![Difference { label: "Document".into(), value: "changed".into(), usual: "new".into() }];
        assert_eq!((alike.as_slice(), outliers), (&[0, 1, 3][..], &vec![Outlier { at: 2, differs }]));
        let changed: Vec<_> = [(1, 1), (2, 2), (3, 4)].into_iter().map(proposal).collect();
        assert!(matches!(&blocks(&changed)[0], Block::Group { outliers, .. } if outliers.is_empty()));
    }

    #[test]
    fn few_or_mixed_items_stay_single_and_keep_their_order() {
        assert_eq!(blocks(&stages(&["Won", "Lost"])), [Block::Single(0), Block::Single(1)]);
        let mut items = vec![tool(9, json!({"to": "a"}))];
        items.extend(stages(&["Won"; 3]));
        items.push(tool(8, json!({"to": "b"})));
        let found = blocks(&items);
        assert_eq!((&found[0], &found[1], found.len()), (&Block::Single(0), &Block::Single(4), 3));
        assert!(matches!(&found[2], Block::Group { alike, .. } if alike == &[1, 2, 3]));
    }

    #[test]
    fn no_item_is_lost_or_doubled() {
        let items = stages(&["Won", "Won", "Lost", "Won", "Lead"]);
        let mut seen: Vec<usize> = blocks(&items)
            .into_iter()
            .flat_map(|block| match block {
                Block::Single(at) => vec![at],
                Block::Group { alike, outliers, .. } => {
                    alike.into_iter().chain(outliers.into_iter().map(|o| o.at)).collect()
                }
            })
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2, 3, 4]);
    }
}
