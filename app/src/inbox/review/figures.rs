//! What the numbers of items come to: their range and their sum.

use crate::{
    inbox::{
        item_text::{Labels, is_amount, label_of, values},
        spread::Spread,
    },
    text::number::{counted, grouped_digits},
};
use domain::gate::{GateKind, Verdict};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use wire::approval::Approval;

/// Sums are rounded to parts of this size, so that they do not show the error of adding binary fractions.
const PARTS: f64 = 1_000_000.0;

/// The range of each number of these items, and the sum of each amount. A number that all share is left out unless it
/// is an amount.
pub fn figures(items: &[&Approval], labels: &Labels) -> Vec<String> {
    if items.iter().any(|item| item.kind == GateKind::Memory) {
        return Vec::new();
    }
    let all: Vec<_> = items.iter().map(|item| values(item)).collect();
    let keys: BTreeSet<&String> = all.iter().flat_map(|values| values.keys()).collect();
    keys.into_iter().filter_map(|key| figure(key, &all, labels)).collect()
}

fn figure(key: &str, all: &[Map<String, Value>], labels: &Labels) -> Option<String> {
    let present: Vec<&Value> =
        all.iter().filter_map(|values| values.get(key)).filter(|value| !value.is_null()).collect();
    let numbers: Vec<f64> = present.iter().filter_map(|value| value.as_f64()).collect();
    if numbers.len() < present.len() {
        return None;
    }
    let (label, sum) = (label_of(key, labels), numbers.iter().sum::<f64>());
    let spread = Spread::of(numbers)?;
    if is_amount(&label) {
        return Some(format!("{label} {}, sum {}", spread.range(), sum_text(sum)));
    }
    spread.differs().then(|| format!("{label} {}", spread.range()))
}

fn sum_text(sum: f64) -> String {
    let rounded = if sum.fract() == 0.0 { sum } else { (sum * PARTS).round() / PARTS };
    grouped_digits(&rounded.to_string())
}

/// What is asked before many items are decided: the decision, their number, and what their numbers come to.
pub fn confirm_words(verdict: Verdict, items: &[Approval], labels: &Labels, undo_seconds: u32) -> String {
    let figures = figures(&items.iter().collect::<Vec<_>>(), labels).join("; ");
    let figures = if figures.is_empty() { figures } else { format!(" {figures}.") };
    let warning = if undo_seconds == 0 { " This cannot be undone." } else { "" };
    format!("{} {}?{figures}{warning}", verb(verdict), counted(items.len() as u64, "item"))
}

/// The word on a button that decides.
pub const fn verb(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approve | Verdict::Edit => "Approve",
        Verdict::Deny => "Deny",
        Verdict::Respond => "Answer",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{memory, tool};
    use serde_json::json;

    #[test]
    fn numbers_have_a_range_and_amounts_a_sum() {
        let call = |(n, amount): (u32, f64)| {
            tool(n, json!({"amount": amount, "days": n, "fee_cost": 5, "same": 3, "to": "x"}))
        };
        let items: Vec<_> = [(0, 0.1), (1, 0.2), (2, 1_999.0)].into_iter().map(call).collect();
        let all: Vec<&Approval> = items.iter().collect();
        let said = figures(&all, &Labels::new());
        assert_eq!(said, ["Amount 0.1 to 1,999, sum 1,999.3", "Days 0 to 2", "Fee cost 5, sum 15"]);
        let words = confirm_words(Verdict::Approve, &items, &Labels::new(), 0);
        assert!(words.starts_with("Approve 3 items? Amount 0.1 to 1,999, sum 1,999.3; Days"), "{words}");
        assert!(words.ends_with("This cannot be undone."), "{words}");
        assert!(figures(&[&memory(1), &memory(2)], &Labels::new()).is_empty(), "a version is no figure");
    }
}
