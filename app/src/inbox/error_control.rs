//! The control of an item's form at which an error is shown.

use super::{answer_form::AnswerForm, control_name::control_name, question::ANSWER, values::rows};
use domain::gate::Verdict;
use wire::approval::ApprovalDetail;

/// The control at which an error is shown: a refusal names a value by its path in the output, the arguments or the
/// answer. Any other name stays as it is; an answer that has no control leads to no name.
pub fn control_of(item: &ApprovalDetail, verdict: Verdict, path: &str) -> String {
    let first = |path: &str| path.split(['.', '[']).next().unwrap_or_default().to_owned();
    if verdict == Verdict::Respond && path.starts_with("value") {
        let names = AnswerForm::of(&item.approval).names();
        let path = path.strip_prefix("value.").unwrap_or_default();
        let of_key = control_name(ANSWER, &first(path));
        let of_part = control_name(ANSWER, path);
        // An error of a rating without a dimension is shown at its first.
        let below = names.iter().find(|name| name.starts_with(&format!("{of_key}."))).cloned().unwrap_or_default();
        let known = |name: &String| names.contains(name);
        return [of_part, of_key, below, ANSWER.to_owned()].into_iter().find(known).unwrap_or_default();
    }
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
    use crate::inbox::fixture::{detail, output, question, raw};
    use serde_json::json;

    #[test]
    fn an_error_leads_to_the_control_of_its_value() {
        let item = detail(output(1, json!({"stage": "Won", "a[b]": 1})));
        let of = |path| control_of(&item, Verdict::Approve, path);
        assert_eq!(["stage", "value.stage", "result.stage[0].x"].map(of), ["value.stage"; 3]);
        assert_eq!(of("value.a%5Bb%5D"), "value.a%5Bb%5D");
        assert_eq!(["note", "value.other"].map(of), ["note", "value.other"]);
    }

    #[test]
    fn an_error_of_an_answer_leads_to_its_field() {
        let free = detail(question(1));
        assert_eq!(control_of(&free, Verdict::Respond, "value"), "answer");
        let mut asked = question(1);
        let schema = json!({"properties": {"days": {"type": "integer"}}});
        asked.task = raw(&json!({"kind": "question", "question": {"message": "Which?", "schema": schema}}));
        let asked = detail(asked);
        assert_eq!(control_of(&asked, Verdict::Respond, "value.days"), "answer.days");
        assert_eq!(control_of(&asked, Verdict::Respond, "value.other"), "");
    }
}
