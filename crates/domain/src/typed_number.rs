//! Numbers as people type them: with a point or a comma before the decimals.

use serde_json::Number;

/// Reads a number that a person typed: digits, a sign, an exponent, and a point or one comma before the decimals.
/// `None` for any other text, and for one with [`two_meanings`].
pub fn typed_number(text: &str) -> Option<Number> {
    let text = text.trim();
    if grouped(text, '.').is_some() { None } else { written_number(text) }
}

/// Reads a number of a file. Programs write decimals with as many zeros as they have places, so `1.500` has one meaning
/// there.
pub fn written_number(text: &str) -> Option<Number> {
    let text = text.trim();
    if grouped(text, ',').is_some() {
        return None;
    }
    let text = match text.split_once(',') {
        Some((whole, decimals)) if !decimals.contains(',') && !text.contains('.') => format!("{whole}.{decimals}"),
        Some(_) => return None,
        None => text.to_owned(),
    };
    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }
    if let Ok(whole) = text.parse::<u64>() {
        return Some(whole.into());
    }
    let is_plain = text.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e' | b'E'));
    is_plain.then(|| text.parse::<f64>().ok().and_then(Number::from_f64)).flatten()
}

/// What is before and after a mark that can separate thousands: `1,500` and `1.500`, but not `0,500` or `1,50`. A point
/// counts only before a zero at the end: a number that this server has written into a field has none.
fn grouped(text: &str, mark: char) -> Option<(&str, &str)> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    let (whole, rest) = digits.split_once(mark)?;
    let is_grouped = (1..=3).contains(&whole.len())
        && rest.len() == 3
        && all_digits(whole)
        && all_digits(rest)
        && !whole.starts_with('0')
        && (mark == ',' || rest.ends_with('0'));
    is_grouped.then(|| text.split_once(mark)).flatten()
}

/// What a person reads about a text that some write for a thousand and others for a decimal, such as `1,500` and
/// `1.500`. `None` for other texts.
pub fn two_meanings(text: &str) -> Option<String> {
    let text = text.trim();
    let (whole, decimals) = grouped(text, ',').or_else(|| grouped(text, '.'))?;
    let least = [whole, decimals.trim_end_matches('0')].join(".");
    Some(format!("{whole}{decimals} or {}; {text} can mean either", least.trim_end_matches('.')))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_a_point_or_a_comma_before_its_decimals() {
        for (text, number) in [
            ("3", "3"),
            (" -3 ", "-3"),
            ("+5", "5"),
            ("1.5", "1.5"),
            ("1,5", "1.5"),
            ("-0,25", "-0.25"),
            ("0,500", "0.5"),
            ("1234,567", "1234.567"),
            ("1,50", "1.5"),
            ("1.125", "1.125"),
            ("0.500", "0.5"),
            ("1234.500", "1234.5"),
            ("2,5e3", "2500.0"),
            ("18446744073709551615", "18446744073709551615"),
        ] {
            assert_eq!(typed_number(text).map(|read| read.to_string()).as_deref(), Some(number), "{text}");
        }
        for text in [
            "", "many", "1,2,3", "1,234.5", "1.234,5", "NaN", "inf", "1e999", "0x10", "1,500", "-12,000", "1.500",
            "-12.000",
        ] {
            assert_eq!(typed_number(text), None, "{text}");
        }
    }

    #[test]
    fn a_number_of_a_file_may_end_in_zeros() {
        let read = |text: &str| written_number(text).map(|read| read.to_string());
        assert_eq!(read("1.500").as_deref(), Some("1.5"));
        assert_eq!(read(" 12.000 ").as_deref(), Some("12.0"));
        assert_eq!(read("1,500"), None);
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_named_with_both() {
        assert_eq!(two_meanings(" 1,500 ").as_deref(), Some("1500 or 1.5; 1,500 can mean either"));
        assert_eq!(two_meanings("-12,000").as_deref(), Some("-12000 or -12; -12,000 can mean either"));
        assert_eq!(two_meanings("1,234").as_deref(), Some("1234 or 1.234; 1,234 can mean either"));
        assert_eq!(two_meanings("1.500").as_deref(), Some("1500 or 1.5; 1.500 can mean either"));
        for text in ["1,500", "1.500", "2,250", "100.000"] {
            let both = two_meanings(text).unwrap();
            let (both, _) = both.split_once(';').unwrap();
            assert!(both.split(" or ").all(|one| typed_number(one).is_some()), "{text}: {both}");
        }
        for text in ["1,5", "0,500", "1500", "1234,567", "1,500,000", "1.234", "0.500", "many"] {
            assert_eq!(two_meanings(text), None, "{text}");
        }
    }
}
