//! Finds unpaired surrogates in the escapes of JSON.

/// Whether a JSON text contains an escaped surrogate without its other half. For other texts the result has no
/// meaning.
pub fn has_lone_surrogate(json: &[u8]) -> bool {
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', &json[at..]) {
        let escape = at + found;
        let Some(unit) = surrogate(&json[escape..]) else {
            // The character after a backslash never begins another escape.
            at = (escape + 2).min(json.len());
            continue;
        };
        let next = escape + ESCAPE;
        let is_pair = HIGH.contains(&unit) && surrogate(&json[next..]).is_some_and(|low| !HIGH.contains(&low));
        if !is_pair {
            return true;
        }
        at = next + ESCAPE;
    }
    false
}

/// Length of an escape such as `\ud800`, in bytes.
const ESCAPE: usize = 6;
/// First half of a surrogate pair.
const HIGH: std::ops::Range<u16> = 0xD800..0xDC00;

/// Returns the surrogate at the beginning of the text, if its escape is there.
fn surrogate(text: &[u8]) -> Option<u16> {
    let digits = text.get(..ESCAPE)?.strip_prefix(b"\\u")?;
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.starts_with(['d', 'D']))?;
    u16::from_str_radix(digits, 16).ok().filter(|unit| (0xD800..0xE000).contains(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_halves_are_found() {
        for (json, expected) in [
            (r#""\ud800""#, true),
            (r#""\uDFFF""#, true),
            (r#""\udc00\ud800""#, true),
            (r#""\ud83d\u0041""#, true),
            (r#""\ud83d \ude00""#, true),
            (r#""\ud83d\ude00\ude00""#, true),
            (r#""\ud83d\ud83d\ude00""#, true),
            (r#""\ud83d\ude00""#, false),
            (r#""\uD83D\uDE00 \u0041 \n \ue000 \ud7ff""#, false),
            (r#""\\ud800""#, false),
            (r#""\\\ud800""#, true),
            (r#""d800 \u""#, false),
            ("\\", false),
            ("\\ud8", false),
            ("", false),
        ] {
            assert_eq!(has_lone_surrogate(json.as_bytes()), expected, "{json}");
        }
    }
}
