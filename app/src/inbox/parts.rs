//! Proposed values with parts whose schema is known: groups, rows, variants and free keys in place of JSON.

use super::{
    api::Decide,
    item_text::values,
    values::{Control, Row, edited_with},
};
use crate::{
    FieldError, FormState,
    render::to_html,
    schema_form::{Place, STEP, draw_member},
};
use domain::{
    issue::Issue,
    schema_form::{Fields, Form, NodeKind, draw, press, read, write},
};
use leptos::server_fn::ServerFn as _;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use wire::approval::ApprovalDetail;

/// Begin of the names of proposed values.
pub const VALUE: &str = "value";
/// What a value with parts says if the proposal has changed since the page was opened.
const CHANGED: &str = "The proposal has changed since this page was opened. Your changes of this value are not kept.";

/// The proposed values as a form of their schema.
#[derive(Debug, Clone, Copy)]
pub struct Proposed<'a> {
    /// Schema of the values.
    pub schema: &'a Value,
    /// What is proposed.
    pub values: &'a Map<String, Value>,
}

/// Values with parts as a page shows them.
#[derive(Debug, Clone, Default)]
pub struct Parts {
    /// The fields of a value as HTML, by the name of its row.
    pub html: BTreeMap<String, String>,
    /// Names of all fields, at which messages are shown.
    pub names: Vec<String>,
    /// Whether a text file can be chosen.
    pub takes_files: bool,
}

impl<'a> Proposed<'a> {
    const fn form(self) -> Form<'a> {
        Form::new(self.schema, VALUE)
    }

    /// The texts of the form for what is proposed, with one other value. Values that the schema does not name have no
    /// texts.
    fn texts(self, other: Option<(&str, &Value)>) -> Fields {
        let NodeKind::Object { members, .. } = draw(self.form(), &Fields::default()).kind else {
            return Fields::default();
        };
        let named = |key: &str| members.iter().any(|member| member.key == key);
        let own = self.values.iter().filter(|(key, _)| named(key));
        let mut own: Map<String, Value> = own.map(|(key, value)| (key.clone(), value.clone())).collect();
        if let Some((key, value)) = other {
            own.insert(key.to_owned(), value.clone());
        }
        write(self.form(), &Value::Object(own))
    }

    /// Whether the value of a row is shown in fields: its schema has several, and they can hold it.
    fn has_parts(self, row: &Row, texts: &Fields) -> bool {
        let NodeKind::Object { members, .. } = draw(self.form(), texts).kind else { return false };
        members.iter().any(|member| {
            let kind = &member.kind;
            member.name == row.name
                && matches!(
                    kind,
                    NodeKind::Object { .. } | NodeKind::Map(_) | NodeKind::Rows { .. } | NodeKind::Variants { .. }
                )
        })
    }

    /// Renders the rows of JSON that have fields. `form` is that of the approval, and `is_outdated` says that it was
    /// rendered for an earlier proposal.
    pub fn draw(self, rows: &[Row], form: &FormState, is_outdated: bool) -> Parts {
        let (mut parts, start) = (Parts::default(), self.texts(None));
        let place = Place { scope: "gate", label: "Value", target: Decide::PATH, nothing: "", keeps_rows: true };
        for row in rows.iter().filter(|row| row.control == Control::Json && self.has_parts(row, &start)) {
            let mut state = form.clone();
            let sent = Fields::sent(&row.name, form.values.iter().map(|(name, text)| (name.as_str(), text.as_str())));
            let typed = form.value(&row.name).and_then(|text| serde_json::from_str::<Value>(text).ok());
            let (mut texts, mut focus) = (start.clone(), String::new());
            if is_outdated && !sent.is_empty() {
                state.errors.push(FieldError { field: Some(row.name.clone()), message: CHANGED.to_owned() });
            } else if has_fields(&sent, &row.name) {
                texts = start.with(&row.name, sent);
                match press(self.form(), &mut texts, form.value(STEP).unwrap_or_default()) {
                    Ok(part) => focus = part,
                    Err(wrong) => {
                        let error = |Issue { field, message }: Issue| FieldError { field: Some(field), message };
                        state.errors.extend(wrong.into_iter().map(error));
                    }
                }
            } else if let Some(value) = typed {
                texts = self.texts(Some((&row.key, &value)));
            }
            if let Some(drawn) = draw_member(place, self.form(), &texts, (&state, &focus), &row.name) {
                parts.html.insert(row.name.clone(), to_html(drawn.html));
                parts.names.extend(drawn.names);
                parts.takes_files |= drawn.takes_files;
            }
        }
        parts
    }

    /// The value that was typed into the fields of a row; `None` if none of its fields was sent. What was left alone is
    /// the value `before`.
    ///
    /// # Errors
    /// One error for each field whose text cannot be read, with its name.
    pub fn typed(self, row: &Row, before: &Value, sent: &Fields) -> Option<Result<Value, Vec<FieldError>>> {
        let sent = sent.only(&row.name);
        if !has_fields(&sent, &row.name) {
            return None;
        }
        let member = |texts: &Fields| -> Result<Option<Value>, Vec<Issue>> {
            read(self.form(), texts).map(|value| value.and_then(|value| value.get(&row.key).cloned()))
        };
        Some(match member(&sent) {
            Ok(value) if member(&self.texts(None).only(&row.name)) == Ok(value.clone()) => Ok(before.clone()),
            Ok(value) => Ok(value.unwrap_or_default()),
            Err(wrong) => {
                let error = |Issue { field, message }: Issue| FieldError { field: Some(field), message };
                Err(wrong.into_iter().map(error).collect())
            }
        })
    }
}

