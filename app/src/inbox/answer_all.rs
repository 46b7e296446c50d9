//! One answer to several questions that are alike: a part of the selection, below the table that lists them.

use super::{
    answer_form::{ANSWER, AnswerForm, answer_controls},
    api::DecideMany,
};
use crate::{
    FormState,
    form_page::EntityOptions,
    schema_form::STEP,
    ui::{
        button::{Button, Look},
        popover::{Opens, Popover},
    },
};
use domain::gate::GateKind;
use leptos::{prelude::*, server_fn::ServerFn as _};
use wire::approval::Approval;

/// Whether one answer can be given to all of these: they are questions of one agent with the same text and the same
/// form, and the form can be filled in without the page of one of them.
pub fn takes_one_answer(items: &[&Approval]) -> bool {
    are_alike(items) && items.first().is_some_and(|first| AnswerForm::of(first).has_independent_fields())
}

/// Whether these are questions of one agent with the same text and the same form.
pub fn are_alike(items: &[&Approval]) -> bool {
    let is_question = |item: &&Approval| item.kind == GateKind::Question;
    let is_like = |pair: &[&Approval]| matches!(pair, [a, b] if a.similar_key == b.similar_key);
    items.iter().all(is_question) && items.windows(2).all(is_like)
}

/// The part that unfolds the answer for these items, of which [`takes_one_answer`] is true. `confirm` is what its
/// button says after the first press, if it needs a second one. `form` restores the typed text; `styles` is the address
/// of the styles of groups and rows.
pub fn answer_all(
    items: &[&Approval],
    group: &'static str,
    confirm: Option<String>,
    (form, styles): (&FormState, &str),
) -> impl IntoView + use<> {
    let count = items.len();
    // One is left of several if the others were answered and this one was refused.
    let (label, about) = match count {
        1 => ("Answer…", "The selected question gets this answer.".to_owned()),
        _ => (
            "Answer all…",
            format!("Each of the {count} selected questions gets this answer, as a decision of its own."),
        ),
    };
    let answer_form = items.first().map_or(AnswerForm::Free, |first| AnswerForm::of(first));
    let controls = answer_controls(&answer_form, form, (DecideMany::PATH, styles), &EntityOptions::new());
    let is_typed =
        form.values.iter().any(|(name, value)| (name.starts_with(ANSWER) || name == STEP) && !value.is_empty());
    view! {
        <Popover
            label=label title="Answer the selected questions (i)" shortcut="respond" group=group
            look=Look::Primary opens=Opens::InPlace decides=true open=is_typed
        >
            <p class="meta">{about}</p>
            {controls.html}
            <div>
                <Button look=Look::Primary name="decision" value="respond" attr:data-confirm=confirm title="Answer (Ctrl Enter)">
                    {format!("Answer {count}")}
                </Button>
            </div>
        </Popover>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{question, raw, tool};
    use serde_json::json;

    #[test]
    fn only_questions_that_are_alike_take_one_answer() {
        let items = [question(1), question(2), question(3)];
        let all: Vec<&Approval> = items.iter().collect();
        assert!(takes_one_answer(&all));
        assert!(takes_one_answer(&all[..1]), "the last of several, after it was refused");
        assert!(!takes_one_answer(&[]));
        let mut other = question(4);
        other.similar_key = "another text".into();
        assert!(!takes_one_answer(&[&items[0], &other]));
        let call = tool(5, json!({"to": "x"}));
        assert!(!takes_one_answer(&[&call, &call]), "a tool call is no question");
    }

    #[test]
    fn a_form_whose_questions_depend_on_records_or_answers_is_filled_in_on_its_own() {
        let of = |field: serde_json::Value| {
            let mut item = question(1);
            let fields = json!([{ "key": "ok", "label": "Fine?", "type": "yes_no" }, field]);
            item.task = raw(&json!({"kind": "question", "question": {"message": "?", "fields": fields}}));
            takes_one_answer(&[&item, &item.clone()])
        };
        assert!(of(json!({ "key": "why", "label": "Why?", "type": "short_text" })));
        let condition = json!({ "field": "ok", "equals": [false] });
        assert!(!of(json!({ "key": "why", "label": "Why?", "type": "short_text", "showIf": condition })));
        assert!(!of(json!({ "key": "who", "label": "Who?", "type": "entity", "entityType": "company" })));
    }
}
