//! The proposed values of an item, one row each, and the edits that a reviewer typed. Form fields are named
//! `value.KEY`.

use super::{
    control_name::control_name,
    item_text::{field_text, task, values},
};
use crate::{FieldError, entity::Relations, session::Titles, text::label::slug_label};
use domain::{
    entity::{FIELD_TITLE, FieldDef},
    gate::{GateKind, GateState, values_to_send},
    typed_number::{two_meanings, typed_number},
};
use serde::Deserialize;
use serde_json::{Map, Value};
use wire::{Json, approval::ApprovalDetail};

/// Longer texts are read as several lines, and rendered as Markdown outside of tool calls; characters.
pub const LINE_CHARS_MAX: usize = 80;

/// The form control of a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Control {
    /// A one-line text input.
    SingleLine,
    /// A text area.
    MultiLine,
    /// A text input for a number.
    Number,
    /// A date input.
    Date,
    /// A list of options, `(value, label)`.
    Choice(Vec<(String, String)>),
    /// True, false or empty.
    Boolean,
    /// A text area for JSON: arrays and objects.
    Json,
}

/// One proposed value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Key in the output or the arguments.
    pub key: String,
    /// Name of the form field.
    pub name: String,
    /// Label of the field.
    pub label: String,
    /// The record's value: current for an open item, else at the time of the decision. Absent if the record has no
    /// such field or there is no record.
    pub now: Option<String>,
    /// The proposed value as text of its form field.
    pub proposed: String,
    /// The proposed value for display: a record by its title.
    pub display: String,
    /// The form control that edits it.
    pub control: Control,
    /// Whether the proposed value differs from the record's.
    pub changes: bool,
    /// The value that the agent staged, if a reviewer has proposed another one since.
    pub staged: Option<String>,
}

