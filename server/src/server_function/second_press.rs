//! The second press of browsers without scripts: a decision on many items is asked back once, as scripts do by the
//! words of the button.

use crate::{problem::Problem, web::Form};
use app::{
    FormState,
    inbox::{CONFIRMED, DecideMany, ONE_PRESS_MAX},
};
use domain::gate::Verdict;
use leptos::server_fn::ServerFn as _;
use wire::Code;

/// What a form that was pressed once asks back: why it is refused, and the state of its page, whose form says with the
/// next press that it was asked. `None` if it needs no second press, or has it.
pub fn second_press(path: &str, form: &Form) -> Option<(Problem, FormState)> {
    let count = form.below("items[").count();
    if path != DecideMany::PATH || count <= ONE_PRESS_MAX {
        return None;
    }
    let (word, effect) = match Verdict::parse(&form.text("decision"))? {
        Verdict::Approve => ("Approve", "items are approved"),
        Verdict::Respond => ("Answer", "questions get this answer"),
        Verdict::Deny => ("Deny", "items are denied"),
        Verdict::Edit => return None,
    };
    // Another selection or another button is asked back again.
    let confirmed = format!("{word} {count}");
    if form.text(CONFIRMED) == confirmed {
        return None;
    }
    let message = format!("Press the same button again: {count} {effect}.");
    let problem = Problem::field(Code::InvalidRequest, CONFIRMED, message);
    let mut state = form.refused(path, &problem);
    state.values.insert(CONFIRMED.to_owned(), confirmed);
    Some((problem, state))
}
