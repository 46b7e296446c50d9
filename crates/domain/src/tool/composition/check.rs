//! Checks of the steps that need no other rows. What the tools of the steps are is checked at publication.

use super::{
    mapping::{Source, source},
    private::exposed_by_result,
};
use crate::{
    issue::Issue,
    json_pointer::{is_pointer, unescaped},
    json_schema::ordinary,
    limit::{TOOL_RETRIES_MAX, TOOL_STEP_BACKOFF_SECONDS_MAX, TOOL_STEPS_MAX},
    slug::is_slug,
    tool::{Composite, Definition, Step, is_tool_slug, json_template::placeholders},
};
use serde_json::Value;

/// Returns every problem of the steps of a composite tool, with paths from `composite` on. Empty for other tools.
pub fn check(definition: &Definition) -> Vec<Issue> {
    let Some(composite) = definition.composite() else { return Vec::new() };
    let mut issues = Vec::new();
    if composite.steps.is_empty() || composite.steps.len() > TOOL_STEPS_MAX {
        issues.push(Issue::new("composite.steps", format!("1 to {TOOL_STEPS_MAX} steps")));
    } else {
        let properties = ordinary(&definition.input_schema, &definition.input_schema).members.remove("properties");
        let fields = properties.unwrap_or_default();
        for (index, step) in composite.steps.iter().enumerate() {
            let place = |issue: Issue| Issue::new(format!("composite.steps[{index}].{}", issue.field), issue.message);
            issues.extend(check_step(composite, index, step, &fields).into_iter().map(place));
        }
        if let Some(result) = &composite.result {
            check_template(&mut issues, "composite.result", result, (&composite.steps, &fields));
        }
        let shown = exposed_by_result(definition, composite).into_iter();
        issues.extend(shown.map(|issue| Issue::new(format!("composite.{}", issue.field), issue.message)));
    }
    issues
}

fn check_step(composite: &Composite, index: usize, step: &Step, fields: &Value) -> Vec<Issue> {
    let mut issues = Vec::new();
    let before = composite.steps.get(..index).unwrap_or_default();
    let is_before = |name: &str| before.iter().any(|step| step.name == name);
    if !is_slug(&step.name) {
        issues.push(Issue::new("name", "lower-case letters, digits and single inner hyphens"));
    } else if is_before(&step.name) {
        issues.push(Issue::new("name", "a step before it has this name"));
    }
    if !is_tool_slug(&step.tool) {
        issues.push(Issue::new("tool", "the slug of a tool"));
    }
    if step.version == Some(0) {
        issues.push(Issue::new("version", "a version from 1 on"));
    }
    for (at, name) in step.after.iter().enumerate() {
        if !is_before(name) {
            issues.push(Issue::new(format!("after[{at}]"), format!("there is no step `{name}` before this one")));
        } else if step.after.iter().take(at).any(|other| other == name) {
            issues.push(Issue::new(format!("after[{at}]"), "named twice"));
        }
    }
    if step.retries > TOOL_RETRIES_MAX {
        issues.push(Issue::new("retries", format!("0 to {TOOL_RETRIES_MAX}")));
    }
    if step.backoff_seconds > TOOL_STEP_BACKOFF_SECONDS_MAX {
        issues.push(Issue::new("backoffSeconds", format!("0 to {TOOL_STEP_BACKOFF_SECONDS_MAX} seconds")));
    }
    if let Some(input) = &step.input {
        let is_placeholder = placeholders(input).iter().any(|found| found.place.is_empty());
        if !input.is_object() && !is_placeholder {
            issues.push(Issue::new("input", "an object, or a placeholder for one such as `{/input}`"));
        }
        check_template(&mut issues, "input", input, (before, fields));
    }
    issues
}

