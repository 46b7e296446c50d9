//! Numbers as text.

pub use domain::count::{counted, grouped, singular};
use domain::{count::plural, limit::BADGE_COUNT_MAX};
use serde_json::Value;

/// Fewest digits of a value's whole part that are grouped: years and short numbers of things stay as they are.
const GROUPED_DIGITS_MIN: usize = 5;

/// A value of a record for people. Large numbers have commas between groups of three digits: `125,000.5`.
pub fn display_text(value: &Value) -> String {
    let text = domain::entity::display_text(value);
    if value.is_number() { shown_digits(&text) } else { text }
}

/// The text of a number for people, as [`display_text`] gives it.
pub fn shown_digits(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let end = digits.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(digits.len());
    let (whole, rest) = digits.split_at(end);
    match whole.parse() {
        Ok(whole) if end >= GROUPED_DIGITS_MIN && !rest.contains(['e', 'E']) => {
            format!("{sign}{}{rest}", grouped(whole))
        }
        _ => text.to_owned(),
    }
}

/// A number for a badge: large numbers end in a plus.
pub fn badge(n: u64) -> String {
    let most = u64::from(BADGE_COUNT_MAX);
    if n > most { format!("{most}+") } else { n.to_string() }
}

/// The noun behind a figure of a table, which narrow screens show because they have no headings: ` documents`.
pub fn unit(n: u64, one: &str) -> String {
    let noun = if n == 1 { one.to_owned() } else { plural(one) };
    format!(" {noun}")
}

/// The digits of a decimal number in groups of three: `-125000.5` becomes `-125,000.5`. A text of another form stays.
pub fn grouped_digits(text: &str) -> String {
    let (sign, digits) = text.strip_prefix('-').map_or(("", text), |digits| ("-", digits));
    let (whole, rest) = digits.split_at(digits.find('.').unwrap_or(digits.len()));
    match whole.parse() {
        Ok(n) if !whole.starts_with('0') => [sign, &grouped(n), rest].concat(),
        _ => text.to_owned(),
    }
}

/// A share in percent without decimals, because it is a share of few answers.
pub fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// An amount in dollars: with cents and groups of three digits, or up to four decimals for small amounts.
pub fn dollars(sum: f64) -> String {
    if sum >= 1.0 {
        let cents = (sum * 100.0).round() as u64;
        return format!("${}.{:02}", grouped(cents / 100), cents % 100);
    }
    let exact = format!("${sum:.4}");
    match exact.strip_suffix("00") {
        Some(cents) => cents.to_owned(),
        None => exact,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn large_values_are_grouped_and_nothing_else_changes() {
        for (value, text) in [
            (json!(125_000.5), "125,000.5"),
            (json!(-61_000), "-61,000"),
            (json!(2_026), "2026"),
            (json!(0.12345), "0.12345"),
            (json!(1e300), "1e+300"),
            (json!("61000"), "61000"),
            (json!(u64::MAX), "18,446,744,073,709,551,615"),
        ] {
            assert_eq!(display_text(&value), text);
        }
    }

    #[test]
    fn digits_are_grouped_whatever_is_around_them() {
        let texts = ["1290000", "-125000.5", "0.25", "7", "1e300", "007", ""].map(grouped_digits);
        assert_eq!(texts, ["1,290,000", "-125,000.5", "0.25", "7", "1e300", "007", ""]);
    }

    #[test]
    fn figures_read_well() {
        assert_eq!([7, 999, 1_000].map(badge), ["7", "999", "999+"]);
        assert_eq!([1, 2].map(|n| unit(n, "byte")), [" byte", " bytes"]);
        assert_eq!([0.0, 0.004, 2.0 / 3.0, 1.0].map(percent), ["0%", "0%", "67%", "100%"]);
        assert_eq!([0.0031, 0.42, 0.0, 12.5].map(dollars), ["$0.0031", "$0.42", "$0.00", "$12.50"]);
        assert_eq!([1_000.0, 12_345.6, 999.999].map(dollars), ["$1,000.00", "$12,345.60", "$1,000.00"]);
    }
}
