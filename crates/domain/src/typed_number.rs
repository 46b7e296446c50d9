//! Numbers as people type them: with a point or a comma before the decimals.

use serde_json::Number;

/// Reads a number: digits, a sign, an exponent, and a point or one comma before the decimals. `None` for any other
/// text, and for one with [`two_meanings`].
pub fn typed_number(text: &str) -> Option<Number> {
    let text = text.trim();
    if is_ambiguous(text) {
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

/// Whether the comma can be read as a separator of thousands: `1,500`, but not `0,500` or `1,50`.
fn is_ambiguous(text: &str) -> bool {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let all_digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
    digits.split_once(',').is_some_and(|(whole, rest)| {
        (1..=3).contains(&whole.len())
            && rest.len() == 3
            && all_digits(whole)
            && all_digits(rest)
            && !whole.starts_with('0')
    })
}

/// What a person reads about a text that some write for a thousand and others for a decimal, such as `1,500`. `None`
/// for other texts.
pub fn two_meanings(text: &str) -> Option<String> {
    let text = text.trim();
    let (whole, decimals) = text.split_once(',').filter(|_| is_ambiguous(text))?;
    Some(format!("{whole}{decimals} or {whole}.{decimals}; {text} can mean either"))
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
            ("1.500", "1.5"),
            ("2,5e3", "2500.0"),
            ("18446744073709551615", "18446744073709551615"),
        ] {
            assert_eq!(typed_number(text).map(|read| read.to_string()).as_deref(), Some(number), "{text}");
        }
        for text in ["", "many", "1,2,3", "1,234.5", "1.234,5", "NaN", "inf", "1e999", "0x10", "1,500", "-12,000"] {
            assert_eq!(typed_number(text), None, "{text}");
        }
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_named_with_both() {
        assert_eq!(two_meanings(" 1,500 ").as_deref(), Some("1500 or 1.500; 1,500 can mean either"));
        assert_eq!(two_meanings("-12,000").as_deref(), Some("-12000 or -12.000; -12,000 can mean either"));
        for text in ["1,5", "0,500", "1500", "1234,567", "1,500,000", "many"] {
            assert_eq!(two_meanings(text), None, "{text}");
        }
    }
}