/// The values to send with an approval, as [`edited_with`] returns them, of a form in which values with parts have
/// fields if the `schema` of the values is known.
///
/// # Errors
/// Those of [`edited_with`].
pub fn edited_parts(
    detail: &ApprovalDetail,
    schema: Option<&Value>,
    shown: Option<&str>,
    sent: &Fields,
) -> Result<Map<String, Value>, Vec<FieldError>> {
    let values = values(&detail.approval);
    let typed = |name: &str| sent.iter().find(|(other, _)| *other == name).map(|(_, text)| text.to_owned());
    edited_with(detail, shown, typed, |row, before| {
        Proposed { schema: schema?, values: &values }.typed(row, before, sent)
    })
}

/// Whether there are controls of parts, and not only the text of the whole value.
fn has_fields(sent: &Fields, name: &str) -> bool {
    sent.iter().any(|(other, _)| other != name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::{
        fixture::{detail, tool},
        values::rows,
    };
    use serde_json::json;

    fn schema() -> Value {
        let line = json!({"type": "object", "properties": {"sku": {"type": "string"}, "count": {"type": "integer"}}});
        json!({"type": "object", "properties": {"to": {"type": "string"}, "lines": {"type": "array", "items": line}}})
    }

    fn sent(texts: &[(&str, &str)]) -> Fields {
        Fields::sent(VALUE, texts.iter().copied())
    }

    #[test]
    fn rows_of_a_call_are_fields_and_what_is_left_alone_is_no_edit() {
        let input = json!({"to": "x", "other": {"a": 1}, "lines": [{"sku": "a"}, {"sku": "b"}]});
        let item = detail(tool(1, input.clone()));
        let (schema, values) = (schema(), input.as_object().unwrap().clone());
        let proposed = Proposed { schema: &schema, values: &values };
        let shown = proposed.draw(&rows(&item), &FormState::default(), false);
        let html = &shown.html["value.lines"];
        assert!(html.contains("name=\"value.lines.1.sku\""), "{html}");
        assert!(!html.contains("value=\"add:value.lines\""), "a list of objects keeps its rows: {html}");
        assert_eq!(shown.html.len(), 1, "a value without a schema stays JSON");
        let left = [
            ("value.lines.~rows", "2"),
            ("value.lines.0.sku", "a"),
            ("value.lines.0.count", ""),
            ("value.lines.1.sku", "b"),
            ("value.lines.1.count", ""),
        ];
        let edit = |texts: &[(&str, &str)]| edited_parts(&item, Some(&schema), None, &sent(texts));
        assert_eq!(edit(&left), Ok(Map::new()));
        let other = [&left[..3], &[("value.lines.1.sku", "c"), ("value.lines.1.count", "2")]].concat();
        let lines = json!([{"sku": "a"}, {"sku": "c", "count": 2}]);
        assert_eq!(edit(&other).map(Value::from), Ok(json!({"lines": lines})));
        let wrong = edit(&[&left[..4], &[("value.lines.1.count", "many")]].concat()).unwrap_err();
        assert_eq!(wrong[0].field.as_deref(), Some("value.lines.1.count"));
        let json = [("value.lines", "[]"), ("value.to", "x")];
        assert_eq!(edit(&json).map(Value::from), Ok(json!({"lines": []})), "the table of several items sends JSON");
    }

    #[test]
    fn a_button_changes_the_rows_of_a_value() {
        let input = json!({"lines": [{"sku": "a"}]});
        let item = detail(tool(1, input.clone()));
        let (schema, values) = (schema(), input.as_object().unwrap().clone());
        let proposed = Proposed { schema: &schema, values: &values };
        let sent = [("value.lines.~rows", "1"), ("value.lines.0.sku", "z"), (STEP, "add:value.lines")];
        let form = FormState {
            form: "approve".into(),
            values: sent.map(|(name, text)| (name.to_owned(), text.to_owned())).into(),
            errors: Vec::new(),
        };
        let html = &proposed.draw(&rows(&item), &form, false).html["value.lines"];
        assert!(html.contains("name=\"value.lines.1.sku\"") && html.contains("value=\"z\""), "{html}");
        let outdated = &proposed.draw(&rows(&item), &form, true).html["value.lines"];
        assert!(outdated.contains("value=\"a\"") && outdated.contains("not kept"), "{outdated}");
    }
}
