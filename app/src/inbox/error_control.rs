//! The control of an item's form at which an error is shown.

use super::{
    answer_form::{ANSWER, AnswerForm, answer_texts, question_names},
    api::Fields,
    control_name::control_name,
    values::rows,
};
use domain::{
    gate::Verdict,
    schema_form::{Form, place_of_path},
};
use wire::approval::ApprovalDetail;

/// The control at which an error is shown, and a text about the place inside of it, such as `line 3, street: `; empty
/// if the error is about all of it. A refusal names a value by its path in the output, the arguments or the answer. Any
/// other name stays as it is; an answer that has no control leads to no name. `sent` are the fields of the form.
pub fn place_of_error(item: &ApprovalDetail, verdict: Verdict, sent: &Fields, path: &str) -> (String, String) {
    let is_answer = verdict == Verdict::Respond && path.starts_with("value");
    match AnswerForm::of(&item.approval) {
        AnswerForm::Free if is_answer => (ANSWER.to_owned(), String::new()),
        AnswerForm::Schema(schema) if is_answer => place_of_path(Form::new(&schema, ANSWER), &answer_texts(sent), path),
        AnswerForm::Questions(fields) if is_answer => (question_control(&question_names(&fields), path), String::new()),
        _ => (control_of(item, path), String::new()),
    }
}

fn first(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or_default()
}

/// The control of a question of a form; empty if the form has none.
fn question_control(names: &[String], path: &str) -> String {
    let path = path.strip_prefix("value.").unwrap_or_default();
    let of_key = control_name(ANSWER, first(path));
    let of_part = control_name(ANSWER, path);
    // An error of a rating without a dimension is shown at its first.
    let below = names.iter().find(|name| name.starts_with(&format!("{of_key}."))).cloned().unwrap_or_default();
    [of_part, of_key, below].into_iter().find(|name| names.contains(name)).unwrap_or_default()
}

/// The control of a value that is proposed, at which an error is shown. Any other name stays as it is.
pub fn control_of(item: &ApprovalDetail, path: &str) -> String {
    let rows = rows(item);
    if rows.iter().any(|row| row.name == path) {
        return path.to_owned();
    }
    let key = first(["value.", "result."].iter().find_map(|prefix| path.strip_prefix(prefix)).unwrap_or(path));
    rows.into_iter().find(|row| row.key == key).map_or_else(|| path.to_owned(), |row| row.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::{
        api::Typed,
        fixture::{detail, output, question, raw},
    };
    use serde_json::json;

    #[test]
    fn an_error_leads_to_the_control_of_its_value() {
        let item = detail(output(1, json!({"stage": "Won", "a[b]": 1})));
        let of = |path| place_of_error(&item, Verdict::Approve, &Fields::new(), path).0;
        assert_eq!(["stage", "value.stage", "result.stage[0].x"].map(of), ["value.stage"; 3]);
        assert_eq!(of("value.a%5Bb%5D"), "value.a%5Bb%5D");
        assert_eq!(["note", "value.other"].map(of), ["note", "value.other"]);
    }

    #[test]
    fn an_error_of_an_answer_leads_to_its_field() {
        let of = |item: &ApprovalDetail, sent: &Fields, path: &str| place_of_error(item, Verdict::Respond, sent, path);
        let none = Fields::new();
        assert_eq!(of(&detail(question(1)), &none, "value").0, "answer");
        let mut asked = question(1);
        let stops = json!({"type": "array", "items": {"type": "object", "properties": {"city": {"type": "string"}}}});
        let schema = json!({"properties": {"days": {"type": "integer"}, "stops": stops}});
        asked.task = raw(&json!({"kind": "question", "question": {"message": "Which?", "schema": schema}}));
        let asked = detail(asked);
        assert_eq!(of(&asked, &none, "value.days").0, "answer.days");
        assert_eq!(of(&asked, &none, "value.other"), ("answer".to_owned(), "other: ".to_owned()));
        let rows = Fields::from([("answer.stops.~rows".to_owned(), Typed::Once("2".to_owned()))]);
        assert_eq!(of(&asked, &rows, "value.stops[1].city").0, "answer.stops.1.city");
    }
}
