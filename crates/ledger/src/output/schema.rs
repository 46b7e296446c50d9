//! JSON Schemas: checks schemas, and checks values against them.

use domain::{
    issue::Issue,
    json_pointer::{escaped, unescaped},
    limit::{OUTPUT_ERRORS_MAX, SCHEMA_STEPS_MAX},
    schema_steps::is_check_within,
};
use jsonschema::{PatternOptions, ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value;

/// Compiles a schema. It cannot access the network or the disk. Patterns are matched in linear time, because
/// results come from untrusted programs.
fn validator(schema: &Value) -> Result<Validator, String> {
    let options = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
    options.build(schema).map_err(|error| error.to_string())
}

/// Why a value is not checked against a schema, if so: some schemas take longer than anyone waits, and other writers
/// may wait for the check.
fn refuse_long_check(schema: &Value, value: &Value, root: &str) -> Option<Issue> {
    (!is_check_within(schema, value, SCHEMA_STEPS_MAX))
        .then(|| Issue::new(root, format!("the schema takes more than {SCHEMA_STEPS_MAX} steps to check this value")))
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
fn schema_errors(schema: &Value, result: &Value, root: &str) -> Vec<Issue> {
    let issue = |error: &ValidationError<'_>| {
        Issue::new(path(root, result, error.instance_path().as_str()), error.masked().to_string())
    };
    if let Some(refused) = refuse_long_check(schema, result, root) {
        return vec![refused];
    }
    match validator(schema) {
        Ok(validator) => validator.iter_errors(result).take(OUTPUT_ERRORS_MAX).map(|error| issue(&error)).collect(),
        Err(wrong) => vec![unusable(wrong)],
    }
}

/// Returns where a value that was typed into a form violates a schema, as paths that begin with `root`. The path of a
/// missing property has its name, so that a form shows the error at that field. Of a value that fulfils none of several
/// variants, the errors are those of the variant that it seems to be.
pub(crate) fn form_errors(schema: &Value, result: &Value, root: &str) -> Vec<Issue> {
    let issue = |error: &ValidationError<'_>| {
        let path = path(root, result, error.instance_path().as_str());
        let at = match error.kind() {
            ValidationErrorKind::Required { property: Value::String(name) } => format!("{path}.{name}"),
            _ => path,
        };
        Issue::new(at, error.masked().to_string())
    };
    if let Some(refused) = refuse_long_check(schema, result, root) {
        return vec![refused];
    }
    match validator(schema) {
        Ok(validator) => of_variants(&validator, result, issue),
        Err(wrong) => vec![unusable(wrong)],
    }
}

fn unusable(wrong: String) -> Issue {
    Issue::new("outputConfig.schema", wrong)
}

/// The errors of a value, with those of the nearest variant in the place of an error about several.
fn of_variants(validator: &Validator, value: &Value, issue: impl Fn(&ValidationError<'_>) -> Issue) -> Vec<Issue> {
    let errors = validator.iter_errors(value).flat_map(|error| match nearest(&error) {
        Some(found) => found.iter().map(&issue).collect(),
        None => vec![issue(&error)],
    });
    errors.take(OUTPUT_ERRORS_MAX).collect()
}

/// Returns where a value violates a schema: `root`, and the JSON Pointer of the part or of the missing property.
pub(crate) fn pointer_errors(schema: &Value, value: &Value, root: &str) -> Vec<Issue> {
    let validator = match validator(schema) {
        Ok(validator) => validator,
        Err(wrong) => return vec![Issue::new(root, format!("its schema cannot be used: {wrong}"))],
    };
    if let Some(refused) = refuse_long_check(schema, value, root) {
        return vec![refused];
    }
    of_variants(&validator, value, |error| pointer_error(error, root))
}

fn pointer_error(error: &ValidationError<'_>, root: &str) -> Issue {
    let missing = match error.kind() {
        ValidationErrorKind::Required { property: Value::String(name) } => {
            format!("/{}", escaped(name))
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

/// Converts a JSON Pointer to the path format of other errors: `/entities/0/stage` becomes
/// `result.entities[0].stage`.
fn path(root: &str, result: &Value, pointer: &str) -> String {
    let mut path = String::from(root);
    let mut at = Some(result);
    for part in pointer.split('/').skip(1) {
        let key = unescaped(part);
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
    fn a_schema_whose_references_double_is_not_checked() {
        let mut defs = serde_json::Map::new();
        for at in 0..40 {
            let next = json!({ "$ref": format!("#/$defs/{}", at + 1) });
            defs.insert(at.to_string(), json!({ "anyOf": [next, next] }));
        }
        defs.insert("40".to_owned(), json!({ "type": "integer" }));
        let schema = json!({ "$ref": "#/$defs/0", "$defs": defs });
        assert_eq!(check_schema(&schema, "inputSchema"), None);
        for found in [schema_errors(&schema, &json!("x"), "input"), pointer_errors(&schema, &json!("x"), "input")] {
            assert_eq!(found.len(), 1);
            assert!(found[0].field == "input" && found[0].message.contains("500000 steps"), "{found:?}");
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
    fn an_error_of_a_form_is_that_of_the_variant_whose_constants_the_value_has() {
        let variant = |kind: &str, key: &str| json!({ "type": "object", "required": ["kind", key], "properties": { "kind": { "const": kind } } });
        let schema =
            json!({ "properties": { "pay": { "oneOf": [variant("card", "number"), variant("bank", "iban")] } } });
        let wrong = form_errors(&schema, &json!({ "pay": { "kind": "bank" } }), "value");
        let fields: Vec<_> = wrong.iter().map(|error| error.field.as_str()).collect();
        assert_eq!(fields, ["value.pay.iban"]);
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
