//! JSON Schemas: checks schemas, and checks values against them.

use domain::{issue::Issue, limit::OUTPUT_ERRORS_MAX};
use jsonschema::{PatternOptions, ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value;

/// Compiles a schema. It cannot access the network or the disk. Patterns are matched in linear time, because
/// results come from untrusted programs.
fn validator(schema: &Value) -> Result<Validator, String> {
    let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
    options.build(schema).map_err(|error| error.to_string())
}

/// Returns the error of a schema, if it is not usable. `field` is the path of the schema.
pub(crate) fn check_schema(schema: &Value, field: &str) -> Option<Issue> {
    let wrong = validator(schema).err()?;
    Some(Issue::new(field, format!("not a JSON Schema that can be used here: {wrong}")))
}

/// Returns where a result violates a schema.
pub(super) fn errors(schema: &Value, result: &Value) -> Vec<Issue> {
    schema_errors(schema, result, "result")
}

/// Returns where a value violates a schema, as paths that begin with `root`.
pub(crate) fn schema_errors(schema: &Value, result: &Value, root: &str) -> Vec<Issue> {
    found(schema, result, root, |_, path| path)
}

/// Does the same as [`schema_errors`], but appends the name of a missing property to the path, so that a form
/// shows the error at that field.
pub(crate) fn form_errors(schema: &Value, result: &Value, root: &str) -> Vec<Issue> {
    found(schema, result, root, |kind, path| match kind {
        ValidationErrorKind::Required { property: Value::String(name) } => format!("{path}.{name}"),
        _ => path,
    })
}

/// Returns where a value violates a schema: `root`, and the JSON Pointer of the part or of the missing property.
pub(crate) fn pointer_errors(schema: &Value, value: &Value, root: &str) -> Vec<Issue> {
    let validator = match validator(schema) {
        Ok(validator) => validator,
        Err(wrong) => return vec![Issue::new(root, format!("its schema cannot be used: {wrong}"))],
    };
    let errors = validator.iter_errors(value).flat_map(|error| match nearest(&error) {
        Some(found) => found.iter().map(|error| pointer_error(error, root)).collect(),
        None => vec![pointer_error(&error, root)],
    });
    errors.take(OUTPUT_ERRORS_MAX).collect()
}

fn pointer_error(error: &ValidationError<'_>, root: &str) -> Issue {
    let missing = match error.kind() {
        ValidationErrorKind::Required { property: Value::String(name) } => {
            format!("/{}", name.replace('~', "~0").replace('/', "~1"))
        }
        _ => String::new(),
    };
    Issue::new(format!("{root}{}{missing}", error.instance_path().as_str()), error.masked().to_string())
}

/// The errors of one variant, in place of the error that a value fulfils none of several: of a variant whose constants
/// and types it has, and among these of the one with the fewest errors.
fn nearest<'a>(error: &'a ValidationError<'_>) -> Option<&'a Vec<ValidationError<'static>>> {
    let (ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context }) = error.kind() else {
        return None;
    };
    let is_of_other = |error: &ValidationError<'static>| {
        matches!(
            error.kind(),
            ValidationErrorKind::Constant { .. } | ValidationErrorKind::Enum { .. } | ValidationErrorKind::Type { .. }
        )
    };
    let fitting = context.iter().filter(|errors| !errors.is_empty() && !errors.iter().any(is_of_other));
    fitting.min_by_key(|errors| errors.len())
}

fn found(
    schema: &Value,
    result: &Value,
    root: &str,
    at: impl Fn(&ValidationErrorKind, String) -> String,
) -> Vec<Issue> {
    let validator = match validator(schema) {
        Ok(validator) => validator,
        Err(wrong) => return vec![Issue::new("outputConfig.schema", wrong)],
    };
    let errors = validator.iter_errors(result).take(OUTPUT_ERRORS_MAX);
    errors
        .map(|error| {
            let path = path(root, result, error.instance_path().as_str());
            Issue::new(at(error.kind(), path), error.masked().to_string())
        })
        .collect()
}

/// Converts a JSON Pointer to the path format of other errors: `/entities/0/stage` becomes
/// `result.entities[0].stage`.
fn path(root: &str, result: &Value, pointer: &str) -> String {
    let mut path = String::from(root);
    let mut at = Some(result);
    for part in pointer.split('/').skip(1) {
        let key = part.replace("~1", "/").replace("~0", "~");
        match at {
            Some(Value::Array(list)) => {
                path.push_str(&format!("[{key}]"));
                at = key.parse::<usize>().ok().and_then(|index| list.get(index));
            }
            _ => {
                path.push_str(&format!(".{key}"));
                at = at.and_then(|value| value.get(&key));
            }
        }
    }
    path
}

