//! What a suggestion changes, in words.

use domain::canvas::{Operation, edit::Spot};
use serde_json::Value;

/// Longest text of a change that is shown, characters.
const EXCERPT_CHARS_MAX: usize = 200;

/// A change in words; empty for a test.
pub fn change_words(op: &Operation) -> String {
    let is_text = Spot::of(op.path()).is_some();
    match op {
        Operation::Replace { value, .. } if is_text => ["Writes “", &excerpt(value), "”"].concat(),
        Operation::Add { value, .. } => ["Adds “", &excerpt(value), "”"].concat(),
        Operation::Remove { .. } => "Removes a part".to_owned(),
        Operation::Replace { path, .. } if path.keys().last().is_some_and(|key| key == "order") => {
            "Moves a part".to_owned()
        }
        Operation::Replace { value, .. } => ["Changes a part to “", &excerpt(value), "”"].concat(),
        Operation::Test { .. } => String::new(),
    }
}

fn excerpt(value: &Value) -> String {
    let text = value.get("text").unwrap_or(value);
    let text = text.as_str().map_or_else(|| serde_json::to_string(text).unwrap_or_default(), str::to_owned);
    text.chars().take(EXCERPT_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::canvas::Path;
    use serde_json::json;

    #[test]
    fn a_change_is_said_with_its_text() {
        let path = |path: &str| Path::parse(path).unwrap();
        let replaced = |at: &str, value: Value| Operation::Replace { path: path(at), value };
        for (op, expected) in [
            (replaced("/blocks/a/text", json!("Ship it")), "Writes “Ship it”"),
            (replaced("/blocks/a/items/i/done", json!(true)), "Changes a part to “true”"),
            (replaced("/blocks/a/order", json!("a1")), "Moves a part"),
            (Operation::Add { path: path("/blocks/b"), value: json!({ "text": "New" }) }, "Adds “New”"),
            (Operation::Remove { path: path("/blocks/b") }, "Removes a part"),
            (Operation::Test { path: path("/blocks/b"), value: json!(1) }, ""),
        ] {
            assert_eq!(change_words(&op), expected);
        }
    }
}
