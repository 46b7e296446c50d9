//! Patches of attackers as they arrive: JSON of any shape, which must be refused or applied within the limits, without
//! a panic.

use super::*;
use crate::limit::{CANVAS_BYTES_MAX, CANVAS_OPS_MAX, CANVAS_PATCH_BYTES_MAX};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A part of a path.
fn key() -> impl Strategy<Value = String> {
    let known = ["blocks", "b1", "text", "order", "items", "list", "0", "1", "-", "", "~0", "~1", "a/b"];
    let hostile =
        ["__proto__", "constructor", "prototype", "01", "1e9", "0x0a", "~", "4294967296", "\0", "ä", "\u{202e}"];
    prop_oneof![
        8 => proptest::sample::select(known.to_vec()).prop_map(str::to_owned),
        4 => proptest::sample::select(hostile.to_vec()).prop_map(str::to_owned),
        1 => any::<u64>().prop_map(|index| index.to_string()),
        1 => (150..250_usize).prop_map(|bytes| "k".repeat(bytes)),
    ]
}

/// A path, at times a deep one or none.
fn path() -> impl Strategy<Value = String> {
    let joined = |keys: Vec<String>| keys.iter().fold(String::new(), |path, key| format!("{path}/{key}"));
    prop_oneof![
        10 => proptest::collection::vec(key(), 0..6).prop_map(joined),
        1 => (1..400_usize).prop_map(|levels| "/a".repeat(levels)),
        1 => Just("no pointer".to_owned()),
    ]
}

/// A value, at times a deep or a large one.
fn value() -> impl Strategy<Value = Value> {
    let small = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        any::<i32>().prop_map(|value| json!(f64::from(value) / 8.0)),
        ".{0,20}".prop_map(|value| json!(value)),
    ];
    let nested = small.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(|items| json!(items)),
            proptest::collection::vec((key(), inner), 0..6)
                .prop_map(|members| json!(members.into_iter().collect::<serde_json::Map<_, _>>())),
        ]
    });
    prop_oneof![
        20 => nested,
        1 => (0..80_usize).prop_map(|levels| (0..levels).fold(json!(1), |value, _| json!([value]))),
        1 => (0..80_usize).prop_map(|levels| (0..levels).fold(json!(1), |value, _| json!({ "a": value }))),
        1 => (0..CANVAS_PATCH_BYTES_MAX).prop_map(|bytes| json!("x".repeat(bytes))),
        1 => (0..20_000_usize).prop_map(|items| json!(vec![0; items])),
    ]
}

/// An operation, at times one that no canvas takes.
fn operation() -> impl Strategy<Value = Value> {
    let names = ["add", "replace", "remove", "test", "move", "copy", "Add", ""];
    (proptest::sample::select(names.to_vec()), path(), path(), value()).prop_map(|(op, path, from, value)| match op {
        "remove" => json!({ "op": op, "path": path }),
        "move" | "copy" => json!({ "op": op, "path": path, "from": from }),
        "" => value,
        _ => json!({ "op": op, "path": path, "value": value }),
    })
}

fn start() -> Document {
    let document = json!({
        "blocks": { "b1": { "type": "text", "text": "one two", "order": "a0", "items": { "0": { "text": "x" } } } },
        "list": [1, [2], { "a": 3 }],
    });
    Document::read(&document.to_string()).unwrap()
}

fn holds(ops: &[Value], is_strict: bool, base: u64) -> Result<(), TestCaseError> {
    let Ok(ops) = Patch::read_ops(ops) else { return Ok(()) };
    let patch = Patch { op_id: "eve:1".into(), base, ops, is_strict };
    if patch.check().is_err() {
        return Ok(());
    }
    let document = start();
    let head = Head { document: &document, version: 2, before: Some(&document) };
    let Ok(accepted) = decide(head, "eve", &patch, &[]) else { return Ok(()) };
    prop_assert_eq!(accepted.document.check(), Ok(()));
    let text = accepted.document.text();
    prop_assert!(text.len() <= CANVAS_BYTES_MAX, "{} bytes", text.len());
    let has_prototype =
        ["__proto__", "constructor", "prototype"].iter().any(|key| text.contains(&format!("\"{key}\":")));
    prop_assert!(!has_prototype, "{text}");
    prop_assert_eq!(&Document::read(&text).unwrap(), &accepted.document, "it can be stored and read");
    prop_assert_eq!(&accepted.document.apply(&accepted.inverse).unwrap().document, &document);
    // What pages make of it.
    let blocks = outline::blocks(&accepted.document);
    prop_assert!(outline::markdown("Plan", &blocks).len() < 4 * CANVAS_BYTES_MAX);
    let back = operations(&accepted.document, &document);
    prop_assert!(back.len() <= CANVAS_OPS_MAX);
    prop_assert_eq!(&accepted.document.apply(&back).unwrap().document, &document);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]
    #[test]
    fn a_patch_of_any_shape_is_refused_or_applied_within_the_limits(
        ops in proptest::collection::vec(operation(), 1..12), is_strict in any::<bool>(), base in 0..4_u64
    ) {
        holds(&ops, is_strict, base)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000_000, ..ProptestConfig::default() })]
    #[test]
    #[ignore = "a million patches take minutes; run it in release mode before a release"]
    fn a_patch_of_any_shape_is_refused_or_applied_within_the_limits_a_million_times(
        ops in proptest::collection::vec(operation(), 1..12), is_strict in any::<bool>(), base in 0..4_u64
    ) {
        holds(&ops, is_strict, base)?;
    }
}
