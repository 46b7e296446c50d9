//! Parts of templates that can never have a value: publication refuses them, because each run would lack them.

use super::mapping::{Source, placeholders_of, source};
use crate::{
    action::default_input,
    issue::Issue,
    json_schema::ordinary,
    tool::{
        Definition, Kinds, Step,
        json_template::{Placeholder, placeholders},
        kinds_at,
    },
};
use serde_json::Value;

/// Most placeholders of a template that are checked. Further ones count as possible.
const PLACEHOLDERS_MAX: usize = 1_000;

/// Finds the definition of the tool that the step with this name runs.
pub type ToolOfStep<'a> = &'a dyn Fn(&str) -> Option<&'a Definition>;

/// Returns what the input of a step can never have, with paths below `input`: values that nothing returns, or whose
/// kind the field does not take, and required fields that the template leaves out. What the schemas do not decide is
/// no problem.
pub fn unfilled(definition: &Definition, step: &Step, of_step: &Definition, tool_of: ToolOfStep<'_>) -> Vec<Issue> {
    let mut issues = Vec::new();
    for placeholder in placeholders_of(step).into_iter().take(PLACEHOLDERS_MAX) {
        let found = match kinds_of(definition, &placeholder, tool_of) {
            Ok(found) => found,
            Err(issue) => {
                issues.push(Issue::new(format!("input{}", placeholder.place), issue));
                continue;
            }
        };
        let taken = kinds_at(&of_step.input_schema, &placeholder.place);
        let why = if taken.is_empty() {
            format!("the input schema of the tool `{}` allows nothing here", step.tool)
        } else if (found & taken).is_empty() {
            let (found, taken) = (found.words(), taken.words());
            format!("`{}` is {found}, and the tool `{}` takes {taken}", placeholder.source, step.tool)
        } else {
            continue;
        };
        issues.push(Issue::new(format!("input{}", placeholder.place), why));
    }
    let missing = missing(step, &of_step.input_schema).into_iter();
    issues.extend(missing.map(|name| {
        Issue::new("input", format!("the tool `{}` needs `{name}`, which is not in this input", step.tool))
    }));
    issues
}

/// Returns the parts of the result of a composite tool that can never have a value, with paths below `result`.
pub fn unfilled_result(definition: &Definition, tool_of: ToolOfStep<'_>) -> Vec<Issue> {
    let template = definition.composite().and_then(|composite| composite.result.as_ref());
    let found = template.map(placeholders).unwrap_or_default().into_iter();
    let never = found.take(PLACEHOLDERS_MAX).filter_map(|placeholder| {
        let why = kinds_of(definition, &placeholder, tool_of).err()?;
        Some(Issue::new(format!("result{}", placeholder.place), why))
    });
    never.collect()
}

/// The kinds of values that a placeholder can have, or why it never has one.
fn kinds_of(definition: &Definition, placeholder: &Placeholder<'_>, tool_of: ToolOfStep<'_>) -> Result<Kinds, String> {
    // A part that is `null` is left out.
    let present = |schema: &Value, pointer: &str| kinds_at(schema, pointer) & !Kinds::NULL;
    match source(placeholder.source) {
        Source::Input(below) => {
            let found = present(&definition.input_schema, below);
            let why = || format!("the input schema allows nothing at `{}`", placeholder.source);
            if found.is_empty() { Err(why()) } else { Ok(found) }
        }
        Source::Step(name) => {
            let Some(tool) = tool_of(name) else { return Ok(Kinds::ALL) };
            let Some(schema) = &tool.output_schema else { return Ok(Kinds::ALL) };
            let found = present(schema, below_step(placeholder.source));
            let why =
                || format!("the output schema of the tool of step `{name}` allows nothing at `{}`", placeholder.source);
            if found.is_empty() { Err(why()) } else { Ok(found) }
        }
        Source::Unknown => Ok(Kinds::ALL),
    }
}

/// The JSON Pointer into the result of a step: what follows `/steps/NAME`.
fn below_step(pointer: &str) -> &str {
    pointer.match_indices('/').nth(2).map_or("", |(at, _)| &pointer[at..])
}

