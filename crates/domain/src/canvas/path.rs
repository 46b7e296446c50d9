//! JSON Pointers (RFC 6901) into the document of a canvas.

use crate::limit::{CANVAS_DEPTH_MAX, CANVAS_KEY_BYTES_MAX};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::Value;
use std::fmt;

/// Keys that JavaScript treats as members of every object. A document that had them could change the program of a
/// browser that reads it.
const FORBIDDEN_KEYS: [&str; 3] = ["__proto__", "constructor", "prototype"];

/// The place of a value: the keys from the document to it. Empty for the whole document.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<String>);

impl Path {
    /// Reads a JSON Pointer.
    ///
    /// # Errors
    /// The reason, as the end of a sentence about the path.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        if text.is_empty() {
            return Ok(Self::default());
        }
        let rest = text.strip_prefix('/').ok_or("must be empty or begin with /")?;
        let mut keys = Vec::new();
        for part in rest.split('/') {
            if keys.len() == CANVAS_DEPTH_MAX {
                return Err("is deeper than a canvas can be");
            }
            let key = unescaped(part).ok_or("has a ~ that is neither ~0 nor ~1")?;
            check_key(&key)?;
            keys.push(key);
        }
        Ok(Self(keys))
    }

    /// The keys from the document to the value.
    pub fn keys(&self) -> &[String] {
        &self.0
    }

    /// Whether the path names the whole document.
    pub const fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the value of `other` is within the value of this path, and not this value itself.
    pub fn is_above(&self, other: &Self) -> bool {
        self.0.len() < other.0.len() && other.0.starts_with(&self.0)
    }

    /// The path of a member of this value.
    #[must_use]
    pub fn child(&self, key: &str) -> Self {
        Self(self.0.iter().cloned().chain([key.to_owned()]).collect())
    }

    /// The value at this path.
    pub fn of<'a>(&self, document: &'a Value) -> Option<&'a Value> {
        self.0.iter().try_fold(document, |value, key| match value {
            Value::Object(members) => members.get(key),
            Value::Array(items) => items.get(index(key)?),
            _ => None,
        })
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|key| write!(f, "/{}", key.replace('~', "~0").replace('/', "~1")))
    }
}

impl Serialize for Path {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Path {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// Checks a key of a member.
///
/// # Errors
/// The reason, as the end of a sentence.
pub(super) fn check_key(key: &str) -> Result<(), &'static str> {
    if FORBIDDEN_KEYS.contains(&key) {
        return Err("has a key that is not allowed: __proto__, constructor or prototype");
    }
    if key.len() > CANVAS_KEY_BYTES_MAX {
        return Err("has a key that is longer than 200 bytes");
    }
    Ok(())
}

/// The index that a key names in an array: 0, or digits that do not begin with 0.
pub(super) fn index(key: &str) -> Option<usize> {
    let is_index = key == "0" || !key.starts_with('0') && !key.is_empty() && key.bytes().all(|b| b.is_ascii_digit());
    if is_index { key.parse().ok() } else { None }
}

fn unescaped(part: &str) -> Option<String> {
    let mut key = String::with_capacity(part.len());
    let mut chars = part.chars();
    while let Some(char) = chars.next() {
        key.push(match char {
            '~' => match chars.next()? {
                '0' => '~',
                '1' => '/',
                _ => return None,
            },
            char => char,
        });
    }
    Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_read_and_written_without_a_difference() {
        for text in ["", "/", "/a", "/a~1b/~0c/", "/ä/0/-"] {
            assert_eq!(Path::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Path::parse("/a~1b/~0c").unwrap().keys(), ["a/b", "~c"]);
    }

    #[test]
    fn a_path_that_could_do_harm_is_refused() {
        let deep = "/a".repeat(CANVAS_DEPTH_MAX + 1);
        let long = format!("/{}", "k".repeat(CANVAS_KEY_BYTES_MAX + 1));
        for text in ["a", "/~", "/~2", "/a/__proto__/b", "/constructor", "/x/prototype", &deep, &long] {
            assert!(Path::parse(text).is_err(), "{text}");
        }
        assert!(Path::parse(&"/a".repeat(CANVAS_DEPTH_MAX)).is_ok());
    }

    #[test]
    fn only_plain_numbers_are_indexes() {
        for (key, expected) in [("0", Some(0)), ("10", Some(10)), ("01", None), ("1e1", None), ("0x0a", None)] {
            assert_eq!(index(key), expected, "{key}");
        }
        for key in ["", "-", "-1", "+1", " 1", "99999999999999999999999"] {
            assert_eq!(index(key), None, "{key}");
        }
    }
}
