//! Edits by reviewers. A reviewer may change the values that the agent staged, but not their shape. An approval
//! with other values than those proposed is an edit. The version that a memory proposal is based on is no part of what
//! is proposed: an approval that only names another one is an approval.

use super::{GateKind, MEMORY_BODY, MemoryProposal};
use crate::{count::counted, issue::Issue};
use serde_json::{Map, Value};

/// What an approval does to the proposal.
#[derive(Debug, Clone, PartialEq)]
pub enum Approval {
    /// It accepts the proposal as it is.
    AsProposed {
        /// Whether values were sent that turn the staged values into the present proposal.
        restates: bool,
    },
    /// It accepts the text of a memory proposal for another version of the document.
    Rebased {
        /// All values after the approval.
        values: Map<String, Value>,
        /// The values that differ from the staged ones.
        changed: Map<String, Value>,
    },
    /// It changes the proposal: an edit.
    Edited {
        /// All values after the edit.
        values: Map<String, Value>,
        /// The values that differ from the staged ones.
        changed: Map<String, Value>,
    },
}

/// Reads an approval that was sent with the values `given`. It is an edit if they change the present proposal,
/// whether the caller named it `approve` or `edit`. Line ends of a document are no change.
///
/// # Errors
/// The errors of [`within`].
pub fn approval(
    kind: GateKind,
    staged: &Map<String, Value>,
    proposed: &Map<String, Value>,
    given: &Map<String, Value>,
) -> Result<Approval, Vec<Issue>> {
    within(staged, given)?;
    let mut values = merge(proposed, given);
    let body = proposed
        .get(MEMORY_BODY)
        .filter(|_| kind == GateKind::Memory && MemoryProposal::body_of(&values) == MemoryProposal::body_of(proposed));
    if let Some(body) = body {
        values.insert(MEMORY_BODY.to_owned(), body.clone());
    }
    if values == *proposed {
        let restates = !given.is_empty() && merge(staged, given) == *proposed;
        return Ok(Approval::AsProposed { restates });
    }
    let mut changed = values.clone();
    changed.retain(|key, value| staged.get(key) != Some(value));
    // All that is left to differ is the version.
    if body.is_some() { Ok(Approval::Rebased { values, changed }) } else { Ok(Approval::Edited { values, changed }) }
}

/// Returns the values that a reviewer's form sends with an approval; none if the reviewer accepts the proposal
/// as it is. Values that another reviewer proposed are included if they differ from the staged ones, because an
/// edit is applied to the staged values.
///
/// `typed` holds the value of each field of the form. `is_outdated` says that the form was rendered for an
/// earlier proposal. If its values equal the present proposal, the edit was already recorded and is sent again
/// because its response was lost.
pub fn values_to_send(
    staged: &Map<String, Value>,
    proposed: &Map<String, Value>,
    typed: &Map<String, Value>,
    is_outdated: bool,
) -> Map<String, Value> {
    let own = |(key, value): (&String, &Value)| {
        let before = proposed.get(key);
        before != Some(value) || (is_outdated && staged.get(key) != before)
    };
    if !typed.iter().any(own) {
        return Map::new();
    }
    let mut values = proposed.clone();
    values.extend(typed.clone());
    values.retain(|key, value| proposed.get(key) != Some(value) || staged.get(key) != Some(value));
    values
}

/// Checks that an edit has only keys that the agent staged, and values of the same types. `null` clears a
/// value. A staged `null` accepts any value that is neither an object nor a list.
///
/// # Errors
/// One [`Issue`] for each invalid path.
pub fn within(staged: &Map<String, Value>, edited: &Map<String, Value>) -> Result<(), Vec<Issue>> {
    let mut issues = Vec::new();
    objects("", staged, edited, &mut issues);
    if issues.is_empty() { Ok(()) } else { Err(issues) }
}

fn objects(path: &str, staged: &Map<String, Value>, edited: &Map<String, Value>, issues: &mut Vec<Issue>) {
    for (key, value) in edited {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match staged.get(key) {
            None => issues.push(Issue::new(path, "the agent did not stage this; only staged values can be edited")),
            Some(before) => values(&path, before, value, issues),
        }
    }
}

