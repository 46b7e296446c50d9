//! Order keys of the items of a list. Between two keys a further one can be made, up to 64 bytes.
//!
//! A key is a whole number, whose first character says how many digits it has, and a fraction. Its characters are
//! compared as bytes. Items that are appended one after another have short keys.

use crate::limit::CANVAS_ORDER_BYTES_MAX;

const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
/// The key of the first item.
const FIRST: &str = "a0";

/// There is no key between two keys: they are equal, in the wrong order or no keys, or the new one would be longer than
/// 64 bytes. Give all items of the list new keys with [`spread`], in one strict patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("no key is left between these two")]
pub struct NoRoom;

/// Whether a text is an order key.
pub fn is_order(text: &str) -> bool {
    let fraction = split(text).map(|(_, fraction)| fraction);
    text.len() <= CANVAS_ORDER_BYTES_MAX
        && text.bytes().all(|byte| DIGITS.contains(&byte))
        && fraction.is_some_and(|fraction| !fraction.ends_with('0'))
}

/// A key after `before` and before `after`. `None` is the begin or the end of the list.
///
/// # Errors
/// [`NoRoom`].
pub fn between(before: Option<&str>, after: Option<&str>) -> Result<String, NoRoom> {
    let is_wrong = [before, after].into_iter().flatten().any(|key| !is_order(key));
    if is_wrong || before.zip(after).is_some_and(|(before, after)| before >= after) {
        return Err(NoRoom);
    }
    let key = match (before, after) {
        (None, None) => FIRST.to_owned(),
        (None, Some(after)) => first_before(after).ok_or(NoRoom)?,
        (Some(before), None) => {
            let (whole, fraction) = split(before).ok_or(NoRoom)?;
            next(whole)
                .map_or_else(|| midpoint(fraction, None).map(|middle| format!("{whole}{middle}")), Some)
                .ok_or(NoRoom)?
        }
        (Some(before), Some(after)) => {
            let (whole, fraction) = split(before).ok_or(NoRoom)?;
            let (whole_after, fraction_after) = split(after).ok_or(NoRoom)?;
            let middle = |end: Option<&str>| midpoint(fraction, end).map(|middle| format!("{whole}{middle}"));
            if whole == whole_after {
                middle(Some(fraction_after)).ok_or(NoRoom)?
            } else {
                let next = next(whole).filter(|next| next.as_str() < after);
                next.map_or_else(|| middle(None), Some).ok_or(NoRoom)?
            }
        }
    };
    if is_order(&key) { Ok(key) } else { Err(NoRoom) }
}

/// The keys of a list with this many items.
///
/// # Errors
/// [`NoRoom`] never happens for lists that fit into a document.
pub fn spread(items: usize) -> Result<Vec<String>, NoRoom> {
    let mut keys: Vec<String> = Vec::with_capacity(items);
    for _ in 0..items {
        let key = between(keys.last().map(String::as_str), None)?;
        keys.push(key);
    }
    Ok(keys)
}

fn first_before(after: &str) -> Option<String> {
    let (whole, fraction) = split(after)?;
    if !fraction.is_empty() {
        return Some(whole.to_owned());
    }
    previous(whole).or_else(|| midpoint("", Some(fraction)).map(|middle| format!("{whole}{middle}")))
}

/// Bytes of the whole number, its first character included.
fn whole_len(key: &str) -> Option<usize> {
    match key.bytes().next()? {
        first @ b'a'..=b'z' => Some(usize::from(first - b'a') + 2),
        first @ b'A'..=b'Z' => Some(usize::from(b'Z' - first) + 2),
        _ => None,
    }
}

fn split(key: &str) -> Option<(&str, &str)> {
    key.split_at_checked(whole_len(key)?)
}

fn digit(byte: u8) -> Option<usize> {
    DIGITS.iter().position(|digit| *digit == byte)
}

