//! The texts of a form's page, and the ids of its controls.

use domain::{
    issue::Issue,
    view::{Condition, Field, Test, display_text},
};
use serde_json::Value;

/// What happened before the page was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// The draft was saved.
    Saved,
    /// The draft was saved in another tab or on another device since this page was shown.
    Elsewhere,
    /// The questions have changed since this page was shown.
    Changed,
    /// The limit of requests was reached.
    TooOften,
    /// A member's decision on the question can still be undone.
    Held,
}

impl Note {
    /// The text for people.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Saved => "Saved as a draft. You can close this page and go on later in this browser.",
            Self::Elsewhere => {
                "Your answers were changed in another tab or on another device. Below are the answers from this page. \
                 Submit or save them to replace the others, or open the form again to see the others."
            }
            Self::Changed => "The questions have changed since you opened the form. Check your answers.",
            Self::TooOften => "There were too many requests. Nothing is lost: wait a minute and try again.",
            Self::Held => {
                "This question is being decided, so your answers are not recorded yet. Submit them again in a moment."
            }
        }
    }

    /// Whether the page could not execute the request.
    pub const fn is_error(self) -> bool {
        !matches!(self, Self::Saved)
    }
}

/// The id of the first control of a field or of a rating's dimension. `name` is the key, or `key.dimension`.
pub fn control_id(name: &str) -> String {
    format!("f-{}", name.replace('.', "-"))
}

/// The message of the first issue of a control.
pub fn issue_of<'a>(issues: &'a [Issue], name: &str) -> Option<&'a str> {
    issues.iter().find(|issue| issue.field == name).map(|issue| issue.message.as_str())
}

/// The condition of a field in words, for a page without scripts.
pub fn condition_text(condition: &Condition, fields: &[Field]) -> Option<String> {
    let earlier = fields.iter().find(|field| field.key == condition.field)?;
    let quoted = |value: &Value| format!("“{}”", display_text(earlier, value));
    let label = &earlier.label;
    Some(match &condition.test {
        Test::Equals(value) => format!("Only if “{label}” is {}.", quoted(value)),
        Test::In(values) => {
            let values: Vec<_> = values.iter().map(quoted).collect();
            format!("Only if “{label}” is {}.", values.join(" or "))
        }
        Test::Filled(true) => format!("Only if “{label}” has an answer."),
        Test::Filled(false) => format!("Only if “{label}” has no answer."),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_condition_reads_as_a_sentence() {
        let fields: Vec<Field> = serde_json::from_value(json!([
            { "key": "ok", "label": "OK?", "type": "yes_no" },
            { "key": "a", "label": "?", "type": "short_text", "showIf": { "field": "ok", "equals": true } },
            { "key": "b", "label": "?", "type": "short_text", "showIf": { "field": "ok", "filled": false } },
        ]))
        .unwrap();
        let text = |at: usize| condition_text(fields[at].show_if.as_ref().unwrap(), &fields).unwrap();
        assert_eq!(text(1), "Only if “OK?” is “Yes”.");
        assert_eq!(text(2), "Only if “OK?” has no answer.");
    }

    #[test]
    fn a_control_has_one_id_for_its_label_and_the_summary() {
        assert_eq!(control_id("rate.tone"), "f-rate-tone");
    }
}
