//! What steps get and return: templates over the input of the run and the results of steps.

use crate::{
    action::default_input,
    json_pointer::unescaped,
    tool::{
        Composite, Step,
        json_template::{Placeholder, fill, placeholders},
    },
};
use serde_json::{Map, Value};

/// First part of a pointer to the input of the run.
const INPUT: &str = "input";
/// First part of a pointer to the result of a step.
const STEPS: &str = "steps";

/// What a placeholder means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source<'a> {
    /// This part of the run's input, as a JSON Pointer.
    Input(&'a str),
    /// The result of the step with this name, or a part of it.
    Step(&'a str),
    /// Nothing that there is.
    Unknown,
}

/// Reads a pointer such as `/input/city` or `/steps/place/lat`.
pub(super) fn source(pointer: &str) -> Source<'_> {
    let rest = pointer.strip_prefix('/').unwrap_or(pointer);
    let (first, below) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
    match first {
        INPUT => Source::Input(below),
        STEPS => {
            let name = below.strip_prefix('/').unwrap_or_default();
            let name = name.split_once('/').map_or(name, |(name, _)| name);
            if name.is_empty() { Source::Unknown } else { Source::Step(name) }
        }
        _ => Source::Unknown,
    }
}

/// The placeholders of a step's input.
pub(super) fn placeholders_of(step: &Step) -> Vec<Placeholder<'_>> {
    step.input.as_ref().map(placeholders).unwrap_or_default()
}

/// The indexes of the steps that must end before a step begins, in their order.
pub(super) fn needed(composite: &Composite, index: usize) -> Vec<usize> {
    let Some(step) = composite.steps.get(index) else { return Vec::new() };
    let of_input = placeholders_of(step);
    let named = of_input.iter().filter_map(|placeholder| match source(placeholder.source) {
        Source::Step(name) => Some(unescaped(name)),
        Source::Input(_) | Source::Unknown => None,
    });
    let names: Vec<String> = named.chain(step.after.iter().cloned()).collect();
    let is_needed = |before: &Step| names.contains(&before.name);
    (0..index).filter(|before| composite.steps.get(*before).is_some_and(is_needed)).collect()
}

/// The input of a run and the results of its steps, from which templates are filled.
#[derive(Debug, Clone)]
pub struct Results(Map<String, Value>);

impl Results {
    /// Begins with the input of the run, private values included.
    pub fn of(input: Value) -> Self {
        Self(Map::from_iter([(INPUT.to_owned(), input), (STEPS.to_owned(), Value::Object(Map::new()))]))
    }

    /// Adds what a step returned.
    pub fn add(&mut self, name: &str, result: Value) {
        if let Some(Value::Object(steps)) = self.0.get_mut(STEPS) {
            steps.insert(name.to_owned(), result);
        }
    }
}

/// The input of a step. Placeholders without a value are left out. Without a template, it has the defaults of its
/// tool's schema.
pub fn step_input(step: &Step, input_schema: &Value, results: &Results) -> Value {
    match &step.input {
        Some(template) => fill(template, &results.0).unwrap_or_default(),
        None => Value::Object(default_input(input_schema)),
    }
}

/// The result of a run whose steps have ended.
pub fn result_of(composite: &Composite, results: &Results) -> Value {
    match (&composite.result, composite.steps.last()) {
        (Some(template), _) => fill(template, &results.0).unwrap_or_default(),
        (None, Some(last)) => results.0.get(STEPS).and_then(|steps| steps.get(&last.name)).cloned().unwrap_or_default(),
        (None, None) => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn composite(steps: Value) -> Composite {
        serde_json::from_value(steps).unwrap()
    }

    #[test]
    fn a_pointer_names_the_input_or_a_step() {
        assert_eq!(source("/input"), Source::Input(""));
        assert_eq!(source("/input/a/b"), Source::Input("/a/b"));
        assert_eq!(source("/steps/a/b"), Source::Step("a"));
        for unknown in ["/steps", "/steps/", "/inputs", "/", "/other/a"] {
            assert_eq!(source(unknown), Source::Unknown, "{unknown}");
        }
    }

    #[test]
    fn a_step_waits_for_what_it_uses() {
        let composite = composite(json!({ "steps": [
            { "name": "a", "tool": "t" },
            { "name": "b", "tool": "t", "input": { "x": "{/input/x}" } },
            { "name": "c", "tool": "t", "input": { "x": ["{/steps/a/0}"] }, "after": ["b"] },
            { "name": "d", "tool": "t", "input": { "x": "{/steps/c}", "y": "{/steps/a}" } },
        ] }));
        let needed: Vec<_> = (0..5).map(|index| needed(&composite, index)).collect();
        assert_eq!(needed, [vec![], vec![], vec![0, 1], vec![0, 2], vec![]]);
    }

    #[test]
    fn inputs_and_results_are_filled_from_what_there_is() {
        let composite = composite(json!({ "steps": [
            { "name": "a", "tool": "t" },
            { "name": "b", "tool": "t", "input": { "x": "{/input/x}", "y": ["{/steps/a/n}", "{/steps/z}"], "w": "{/no}" } },
        ] }));
        let mut results = Results::of(json!({ "x": { "deep": true } }));
        results.add("a", json!({ "n": 3 }));
        let schema = json!({ "properties": { "d": { "default": 1 } } });
        assert_eq!(step_input(&composite.steps[0], &schema, &results), json!({ "d": 1 }));
        assert_eq!(
            step_input(&composite.steps[1], &schema, &results),
            json!({ "x": { "deep": true }, "y": [3, null] })
        );
        assert_eq!(result_of(&composite, &results), Value::Null);
        results.add("b", json!("end"));
        assert_eq!(result_of(&composite, &results), json!("end"));
        let chosen = Composite { result: Some(json!({ "n": "{/steps/a/n}" })), ..composite };
        assert_eq!(result_of(&chosen, &results), json!({ "n": 3 }));
    }
}
