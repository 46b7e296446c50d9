//! The canonical text of a JSON value. Equal values have equal digests, which shows that two people saw the
//! same proposal.

use crate::chain::Digest;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Returns the value as JSON without spaces, with the keys of each object sorted by their bytes. Numbers and
/// strings are written as serde_json writes them.
pub fn canonical(value: &Value) -> String {
    let mut text = String::new();
    write(value, &mut text);
    text
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(map) => {
            // Sorted here, because a dependency may switch on serde_json's insertion order for the whole build.
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_unstable_by_key(|(key, _)| key.as_str());
            text.push('{');
            for (at, (key, value)) in entries.into_iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(value, text);
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    text.push(',');
                }
                write(item, text);
            }
            text.push(']');
        }
        plain => text.push_str(&plain.to_string()),
    }
}

/// Returns the SHA-256 digest of the canonical text.
pub fn canonical_digest(value: &Value) -> Digest {
    Digest(Sha256::digest(canonical(value).as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_does_not_matter_and_the_order_of_items_does() {
        let one: Value = serde_json::from_str(r#"{"b": [1, {"y": null, "x": "é\""}], "a": 1.50}"#).unwrap();
        let two: Value = serde_json::from_str(r#"{"a":1.5,"b":[1,{"x":"é\"","y":null}]}"#).unwrap();
        assert_eq!(canonical(&one), r#"{"a":1.5,"b":[1,{"x":"é\"","y":null}]}"#);
        assert_eq!(canonical_digest(&one), canonical_digest(&two));
        assert_ne!(canonical_digest(&json!([1, 2])), canonical_digest(&json!([2, 1])));
        assert_ne!(canonical_digest(&json!("1")), canonical_digest(&json!(1)));
    }
}
