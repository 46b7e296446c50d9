//! The order of the rows of the table.

use crate::{inbox::item_text::field_text, session::Titles, text::escape::query};
use serde_json::Value;
use std::cmp::Ordering;

/// By which value rows are sorted. Without a key they keep the order of the list: closest deadline first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Sort {
    /// `?sort=`: the key of the value.
    pub key: Option<String>,
    /// `?order=desc`: largest first.
    pub is_descending: bool,
}

impl Sort {
    /// Value of `aria-sort` of the column with this key.
    pub fn state_of(&self, key: &str) -> &'static str {
        match (self.key.as_deref() == Some(key), self.is_descending) {
            (false, _) => "none",
            (true, false) => "ascending",
            (true, true) => "descending",
        }
    }

    /// The order after a press on the heading of the column with this key: ascending first, then the other way.
    pub fn pressed(&self, key: &str) -> Self {
        Self { key: Some(key.to_owned()), is_descending: self.state_of(key) == "ascending" }
    }

    /// The order as a part of an address.
    pub fn query(&self) -> String {
        let key = self.key.as_deref().map(|key| format!("&sort={}", query(key)));
        let order = if self.is_descending { "&order=desc" } else { "" };
        key.map(|key| key + order).unwrap_or_default()
    }

    /// The order of two values. Empty values are last in both directions.
    pub fn compare(&self, one: &Value, other: &Value, titles: &Titles) -> Ordering {
        match (one.is_null(), other.is_null()) {
            (false, false) if self.is_descending => by_value(other, one, titles),
            (false, false) => by_value(one, other, titles),
            (one, other) => one.cmp(&other),
        }
    }
}

/// Numbers by size and before texts; texts without regard to capital letters, and records by their titles.
fn by_value(one: &Value, other: &Value, titles: &Titles) -> Ordering {
    match (one.as_f64(), other.as_f64()) {
        (Some(one), Some(other)) => one.total_cmp(&other),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => {
            let text = |value: &Value| {
                let text = field_text(value);
                titles.get(&text).unwrap_or(&text).to_lowercase()
            };
            text(one).cmp(&text(other))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_sorted_as_numbers_and_empty_values_are_last() {
        let sorted = |is_descending| {
            let sort = Sort { key: Some("a".into()), is_descending };
            let mut values = [json!("b"), json!(1_000), json!(null), json!(-2), json!(90), json!("A")];
            values.sort_by(|one, other| sort.compare(one, other, &Titles::default()));
            values
        };
        assert_eq!(sorted(false), [json!(-2), json!(90), json!(1_000), json!("A"), json!("b"), json!(null)]);
        assert_eq!(sorted(true), [json!("b"), json!("A"), json!(1_000), json!(90), json!(-2), json!(null)]);
    }

    #[test]
    fn a_second_press_turns_the_order() {
        let first = Sort::default().pressed("a&b");
        assert_eq!((first.query().as_str(), first.state_of("a&b")), ("&sort=a%26b", "ascending"));
        let second = first.pressed("a&b");
        assert_eq!((second.query().as_str(), second.state_of("x")), ("&sort=a%26b&order=desc", "none"));
        assert_eq!((second.pressed("a&b"), Sort::default().query().as_str()), (first, ""));
    }
}
