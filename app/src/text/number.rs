//! Figures.

use domain::limit::BADGE_COUNT_MAX;

/// Digits in groups of three: `12,345`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// A figure and its noun: `1 event`, `12 events`.
pub fn counted(n: u64, one: &str) -> String {
    if n == 1 { format!("1 {one}") } else { format!("{} {one}s", grouped(n)) }
}

/// What a badge says: figures too long for it end in a plus.
pub fn badge(n: u64) -> String {
    let most = u64::from(BADGE_COUNT_MAX);
    if n > most { format!("{most}+") } else { n.to_string() }
}

/// Dollars: cents, or for small sums up to four decimals.
pub fn dollars(sum: f64) -> String {
    if sum >= 1.0 {
        return format!("${sum:.2}");
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

    #[test]
    fn figures_read_well() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([1, 2].map(|n| counted(n, "event")), ["1 event", "2 events"]);
        assert_eq!([7, 999, 1_000].map(badge), ["7", "999", "999+"]);
        assert_eq!([0.0031, 0.42, 0.0, 12.5].map(dollars), ["$0.0031", "$0.42", "$0.00", "$12.50"]);
    }
}