/// Returns the property names that a schema declares for the result or, if `list` is given, for each item of
/// that list.
pub(super) fn declared<'a>(schema: Option<&'a Value>, list: Option<&str>) -> Vec<&'a str> {
    let properties = |schema: &'a Value| schema.get("properties");
    let top = schema.and_then(properties);
    let object = match list {
        None => top,
        Some(list) => top.and_then(|top| top.get(list)?.get("items")).and_then(properties),
    };
    object.and_then(Value::as_object).into_iter().flat_map(|object| object.keys().map(String::as_str)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_schema_is_checked_and_reaches_nothing_outside() {
        assert_eq!(check_schema(&json!({ "type": "object", "properties": { "a": { "type": "string" } } }), "s"), None);
        for bad in [
            json!({ "type": "strin" }),
            json!({ "$ref": "https://example.org/schema.json" }),
            json!({ "$ref": "file:///etc/passwd" }),
            json!({ "pattern": "(?=a)b" }),
            json!({ "required": "a" }),
        ] {
            let wrong = check_schema(&bad, "outputConfig.schema").unwrap_or_else(|| panic!("{bad} was accepted"));
            assert_eq!(wrong.field, "outputConfig.schema");
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        for schema in [json!({ "$ref": "#" }), json!({ "allOf": [{ "$ref": "#" }] })] {
            let _ = schema_errors(&schema, &json!({ "a": 1 }), "input");
        }
    }

    #[test]
    fn a_missing_field_of_a_form_is_named() {
        let schema = json!({ "required": ["week"], "properties": { "team": { "required": ["name"] } } });
        let mut fields: Vec<_> =
            form_errors(&schema, &json!({ "team": {} }), "input").into_iter().map(|error| error.field).collect();
        fields.sort();
        assert_eq!(fields, ["input.team.name", "input.week"]);
    }

    #[test]
    fn a_pointer_leads_to_the_part_or_to_what_is_missing() {
        let schema = json!({ "required": ["a/b"], "properties": { "list": { "items": { "type": "integer" } } } });
        let mut fields: Vec<_> = pointer_errors(&schema, &json!({ "list": [1, "x"] }), "input")
            .into_iter()
            .map(|error| error.field)
            .collect();
        fields.sort();
        assert_eq!(fields, ["input/a~1b", "input/list/1"]);
    }

    #[test]
    fn of_several_variants_the_errors_of_the_intended_one_are_named() {
        let variant = |kind: &str, key: &str| json!({ "required": ["kind", key], "properties": { "kind": { "const": kind }, key: { "type": "string" } } });
        let schema =
            json!({ "properties": { "pay": { "oneOf": [variant("card", "card"), variant("bank", "iban")] } } });
        let fields = |pay: Value| {
            let errors = pointer_errors(&schema, &json!({ "pay": pay }), "input");
            errors.into_iter().map(|error| error.field).collect::<Vec<_>>()
        };
        assert_eq!(fields(json!({ "kind": "bank" })), ["input/pay/iban"]);
        assert_eq!(fields(json!({ "kind": "cash" })), ["input/pay"]);
        assert!(fields(json!({ "kind": "card", "card": "4111" })).is_empty());
    }

    #[test]
    fn errors_say_where_a_result_breaks_its_schema() {
        let schema = json!({ "properties": { "entities": { "items": {
            "required": ["stage"], "properties": { "stage": { "enum": ["Won"] }, "a/b": { "type": "number" } } } } } });
        let result = json!({ "entities": [{ "stage": "Lost", "a/b": "x" }, {}] });
        let mut fields: Vec<_> = errors(&schema, &result).into_iter().map(|error| error.field).collect();
        fields.sort();
        assert_eq!(fields, ["result.entities[0].a/b", "result.entities[0].stage", "result.entities[1]"]);
        assert_eq!(errors(&schema, &json!({ "entities": [{ "stage": "Won" }] })), []);
        assert_eq!(declared(Some(&schema), None), ["entities"]);
        let mut items = declared(Some(&schema), Some("entities"));
        items.sort_unstable();
        assert_eq!(items, ["a/b", "stage"]);
        assert!(declared(None, None).is_empty());
    }
}
