//! The form fields of a tool's input, `input.KEY` for each property, and what is typed into them.

use crate::{
    FieldError,
    inbox::{FormField, schema_fields, typed_value},
    trigger::INPUT,
};
use domain::tool::Definition;

/// The fields of a tool's input.
pub(super) fn fields(definition: &Definition) -> Vec<FormField> {
    schema_fields(&definition.input_schema, (INPUT, |base, key| format!("{base}.{key}")), "Input")
}

/// The input that was typed, as JSON; `None` if nothing was.
///
/// # Errors
/// One error for each field whose text cannot be parsed, with the name of the field.
pub fn typed_input(
    definition: &Definition,
    typed: impl Fn(&str) -> Option<String>,
) -> Result<Option<String>, Vec<FieldError>> {
    Ok(typed_value(&fields(definition), typed)?.map(|value| value.to_string()))
}

/// The name of the field for a place in an input, such as `input/team/0`: that of the whole top-level member. The rest
/// of the place is returned too.
pub fn input_field(place: &str) -> (String, Option<&str>) {
    let Some(rest) = place.strip_prefix(INPUT).and_then(|rest| rest.strip_prefix('/')) else {
        return (place.to_owned(), None);
    };
    let (member, below) = rest.split_once('/').map_or((rest, None), |(member, below)| (member, Some(below)));
    (format!("{INPUT}.{}", member.replace("~1", "/").replace("~0", "~")), below)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_error_below_a_member_is_at_the_field_of_the_member() {
        assert_eq!(input_field("input/team"), ("input.team".to_owned(), None));
        assert_eq!(input_field("input/a~1b/0/c"), ("input.a/b".to_owned(), Some("0/c")));
        assert_eq!(input_field("input"), ("input".to_owned(), None));
        assert_eq!(input_field("slug"), ("slug".to_owned(), None));
    }

    #[test]
    fn what_is_typed_becomes_the_input() {
        let definition: Definition = serde_json::from_value(json!({
            "name": "Weather", "kind": "worker",
            "inputSchema": { "type": "object", "properties": { "days": { "type": "integer" } } },
        }))
        .unwrap();
        let typed =
            |text: &'static str| typed_input(&definition, move |name| (name == "input.days").then(|| text.to_owned()));
        assert_eq!(typed("3"), Ok(Some("{\"days\":3}".to_owned())));
        assert_eq!(typed("soon").unwrap_err()[0].field.as_deref(), Some("input.days"));
    }
}