/// Checks that each placeholder means a field of the input, or for the result of one of these steps.
fn check_template(issues: &mut Vec<Issue>, root: &str, template: &Value, (steps, fields): (&[Step], &Value)) {
    for found in placeholders(template) {
        let why = match source(found.source) {
            _ if !is_pointer(found.source) => {
                Some(format!("`{}` is not a JSON Pointer: write ~0 for ~ and ~1 for /", found.source))
            }
            Source::Unknown => Some(format!("`{}` begins with neither /input nor /steps/NAME", found.source)),
            Source::Step(name) => {
                let is_known = steps.iter().any(|step| step.name == name);
                (!is_known).then(|| format!("there is no step `{name}` before this place"))
            }
            Source::Input(below) => {
                let first = below.split('/').nth(1).map(unescaped);
                let missing = first.filter(|name| fields.get(name).is_none());
                missing.map(|name| format!("`{name}` is not a field of the input schema"))
            }
        };
        issues.extend(why.map(|why| Issue::new(format!("{root}{}", found.place), why)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::check_definition;
    use serde_json::json;

    fn refused(composite: Value) -> Vec<String> {
        let whole = json!({
            "name": "Trip", "kind": "composite", "composite": composite, "privateFields": ["key"],
            "inputSchema": { "type": "object", "properties": { "city": {}, "key": {} } },
        });
        let definition: Definition = serde_json::from_value(whole).unwrap();
        check_definition(&definition).into_iter().map(|issue| issue.field).collect()
    }

    fn of_step(more: Value) -> Vec<String> {
        let mut step = json!({ "name": "b", "tool": "t" });
        step.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let found = refused(json!({ "steps": [{ "name": "a", "tool": "t" }, step] }));
        found.into_iter().map(|field| field.replace("composite.steps[1].", "")).collect()
    }

    #[test]
    fn steps_are_few_and_each_has_its_name() {
        let steps = |count: usize| (0..count).map(|at| json!({ "name": format!("s{at}"), "tool": "t" }));
        for count in [1, 2, 7, TOOL_STEPS_MAX] {
            assert!(refused(json!({ "steps": steps(count).collect::<Vec<_>>() })).is_empty(), "{count}");
        }
        for count in [0, TOOL_STEPS_MAX + 1] {
            assert_eq!(refused(json!({ "steps": steps(count).collect::<Vec<_>>() })), ["composite.steps"], "{count}");
        }
        assert_eq!(of_step(json!({ "name": "a" })), ["name"]);
        assert_eq!(of_step(json!({ "name": "A b" })), ["name"]);
    }

    #[test]
    fn each_wrong_part_of_a_step_is_named() {
        for (part, place) in [
            (json!({ "tool": "new" }), "tool"),
            (json!({ "tool": "A" }), "tool"),
            (json!({ "version": 0 }), "version"),
            (json!({ "after": ["c"] }), "after[0]"),
            (json!({ "after": ["b"] }), "after[0]"),
            (json!({ "after": ["a", "a"] }), "after[1]"),
            (json!({ "retries": 11 }), "retries"),
            (json!({ "backoffSeconds": 3_601 }), "backoffSeconds"),
            (json!({ "input": [] }), "input"),
            (json!({ "input": "text" }), "input"),
            (json!({ "input": { "x": "{/input/town}" } }), "input/x"),
            (json!({ "input": { "x": "{/steps/b}" } }), "input/x"),
            (json!({ "input": { "x": ["{/steps/a~2}"] } }), "input/x/0"),
            (json!({ "input": { "x": "{/output}" } }), "input/x"),
        ] {
            assert_eq!(of_step(part.clone()), [place], "{part}");
        }
        for part in [
            json!({ "input": "{/input}" }),
            json!({ "input": "{/steps/a/request}" }),
            json!({ "input": { "x": "{/input/city/0}", "y": "{/steps/a}", "z": "{city}" } }),
            json!({ "after": ["a"], "retries": 10, "backoffSeconds": 3_600, "onFailure": "continue", "version": 2 }),
        ] {
            assert!(of_step(part.clone()).is_empty(), "{part}");
        }
    }

    #[test]
    fn a_result_uses_any_step_and_nothing_private() {
        let with = |result: Value| refused(json!({ "steps": [{ "name": "a", "tool": "t" }], "result": result }));
        assert!(with(json!({ "a": "{/steps/a/x}", "city": "{/input/city}" })).is_empty());
        assert_eq!(with(json!({ "a": "{/steps/c}" })), ["composite.result/a"]);
        assert_eq!(with(json!({ "a": "{/input/key}" })), ["composite.result/a"]);
    }
}
