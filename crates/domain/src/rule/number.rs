//! Numbers as rules compare and add them.

use crate::limit::RULE_NUMBER_MAX;
use serde_json::Value;

/// Millionths of one.
const MICROS: i64 = 1_000_000;

/// Returns a number in millionths, so that sums do not depend on their order. `None` for what is no number, and for one
/// that is too large.
pub fn micros(value: &Value) -> Option<i64> {
    let Value::Number(number) = value else { return None };
    if let Some(whole) = number.as_i64() {
        return (-RULE_NUMBER_MAX..=RULE_NUMBER_MAX).contains(&whole).then(|| whole * MICROS);
    }
    #[expect(clippy::cast_precision_loss, reason = "both have an exact floating-point number")]
    let (max, factor) = (RULE_NUMBER_MAX as f64, MICROS as f64);
    let number = number.as_f64().filter(|number| number.is_finite() && number.abs() <= max)?;
    // Away from zero, so that a number that is a little larger than a limit is not equal to it.
    let scaled = number * factor;
    let is_whole = (scaled - scaled.round()).abs() < 1e-3;
    let whole = if is_whole { scaled.round() } else { scaled.signum() * scaled.abs().ceil() };
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    Some(whole as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_read_in_millionths_and_nothing_else_is() {
        for (value, read) in [
            (json!(50), Some(50_000_000)),
            (json!(50.0), Some(50_000_000)),
            (json!(0.1), Some(100_000)),
            (json!(-3.5), Some(-3_500_000)),
            (json!(19.99), Some(19_990_000)),
            (json!(50.000_000_4), Some(50_000_001)),
            (json!(1_000_000_000_000_i64), Some(1_000_000_000_000_000_000)),
            (json!(1_000_000_000_001_i64), None),
            (json!(1e13), None),
            (json!(u64::MAX), None),
            (json!("50"), None),
            (json!(null), None),
            (json!([50]), None),
        ] {
            assert_eq!(micros(&value), read, "{value}");
        }
    }
}