/// Names of fields that the tool of a step requires and that the step never gives.
fn missing(step: &Step, schema: &Value) -> Vec<String> {
    let members = ordinary(schema, schema).members;
    let Some(Value::Array(required)) = members.get("required") else { return Vec::new() };
    let given = match &step.input {
        Some(Value::Object(members)) => members.clone(),
        // A placeholder for the whole input.
        Some(_) => return Vec::new(),
        None => default_input(schema),
    };
    let required = required.iter().filter_map(Value::as_str);
    required.filter(|name| !given.contains_key(*name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn worker(input_schema: Value, output_schema: Value) -> Definition {
        let whole =
            json!({ "name": "T", "kind": "worker", "inputSchema": input_schema, "outputSchema": output_schema });
        serde_json::from_value(whole).unwrap()
    }

    /// The fields of what is refused of the second step, whose tool takes a city and a number of days.
    fn refused(input: Value, result: Value) -> Vec<String> {
        let first = worker(
            json!({ "type": "object" }),
            json!({ "type": "object", "additionalProperties": false, "properties": {
                "city": { "type": ["string", "null"] }, "days": { "type": "integer" }, "none": { "type": "null" } } }),
        );
        let second = worker(
            json!({ "type": "object", "additionalProperties": false, "required": ["city"], "properties": {
                "city": { "type": "string" }, "days": { "type": "integer" } } }),
            json!(true),
        );
        let whole = json!({ "name": "Trip", "kind": "composite",
            "inputSchema": { "type": "object", "properties": { "town": { "type": "string" } } },
            "composite": { "steps": [{ "name": "a", "tool": "first" }, { "name": "b", "tool": "second", "input": input }],
                "result": result } });
        let trip: Definition = serde_json::from_value(whole).unwrap();
        let tool_of = |name: &str| match name {
            "a" => Some(&first),
            "b" => Some(&second),
            _ => None,
        };
        let step = &trip.composite().unwrap().steps[1];
        let issues = unfilled(&trip, step, &second, &tool_of).into_iter().chain(unfilled_result(&trip, &tool_of));
        issues.map(|issue| issue.field).collect()
    }

    #[test]
    fn what_can_have_a_value_is_taken() {
        for input in [
            json!({ "city": "{/steps/a/city}", "days": "{/steps/a/days}" }),
            json!({ "city": "{/input/town}" }),
            json!({ "city": "Oslo" }),
            json!("{/steps/a}"),
        ] {
            assert!(
                refused(input.clone(), json!({ "of": ["{/steps/b/x/y}", "{/steps/a/city}"] })).is_empty(),
                "{input}"
            );
        }
    }

    #[test]
    fn what_never_has_a_value_is_named() {
        for (input, field) in [
            (json!({ "city": "{/steps/a/town}" }), "input/city"),
            (json!({ "city": "{/steps/a/city/0}" }), "input/city"),
            (json!({ "city": "{/steps/a/none}" }), "input/city"),
            (json!({ "city": "{/steps/a/days}" }), "input/city"),
            (json!({ "city": "{/input/town/name}" }), "input/city"),
            (json!({ "city": "Oslo", "at": "{/input/town}" }), "input/at"),
            (json!({ "days": 3 }), "input"),
        ] {
            assert_eq!(refused(input.clone(), Value::Null), [field], "{input}");
        }
        let city = json!({ "city": "Oslo" });
        assert_eq!(refused(city, json!({ "x": "{/steps/a/town}", "y": "{/steps/b}" })), ["result/x"]);
    }

    #[test]
    fn a_step_without_an_input_needs_defaults_of_required_fields() {
        let step: Step = serde_json::from_value(json!({ "name": "a", "tool": "t" })).unwrap();
        let schema = |field: Value| json!({ "type": "object", "required": ["city"], "properties": { "city": field } });
        assert_eq!(missing(&step, &schema(json!({}))), ["city"]);
        assert!(missing(&step, &schema(json!({ "default": "Oslo" }))).is_empty());
    }
}
