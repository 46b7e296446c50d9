//! Private values that a composite tool would show.

use super::mapping::{Source, placeholders_of, source};
use crate::{
    issue::Issue,
    tool::{Composite, Definition, Step, json_template::placeholders},
};

/// Whether one JSON Pointer is the other, or is of a part of it.
fn is_in(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The places that private values of an input get by a placeholder: `of` is the pointer into the input, `place` that in
/// the template.
fn private_places(private: &[String], of: &str, place: &str) -> Vec<String> {
    let lands = |field: &String| {
        if is_in(of, field) {
            return Some(place.to_owned());
        }
        is_in(field, of).then(|| format!("{place}{}", &field[of.len()..]))
    };
    private.iter().filter_map(lands).collect()
}

/// Returns where a step puts private values of the run into fields that are not private in its tool, with paths below
/// `input`.
pub fn exposed(definition: &Definition, step: &Step, of_step: &Definition) -> Vec<Issue> {
    let private: Vec<String> = definition.private_pointers().map(Into::into).collect();
    let kept: Vec<String> = of_step.private_pointers().map(Into::into).collect();
    let mut issues = Vec::new();
    for placeholder in placeholders_of(step) {
        let Source::Input(of) = source(placeholder.source) else { continue };
        let places = private_places(&private, of, &placeholder.place);
        if places.iter().any(|place| !kept.iter().any(|field| is_in(place, field))) {
            let why = format!("`{}` is private, and this field is not in the tool `{}`", placeholder.source, step.tool);
            issues.push(Issue::new(format!("input{}", placeholder.place), why));
        }
    }
    issues
}

/// Returns where the result would show private values of the run.
pub(super) fn exposed_by_result(definition: &Definition, composite: &Composite) -> Vec<Issue> {
    let private: Vec<String> = definition.private_pointers().map(Into::into).collect();
    let shown = composite.result.iter().flat_map(placeholders).filter(|placeholder| match source(placeholder.source) {
        Source::Input(of) => !private_places(&private, of, &placeholder.place).is_empty(),
        Source::Step(_) | Source::Unknown => false,
    });
    let why = |source| format!("`{source}` is private, and a result is not");
    shown.map(|found| Issue::new(format!("result{}", found.place), why(found.source))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn definition(private: &[&str]) -> Definition {
        let step = json!({ "name": "a", "tool": "t" });
        let whole = json!({
            "name": "A", "kind": "composite", "composite": { "steps": [step] },
            "inputSchema": { "type": "object" }, "privateFields": private,
        });
        serde_json::from_value(whole).unwrap()
    }

    fn places(private: &[&str], input: Value, kept: &[&str]) -> Vec<String> {
        let step: Step = serde_json::from_value(json!({ "name": "a", "tool": "t", "input": input })).unwrap();
        exposed(&definition(private), &step, &definition(kept)).into_iter().map(|issue| issue.field).collect()
    }

    #[test]
    fn a_private_value_goes_only_to_private_fields() {
        let key = json!({ "x": "{/input/key}" });
        assert_eq!(places(&["key"], key.clone(), &["x"]), Vec::<String>::new());
        assert_eq!(places(&["key"], key.clone(), &["y"]), ["input/x"]);
        assert_eq!(places(&["keys"], key, &[]), Vec::<String>::new());
        // A part of a private value, and a whole with a private part.
        assert_eq!(places(&["key"], json!({ "x": "{/input/key/0}" }), &[]), ["input/x"]);
        assert_eq!(places(&["/a/b"], json!({ "x": "{/input/a}" }), &["/x/b"]), Vec::<String>::new());
        assert_eq!(places(&["/a/b"], json!({ "x": "{/input/a}" }), &["/x/c"]), ["input/x"]);
        assert_eq!(places(&["/a/b"], json!({ "x": "{/input/a}" }), &["x"]), Vec::<String>::new());
        assert_eq!(places(&["a"], json!("{/input}"), &["a"]), Vec::<String>::new());
        assert_eq!(places(&["a"], json!("{/input}"), &["b"]), ["input"]);
        assert_eq!(places(&["a"], json!({ "x": ["{/steps/a}"] }), &[]), Vec::<String>::new());
    }

    #[test]
    fn a_result_shows_no_private_value() {
        let definition = definition(&["key", "/a/b"]);
        for (result, shown) in [
            (json!({ "x": "{/input/key}" }), vec!["result/x"]),
            (json!("{/input}"), vec!["result", "result"]),
            (json!(["{/input/a}", "{/input/other}"]), vec!["result/0"]),
            (json!("{/steps/a}"), vec![]),
        ] {
            let composite = Composite { result: Some(result), ..definition.composite().unwrap().clone() };
            let mut found: Vec<_> =
                exposed_by_result(&definition, &composite).into_iter().map(|issue| issue.field).collect();
            found.dedup();
            let mut shown = shown;
            shown.dedup();
            assert_eq!(found, shown);
        }
    }
}