/// The next whole number; `None` after the last one.
fn next(whole: &str) -> Option<String> {
    let (first, digits) = whole.as_bytes().split_first()?;
    let mut digits = digits.to_vec();
    for place in digits.iter_mut().rev() {
        let value = digit(*place)? + 1;
        if value < DIGITS.len() {
            *place = DIGITS[value];
            return text(*first, &digits);
        }
        *place = b'0';
    }
    match *first {
        b'Z' => Some(FIRST.to_owned()),
        b'z' => None,
        first @ b'a'..=b'y' => text(first + 1, &[digits.as_slice(), b"0"].concat()),
        first => text(first + 1, digits.get(1..)?),
    }
}

/// The whole number before; `None` before the first one.
fn previous(whole: &str) -> Option<String> {
    let (first, digits) = whole.as_bytes().split_first()?;
    let mut digits = digits.to_vec();
    for place in digits.iter_mut().rev() {
        if let Some(value) = digit(*place)?.checked_sub(1) {
            *place = DIGITS[value];
            return text(*first, &digits);
        }
        *place = b'z';
    }
    match *first {
        b'a' => Some("Zz".into()),
        b'A' => None,
        first @ b'B'..=b'Z' => text(first - 1, &[digits.as_slice(), b"z"].concat()),
        first => text(first - 1, digits.get(1..)?),
    }
}

fn text(first: u8, digits: &[u8]) -> Option<String> {
    String::from_utf8([&[first], digits].concat()).ok()
}

/// A fraction between two fractions. It does not end with 0.
fn midpoint(before: &str, after: Option<&str>) -> Option<String> {
    let (before, after) = (before.as_bytes(), after.map(str::as_bytes));
    let mut middle = Vec::new();
    let mut after = after;
    let mut at = 0;
    loop {
        let low = before.get(at).map_or(Some(0), |byte| digit(*byte))?;
        let high = match after {
            Some(after) => after.get(at).map_or(Some(0), |byte| digit(*byte))?,
            None => DIGITS.len(),
        };
        if at > 2 * CANVAS_ORDER_BYTES_MAX || high < low {
            return None;
        }
        if high - low > 1 {
            middle.push(DIGITS[low.midpoint(high)]);
            return String::from_utf8(middle).ok();
        }
        middle.push(DIGITS[low]);
        if high > low {
            after = None;
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn appended_items_have_short_keys_in_order() {
        let keys = spread(5_000).unwrap();
        assert!(keys.is_sorted() && keys.iter().all(|key| key.len() <= 4 && is_order(key)), "{:?}", keys.last());
        let mut first = keys[0].clone();
        for _ in 0..5_000 {
            let before = between(None, Some(&first)).unwrap();
            assert!(before < first && before.len() <= 4);
            first = before;
        }
    }

    #[test]
    fn equal_keys_wrong_order_and_other_texts_have_no_key_between() {
        for (before, after) in
            [("a1", "a1"), ("a2", "a1"), ("", "a1"), ("a1", "é"), ("b0", "c000"), ("a10", "a2"), ("a1", "b")]
        {
            assert_eq!(between(Some(before), Some(after)), Err(NoRoom), "{before} {after}");
        }
    }

    #[test]
    fn inserting_at_one_place_ends_with_no_room_and_not_with_a_wrong_key() {
        let (before, mut after) = ("a0".to_owned(), "a1".to_owned());
        let mut inserted = 0;
        while let Ok(key) = between(Some(&before), Some(&after)) {
            assert!(before < key && key < after && key.len() <= CANVAS_ORDER_BYTES_MAX);
            after = key;
            inserted += 1;
        }
        assert!(inserted > 100, "{inserted}");
    }

    proptest! {
        #[test]
        fn a_key_is_between_its_neighbours(places in proptest::collection::vec(0..1_000_usize, 1..120)) {
            let mut keys: Vec<String> = Vec::new();
            for place in places {
                let at = place % (keys.len() + 1);
                let before = at.checked_sub(1).map(|at| keys[at].as_str());
                if let Ok(key) = between(before, keys.get(at).map(String::as_str)) {
                    keys.insert(at, key);
                }
            }
            prop_assert!(keys.is_sorted_by(|one, other| one < other));
            prop_assert!(keys.iter().all(|key| is_order(key)));
        }
    }
}