fn values(path: &str, staged: &Value, edited: &Value, issues: &mut Vec<Issue>) {
    match (staged, edited) {
        (_, Value::Null) => {}
        (Value::Null, Value::Object(_) | Value::Array(_)) => {
            issues.push(Issue::new(path, "a plain value: nothing was staged here"));
        }
        (Value::Null, _) => {}
        (Value::Object(staged), Value::Object(edited)) => objects(path, staged, edited, issues),
        (Value::Array(staged), Value::Array(edited)) => {
            // A list of objects keeps its length. A list of plain values may grow and shrink.
            if staged.iter().any(Value::is_object) && staged.len() != edited.len() {
                issues.push(Issue::new(path, format!("{}, as staged", counted(staged.len() as u64, "item"))));
                return;
            }
            for (at, item) in edited.iter().enumerate() {
                match staged.get(at).or(staged.last()) {
                    Some(before) => values(&format!("{path}[{at}]"), before, item, issues),
                    None => issues.push(Issue::new(format!("{path}[{at}]"), "an empty list was staged")),
                }
            }
        }
        (before, after) if kind(before) == kind(after) => {}
        (before, _) => issues.push(Issue::new(path, kind(before))),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// Returns the staged values with the reviewer's values in their place. Keys that the edit leaves out keep
/// their staged values.
pub fn merge(staged: &Map<String, Value>, edited: &Map<String, Value>) -> Map<String, Value> {
    let mut merged = staged.clone();
    for (key, value) in edited {
        let value = match (merged.get(key), value) {
            (Some(Value::Object(before)), Value::Object(after)) => Value::Object(merge(before, after)),
            (Some(Value::Array(before)), Value::Array(after)) => Value::Array(
                after
                    .iter()
                    .enumerate()
                    .map(|(at, item)| match (before.get(at), item) {
                        (Some(Value::Object(before)), Value::Object(after)) => Value::Object(merge(before, after)),
                        _ => item.clone(),
                    })
                    .collect(),
            ),
            _ => value.clone(),
        };
        merged.insert(key.clone(), value);
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn keys_and_types_that_were_not_staged_are_named() {
        let staged = map(json!({
            "stage": "Won", "amount": 3, "note": null, "tags": ["a"], "entities": [{"title": "x"}, {"title": "y"}], "deep": {"a": 1}
        }));
        let edited = map(json!({
            "stage": 1, "amount": "3", "note": {"x": 1}, "tags": ["a", "b", 3], "entities": [{"title": "x", "id": "z"}],
            "deep": {"a": 2, "b": 1}, "owner": "me"
        }));
        let issues = within(&staged, &edited).unwrap_err();
        let mut named: Vec<_> = issues.iter().map(|issue| issue.field.as_str()).collect();
        named.sort_unstable();
        assert_eq!(named, ["amount", "deep.b", "entities", "note", "owner", "stage", "tags[2]"]);
        let fine = map(json!({
            "stage": null, "note": "x", "tags": [], "entities": [{"title": "X"}, {}], "deep": {"a": 2}
        }));
        assert_eq!(within(&staged, &fine), Ok(()));
    }

    #[test]
    fn what_an_edit_leaves_out_stays() {
        let staged = map(json!({ "a": 1, "b": {"c": 1, "d": 2}, "e": [{"f": 1, "g": 2}] }));
        let edited = map(json!({ "b": {"d": 3}, "e": [{"g": 4}] }));
        assert_eq!(
            Value::from(merge(&staged, &edited)),
            json!({ "a": 1, "b": {"c": 1, "d": 3}, "e": [{"f": 1, "g": 4}] })
        );
    }

    #[test]
    fn an_approval_with_other_values_is_an_edit() {
        let staged = map(json!({ "stage": "Won", "size": 3 }));
        let edited =
            |proposed: &Value, given: Value| approval(GateKind::Output, &staged, &map(proposed.clone()), &map(given));
        let as_staged = json!({ "stage": "Won", "size": 3 });
        for (given, restates) in [(json!({}), false), (json!({ "size": 3 }), true)] {
            assert_eq!(edited(&as_staged, given), Ok(Approval::AsProposed { restates }));
        }
        assert_eq!(
            edited(&as_staged, json!({ "size": 4 })),
            Ok(Approval::Edited {
                values: map(json!({ "stage": "Won", "size": 4 })),
                changed: map(json!({ "size": 4 }))
            })
        );
        // After another reviewer's edit: reverting a part of it, restating all of it, or restating a part of
        // it.
        let lost = json!({ "stage": "Lost", "size": 4 });
        assert_eq!(
            edited(&lost, json!({ "size": 3 })),
            Ok(Approval::Edited {
                values: map(json!({ "stage": "Lost", "size": 3 })),
                changed: map(json!({ "stage": "Lost" }))
            })
        );
        assert_eq!(edited(&lost, lost.clone()), Ok(Approval::AsProposed { restates: true }));
        assert_eq!(edited(&lost, json!({ "size": 4 })), Ok(Approval::AsProposed { restates: false }));
        let issues = edited(&lost, json!({ "size": "4", "owner": 1 })).unwrap_err();
        // In the order of the request only where serde_json keeps it, which another crate's feature decides.
        let mut refused: Vec<_> = issues.iter().map(|i| i.field.as_str()).collect();
        refused.sort_unstable();
        assert_eq!(refused, ["owner", "size"]);
    }

    #[test]
    fn a_memory_proposal_that_is_approved_for_another_version_is_no_edit() {
        let staged = map(json!({ "body": "# A\n\n- tea\n", "baseVersion": 1 }));
        let read = |given: Value| approval(GateKind::Memory, &staged, &staged, &map(given)).unwrap();
        let (values, changed) =
            (map(json!({ "body": "# A\n\n- tea\n", "baseVersion": 2 })), map(json!({ "baseVersion": 2 })));
        let rebased = Approval::Rebased { values, changed };
        assert_eq!(read(json!({ "baseVersion": 2 })), rebased);
        assert_eq!(read(json!({ "body": "# A\r\n\r\n- tea\r\n", "baseVersion": 2 })), rebased);
        let same = read(json!({ "body": "# A\r\n\r\n- tea\r\n", "baseVersion": 1 }));
        assert!(matches!(same, Approval::AsProposed { .. }), "{same:?}");
        let other = read(json!({ "body": "# A\n\n- coffee\n", "baseVersion": 2 }));
        assert!(matches!(other, Approval::Edited { .. }), "{other:?}");
        let output = approval(GateKind::Output, &staged, &staged, &map(json!({ "baseVersion": 2 })));
        assert!(matches!(output, Ok(Approval::Edited { .. })), "{output:?}");
    }

    #[test]
    fn a_form_asks_for_values_only_where_something_else_was_typed() {
        let staged = map(json!({ "stage": "Won", "size": 3 }));
        let proposed = map(json!({ "stage": "Lost", "size": 3 }));
        let of = |typed: Value, is_outdated| Value::from(values_to_send(&staged, &proposed, &map(typed), is_outdated));
        assert_eq!(of(json!({ "stage": "Lost", "size": 3 }), false), json!({}));
        assert_eq!(of(json!({ "size": 4 }), false), json!({ "stage": "Lost", "size": 4 }));
        assert_eq!(of(json!({ "stage": "Won" }), false), json!({ "stage": "Won" }), "back to what was staged");
        // The edit is sent again because its response was lost.
        assert_eq!(of(json!({ "stage": "Lost", "size": 3 }), true), json!({ "stage": "Lost" }));
        assert_eq!(of(json!({ "stage": "Lost" }), true), json!({ "stage": "Lost" }));
        assert_eq!(of(json!({ "size": 3 }), true), json!({}), "what nobody changed is no edit that was lost");
        assert_eq!(of(json!({}), true), json!({}));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[a-c]{0,3}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-d]", inner, 0..4).prop_map(|m| Value::Object(m.into_iter().collect())),
            ]
        })
    }

    fn any_map() -> impl Strategy<Value = Map<String, Value>> {
        prop::collection::btree_map("[a-d]", any_json(), 0..4).prop_map(|m| m.into_iter().collect())
    }

    fn paths(value: &Value, at: &str, all: &mut Vec<String>) {
        match value {
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                all.push(format!("{at}.{key}"));
                paths(value, &format!("{at}.{key}"), all);
            }),
            // All items share one path, because a list of plain values may grow.
            Value::Array(items) => items.iter().for_each(|item| paths(item, &format!("{at}[]"), all)),
            _ => {}
        }
    }

    proptest! {
        #[test]
        fn an_accepted_edit_never_brings_a_path_that_was_not_staged(staged in any_map(), edited in any_map()) {
            if within(&staged, &edited).is_ok() {
                let (mut known, mut found) = (Vec::new(), Vec::new());
                paths(&Value::Object(staged.clone()), "", &mut known);
                paths(&Value::Object(merge(&staged, &edited)), "", &mut found);
                for path in found {
                    prop_assert!(known.contains(&path), "{path}");
                }
            }
        }

        #[test]
        fn what_was_staged_is_within_itself_and_merges_to_itself(staged in any_map()) {
            prop_assert_eq!(within(&staged, &staged), Ok(()));
            prop_assert_eq!(merge(&staged, &staged), staged);
        }
    }
}