/// The parts of a field or dimension definition that the form needs.
#[derive(Deserialize)]
struct Definition {
    slug: String,
    name: Option<String>,
    #[serde(rename = "type", default)]
    kind: String,
    #[serde(default)]
    options: Vec<Choice>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Choice {
    Plain(String),
    #[serde(rename_all = "camelCase")]
    Full {
        value: String,
        label: Option<String>,
        #[serde(default)]
        hard_block: bool,
    },
}

fn definitions(all: &[Json]) -> Vec<Definition> {
    all.iter().filter_map(|json| serde_json::from_str(json.get()).ok()).collect()
}

/// Title and values of the record that an item is compared with: the current ones while it is open, else those at the
/// time of the decision.
pub fn record(detail: &ApprovalDetail) -> Option<(&str, &Map<String, Value>)> {
    match detail.approval.state {
        GateState::Open => detail.entity.as_ref().map(|entity| (entity.title.as_str(), &entity.fields)),
        _ => detail.entity_then.as_ref().map(|then| (then.title.as_str(), &then.fields)),
    }
}

/// The rows of an item: title, fields in the order of their type, dimensions, then values without a definition.
pub fn rows(detail: &ApprovalDetail) -> Vec<Row> {
    let proposed = values(&detail.approval);
    let staged = staged(detail);
    let (fields, dimensions) = (definitions(&detail.fields), definitions(&detail.dimensions));
    let record = record(detail);
    let mut keys: Vec<&str> = vec![FIELD_TITLE];
    keys.extend(fields.iter().chain(&dimensions).map(|known| known.slug.as_str()));
    keys.extend(proposed.keys().map(String::as_str));
    let mut rows: Vec<Row> = Vec::new();
    for key in keys {
        let Some(value) = proposed.get(key).filter(|_| !rows.iter().any(|row| row.key == key)) else { continue };
        let field = fields.iter().find(|known| known.slug == key);
        let known = field.or_else(|| dimensions.iter().find(|known| known.slug == key));
        let now = record.and_then(|(title, fields)| match (key, field) {
            (FIELD_TITLE, _) => Some(title.to_owned()),
            (_, Some(_)) => Some(fields.get(key).map(field_text).unwrap_or_default()),
            (_, None) => None,
        });
        let text = field_text(value);
        rows.push(Row {
            key: key.to_owned(),
            name: control_name("value", key),
            label: known.and_then(|known| known.name.clone()).unwrap_or_else(|| slug_label(key)),
            changes: now.as_ref().is_none_or(|now| *now != text),
            now,
            staged: staged.get(key).map(field_text).filter(|staged| *staged != text),
            control: control(known, value, &text),
            display: text.clone(),
            proposed: text,
        });
    }
    rows
}

/// Shows related records by title, and offers the records of the related type as options.
pub fn show_record_titles(rows: &mut [Row], detail: &ApprovalDetail, titles: &Titles, relations: &Relations) {
    let defs: Vec<FieldDef> = detail.fields.iter().filter_map(|json| serde_json::from_str(json.get()).ok()).collect();
    for row in rows {
        let title = |text: &String| titles.get(text).cloned();
        row.display = title(&row.proposed).unwrap_or_else(|| row.display.clone());
        row.now = row.now.take().map(|now| title(&now).unwrap_or(now));
        row.staged = row.staged.take().map(|staged| title(&staged).unwrap_or(staged));
        let def = defs.iter().find(|def| def.slug == row.key && row.control == Control::SingleLine);
        let offered =
            def.and_then(|def| relations.get(def.relation_type.as_ref()?)).filter(|offered| !offered.has_more);
        if let Some(offered) = offered {
            let mut options = vec![(String::new(), "—".to_owned())];
            options.extend(offered.options.iter().cloned());
            if !options.iter().any(|(id, _)| *id == row.proposed) {
                options.push((row.proposed.clone(), row.display.clone()));
            }
            row.control = Control::Choice(options);
        }
    }
}

fn staged(detail: &ApprovalDetail) -> Map<String, Value> {
    task(&detail.approval).and_then(|task| task.editable().cloned()).unwrap_or_default()
}

/// The JSON type takes precedence over the definition, because an edit must not change it.
fn control(known: Option<&Definition>, value: &Value, text: &str) -> Control {
    let kind = known.map_or("", |known| known.kind.as_str());
    match (value, kind) {
        (Value::Bool(_), _) => Control::Boolean,
        (Value::Number(_), _) | (Value::Null, "number" | "scale") => Control::Number,
        (Value::Array(_) | Value::Object(_), _) => Control::Json,
        (_, "select") => Control::Choice(options(known, text)),
        (_, "date") if text.is_empty() || text.parse::<chrono::NaiveDate>().is_ok() => Control::Date,
        _ if text.contains('\n') || text.chars().count() > LINE_CHARS_MAX => Control::MultiLine,
        _ => Control::SingleLine,
    }
}

fn options(known: Option<&Definition>, text: &str) -> Vec<(String, String)> {
    let mut options: Vec<(String, String)> = known
        .iter()
        .flat_map(|known| &known.options)
        .map(|choice| match choice {
            Choice::Plain(value) => (value.clone(), value.clone()),
            Choice::Full { value, label, hard_block } => {
                let label = label.as_ref().unwrap_or(value);
                (value.clone(), if *hard_block { format!("{label} (blocks)") } else { label.clone() })
            }
        })
        .collect();
    if !options.iter().any(|(value, _)| value.is_empty()) {
        options.insert(0, (String::new(), "—".to_owned()));
    }
    if !text.is_empty() && !options.iter().any(|(value, _)| value == text) {
        options.push((text.to_owned(), format!("{text} (not an option)")));
    }
    options
}

/// The values to send with an approval; empty if nothing differs from what is proposed. Parses the typed text and
/// leaves to [`values_to_send`] which values are sent. `typed` returns the text of a form field, or `None` if it was
/// not sent; `shown` is the digest that the form carries.
///
/// # Errors
/// One error for each field whose text cannot be parsed, with the name of the field.
pub fn edited(
    detail: &ApprovalDetail,
    shown: Option<&str>,
    typed: impl Fn(&str) -> Option<String>,
) -> Result<Map<String, Value>, Vec<FieldError>> {
    edited_with(detail, shown, typed, |_, _| None)
}

/// Does the same where `part` returns what was typed into the fields of a value with parts.
///
/// # Errors
/// Those of [`edited`], and those of `part`.
pub fn edited_with(
    detail: &ApprovalDetail,
    shown: Option<&str>,
    typed: impl Fn(&str) -> Option<String>,
    part: impl Fn(&Row, &Value) -> Option<Result<Value, Vec<FieldError>>>,
) -> Result<Map<String, Value>, Vec<FieldError>> {
    let (proposed, staged) = (values(&detail.approval), staged(detail));
    let is_call = detail.approval.kind == GateKind::Tool;
    let is_old = shown.is_some_and(|shown| shown != detail.approval.digest);
    let (mut values, mut wrong) = (Map::new(), Vec::new());
    for row in rows(detail) {
        let Some(before) = proposed.get(&row.key) else { continue };
        if let Some(read) = part(&row, before) {
            match read {
                Ok(value) => drop(values.insert(row.key, value)),
                Err(errors) => wrong.extend(errors),
            }
            continue;
        }
        let Some(text) = typed(&row.name) else { continue };
        if same_text(&text, &row.proposed) {
            values.insert(row.key, before.clone());
            continue;
        }
        match value(&row.control, text.trim_end_matches('\r'), before, is_call) {
            Ok(value) => drop(values.insert(row.key, value)),
            Err(message) => wrong.push(FieldError { field: Some(row.name), message }),
        }
    }
    if wrong.is_empty() { Ok(values_to_send(&staged, &proposed, &values, is_old)) } else { Err(wrong) }
}

/// Compares texts regardless of line endings: browsers send CRLF.
pub fn same_text(one: &str, other: &str) -> bool {
    let plain = |text: &str| text.replace("\r\n", "\n").replace('\r', "\n");
    plain(one) == plain(other)
}

fn value(control: &Control, text: &str, before: &Value, is_call: bool) -> Result<Value, String> {
    if text.trim().is_empty() {
        // An empty field clears a record's value. A string argument of a tool becomes an empty string, because its
        // type may not change.
        return Ok(if is_call && before.is_string() { Value::from("") } else { Value::Null });
    }
    match control {
        Control::SingleLine | Control::MultiLine | Control::Date | Control::Choice(_) => Ok(Value::from(text)),
        Control::Number => read_number(text),
        Control::Boolean => match text {
            "true" => Ok(true.into()),
            "false" => Ok(false.into()),
            _ => Err("Choose true or false.".to_owned()),
        },
        Control::Json => read_json(text),
    }
}

/// The number that was typed.
pub fn read_number(text: &str) -> Result<Value, String> {
    let message = || match two_meanings(text) {
        Some(both) => format!("Enter {both}."),
        None => "Enter a number.".to_owned(),
    };
    typed_number(text).map(Value::Number).ok_or_else(message)
}

/// The JSON that was typed.
pub fn read_json(text: &str) -> Result<Value, String> {
    serde_json::from_str(text).map_err(|error| format!("This is not valid JSON (line {}).", error.line()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        entity::Choices,
        inbox::fixture::{detail, output, raw, tool},
    };
    use serde_json::json;
    use std::collections::BTreeMap;

    fn deal() -> ApprovalDetail {
        let values = json!({
            "extra": "x", "risk": "low", "stage": "Won", "amount": 3, "closes": "2026-12-01",
            "title": "Acme", "note": null, "lines": [{"sku": 1}], "hot": true,
        });
        let mut detail = detail(output(1, values));
        detail.fields = vec![
            raw(&json!({"slug": "stage", "name": "Stage", "type": "select", "options": ["Lead", "Won"]})),
            raw(&json!({"slug": "amount", "name": "Amount", "type": "number"})),
            raw(&json!({"slug": "closes", "name": "Closes", "type": "date"})),
        ];
        detail.dimensions = vec![raw(&json!({
            "slug": "risk", "name": "Risk", "type": "select", "options": [{"value": "low", "label": "Low"}, {"value": "high", "hardBlock": true}],
        }))];
        let at = "2026-11-21T07:00:00Z".parse().unwrap();
        detail.entity = Some(wire::entity::Entity {
            id: "01935f00-0000-7000-8000-0000000000e1".parse().unwrap(),
            type_id: "01935f00-0000-7000-8000-000000000071".parse().unwrap(),
            type_slug: "deals".into(),
            title: "Acme".into(),
            fields: json!({"stage": "Lead", "amount": 3}).as_object().unwrap().clone(),
            version: 1,
            created_by: "system".into(),
            updated_by: "system".into(),
            created_at: at,
            updated_at: at,
            erased_at: None,
        });
        detail
    }

    fn typed(fields: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> + use<> {
        let fields: BTreeMap<String, String> =
            fields.iter().map(|(name, text)| (format!("value.{name}"), (*text).to_owned())).collect();
        move |name| fields.get(name).cloned()
    }

    #[test]
    fn rows_come_in_the_order_of_the_type_with_what_the_record_has_now() {
        let rows = rows(&deal());
        let keys: Vec<_> = rows.iter().map(|row| row.key.as_str()).collect();
        assert_eq!(keys[..5], ["title", "stage", "amount", "closes", "risk"]);
        assert_eq!(keys.len(), 9);
        let row = |key: &str| rows.iter().find(|row| row.key == key).unwrap();
        assert_eq!((row("stage").now.as_deref(), row("stage").changes), (Some("Lead"), true));
        assert_eq!((row("amount").now.as_deref(), row("amount").changes), (Some("3"), false));
        assert_eq!((row("closes").now.as_deref(), row("risk").now.as_deref()), (Some(""), None));
        assert_eq!((&row("closes").control, &row("lines").control), (&Control::Date, &Control::Json));
        assert_eq!((&row("hot").control, &row("note").control), (&Control::Boolean, &Control::SingleLine));
        let Control::Choice(options) = &row("risk").control else { unreachable!() };
        assert_eq!(options[1..], [("low".into(), "Low".into()), ("high".into(), "high (blocks)".into())]);
    }

    #[test]
    fn a_relation_is_shown_by_title_and_chosen_from_what_it_can_lead_to() {
        let mut detail = detail(output(1, json!({"parent": "id-2", "stage": "Won"})));
        detail.fields =
            vec![raw(&json!({"slug": "parent", "name": "Parent", "type": "relation", "relationType": "company"}))];
        let titles = Titles::from([("id-2".to_owned(), "Beta".to_owned())]);
        let choices = Choices { options: vec![("id-1".to_owned(), "Alpha".to_owned())], has_more: false };
        let mut rows = rows(&detail);
        show_record_titles(&mut rows, &detail, &titles, &Relations::from([("company".to_owned(), choices)]));
        assert_eq!(
            (rows[0].proposed.as_str(), rows[0].display.as_str(), rows[1].display.as_str()),
            ("id-2", "Beta", "Won")
        );
        let Control::Choice(options) = &rows[0].control else { unreachable!() };
        assert_eq!(options[1..], [("id-1".into(), "Alpha".into()), ("id-2".into(), "Beta".into())]);
    }

    #[test]
    fn untouched_forms_edit_nothing_whatever_the_line_ends() {
        let detail = detail(tool(1, json!({"body": "a\r\nb", "to": "x"})));
        assert_eq!(edited(&detail, None, typed(&[("body", "a\nb"), ("to", "x")])), Ok(Map::new()));
        assert_eq!(edited(&detail, None, typed(&[])), Ok(Map::new()));
    }

    #[test]
    fn typed_text_becomes_a_value_of_the_staged_type() {
        let edit = edited(
            &deal(),
            None,
            typed(&[("stage", "Lead"), ("amount", " 4,5 "), ("lines", "[{\"sku\": 2}]"), ("hot", "false")]),
        );
        let expected = json!({"stage": "Lead", "amount": 4.5, "lines": [{"sku": 2}], "hot": false});
        assert_eq!(edit.map(Value::from), Ok(expected));
        assert_eq!(edited(&deal(), None, typed(&[("closes", "")])).map(Value::from), Ok(json!({"closes": null})));
        let call = detail(tool(1, json!({"to": "x"})));
        assert_eq!(edited(&call, None, typed(&[("to", "")])).map(Value::from), Ok(json!({"to": ""})));
    }

    #[test]
    fn every_value_that_cannot_be_read_is_named() {
        let wrong = edited(&deal(), None, typed(&[("amount", "many"), ("lines", "[{"), ("hot", "maybe")])).unwrap_err();
        let mut named: Vec<_> = wrong.iter().filter_map(|error| error.field.as_deref()).collect();
        named.sort_unstable();
        assert_eq!(named, ["value.amount", "value.hot", "value.lines"]);
    }

    #[test]
    fn an_edit_on_top_of_anothers_proposal_names_what_differs_from_the_staged_values() {
        let mut detail = detail(output(1, json!({"amount": 3, "stage": "Won"})));
        detail.approval.proposed = Some(raw(&json!({"amount": 3, "stage": "Lost"})));
        assert_eq!(rows(&detail)[1].staged.as_deref(), Some("Won"));
        let edit = edited(&detail, None, typed(&[("amount", "4")]));
        assert_eq!(edit.map(Value::from), Ok(json!({"stage": "Lost", "amount": 4})));
        let back = edited(&detail, None, typed(&[("stage", "Won")]));
        assert_eq!(back.map(Value::from), Ok(json!({"stage": "Won"})));
        assert_eq!(edited(&detail, None, typed(&[("stage", "Lost")])), Ok(Map::new()), "it is an approval");
        let current = detail.approval.digest.clone();
        assert_eq!(edited(&detail, Some(&current), typed(&[("stage", "Lost")])), Ok(Map::new()));
    }

    #[test]
    fn a_form_that_is_sent_again_after_its_edit_was_recorded_is_that_edit() {
        let mut detail = detail(output(1, json!({"amount": 3, "stage": "Won"})));
        let shown = detail.approval.digest.clone();
        detail.approval.proposed = Some(raw(&json!({"amount": 4, "stage": "Won"})));
        detail.approval.digest = "f".repeat(64);
        let again = edited(&detail, Some(&shown), typed(&[("amount", "4"), ("stage", "Won")]));
        assert_eq!(again.map(Value::from), Ok(json!({"amount": 4})));
        // A form without fields only approves what was shown.
        assert_eq!(edited(&detail, Some(&shown), typed(&[])), Ok(Map::new()));
    }
}
