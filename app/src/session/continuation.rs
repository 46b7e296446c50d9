//! The forms on the page of a session that waits: a message, or the results of custom tools.

use crate::{
    form::{FormState, row_number},
    render::static_html,
    text::json::{indented, readable},
    ui::{
        button::{Button, Look},
        field::{Choice, Field, Input, TextArea},
        notice::Refused,
        popover::Sheet,
    },
};
use domain::limit::{KEY_CHARS_MAX, THREAD_MESSAGE_CHARS_MAX, TOOL_RESULTS_MAX};
use leptos::{prelude::*, tachys::html::InertElement};
use std::iter;

/// Name of the form for a message.
pub const MESSAGE_FORM: &str = "message";
/// Name of the form for results.
pub const RESULTS_FORM: &str = "results";
/// Id of the forms on the page.
pub const CONTINUE: &str = "continue";

/// Longest input of a call on the page, bytes of its JSON; its event has the rest.
const INPUT_BYTES_MAX: usize = 4_000;
/// Most calls whose forms are open at the start.
const OPEN_MAX: usize = 3;

/// What the viewer can give a session that waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Offer {
    /// It waits for nothing that the viewer can give.
    #[default]
    Nothing,
    /// The text of a person, with which the agent continues.
    Message,
    /// Results of custom tools.
    Results,
}

/// A call of a custom tool that waits for its result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingCall {
    /// Id of the call.
    pub id: String,
    /// Name of the tool, if it is known.
    pub tool: Option<String>,
    /// What the tool is called with, as JSON.
    pub input: Option<String>,
}

/// The rows of the form for results: the calls that were typed for, in their places, then the others that wait. `None`
/// is a result whose call people name, because the log has no calls.
fn rows(calls: &[WaitingCall], form: &FormState) -> Vec<(Option<WaitingCall>, bool)> {
    let typed = form.values.keys().filter_map(|name| row_number("results", name)).max().map_or(0, |last| last + 1);
    let named = (0..typed.min(TOOL_RESULTS_MAX)).map(|row| form.value_or(&name(row, "toolCallId"), ""));
    let named: Vec<String> = named.collect();
    if calls.is_empty() && named.len() < 2 {
        return vec![(None, true)];
    }
    let mut rows: Vec<_> = named
        .iter()
        .map(|id| match calls.iter().find(|call| call.id == *id) {
            Some(call) => (Some(call.clone()), true),
            None => (Some(WaitingCall { id: id.clone(), tool: None, input: None }), false),
        })
        .collect();
    rows.extend(calls.iter().filter(|call| !named.contains(&call.id)).map(|call| (Some(call.clone()), true)));
    rows
}

/// Name of a control in a row of the form for results.
pub fn name(row: usize, part: &str) -> String {
    format!("results[{row}].{part}")
}

/// The form that the session waits for, and a refused one with the typed text, whatever the session waits for now.
/// `key` is the id of a message that is written now.
pub fn continuation_forms(
    session_id: &str,
    (offer, calls): (Offer, &[WaitingCall]),
    key: &str,
    form: &FormState,
) -> impl IntoView + use<> {
    let (message, results) = (form.of(MESSAGE_FORM), form.of(RESULTS_FORM));
    let with_message = offer == Offer::Message || message.is_refused();
    let with_results = offer == Offer::Results || results.is_refused();
    let message = with_message.then(|| message_form(session_id, key, &message));
    let results = with_results.then(|| results_form(session_id, calls, &results));
    let forms =
        (with_message || with_results).then(|| view! { <div id=CONTINUE class="continue">{message}{results}</div> });
    view! { <div class="fragment" data-awaits=awaited(offer, calls)>{forms}</div> }
}

/// What the forms are for, as one word for each thing that is awaited: while it is the same, an open page keeps its
/// forms.
fn awaited(offer: Offer, calls: &[WaitingCall]) -> String {
    match offer {
        Offer::Nothing => String::new(),
        Offer::Message => "message".to_owned(),
        Offer::Results => {
            let ids = calls.iter().map(|call| call.id.as_str());
            iter::once("results").chain(ids).collect::<Vec<_>>().join(" ")
        }
    }
}

fn message_form(session_id: &str, key: &str, form: &FormState) -> InertElement {
    let hint = "The agent continues with your message. It is recorded in the log.";
    let field = Field::new("text", "Message").hint(hint).required();
    static_html(view! {
        <Sheet summary="Send a message" open=true>
            <form class="form" method="post" action=format!("/sessions/{session_id}/messages") aria-label="Send a message">
                <Refused messages=form.general(&["text"])/>
                <input type="hidden" name="id" value=form.value_or("id", key)/>
                <TextArea scope="message" field=field chars_max=THREAD_MESSAGE_CHARS_MAX form=form/>
                <div class="form-actions"><Button look=Look::Primary>"Send"</Button></div>
            </form>
        </Sheet>
    })
}

fn results_form(session_id: &str, calls: &[WaitingCall], form: &FormState) -> InertElement {
    let rows = rows(calls, form);
    // The id of a call is a control only where people name it.
    let ids = rows.iter().enumerate().filter(|(_, (call, _))| call.is_none()).map(|(row, _)| name(row, "toolCallId"));
    let controls: Vec<String> = ids.chain((0..rows.len()).map(|row| name(row, "output"))).collect();
    let shown: Vec<&str> = controls.iter().map(String::as_str).collect();
    let count = rows.len();
    let words = if count == 1 { "Give the result of a tool" } else { "Give the results of tools" };
    let rest = (count > 1).then(|| {
        view! {
            <p class="meta">"While results are missing, the session keeps waiting."</p>
            <Choice name="without_rest" checked=form.value("without_rest").is_some()>
                "Continue without the results that are missing"
            </Choice>
        }
    });
    let is_open = count <= OPEN_MAX || form.is_refused();
    let rows = rows.into_iter().enumerate().map(|(row, (call, waits))| result_row(row, call, waits, form));
    let rows = rows.collect::<Vec<_>>();
    static_html(view! {
        <Sheet summary=words open=is_open>
            <form class="form" method="post" action=format!("/sessions/{session_id}/tool-results") aria-label=words>
                <Refused messages=form.general(&shown)/>
                {rows}
                {rest}
                <div class="form-actions"><Button look=Look::Primary>"Send"</Button></div>
            </form>
        </Sheet>
    })
}

/// The controls for one call.
fn result_row(row: usize, call: Option<WaitingCall>, waits: bool, form: &FormState) -> InertElement {
    let (id_name, output_name) = (name(row, "toolCallId"), name(row, "output"));
    let tool = call.as_ref().and_then(|call| call.tool.clone()).unwrap_or_else(|| "Tool".to_owned());
    let given = call.as_ref().and_then(|call| call.input.as_deref()).map(call_input);
    let id = match &call {
        Some(call) => view! { <input type="hidden" name=id_name value=call.id.clone()/> }.into_any(),
        None => {
            let hint = "The log has no call that waits. Enter the id that the agent knows it by.";
            let field = Field::new(&id_name, "Id of the call").hint(hint).required();
            view! { <Input scope="results" field=field chars_max=KEY_CHARS_MAX form=form/> }.into_any()
        }
    };
    let is_ticked = |part: &str| form.value(&name(row, part)).is_some();
    let call_id = call.map(|call| view! { " "<code class="meta">{call.id}</code> });
    let field = Field::new(&output_name, "Result");
    static_html(view! {
        <fieldset class="field call-result">
            <legend class="field-label"><span dir="auto">{tool}</span>{call_id}</legend>
            {id}
            {given}
            {(!waits).then(|| view! { <p class="meta">"The session does not wait for this result any more."</p> })}
            <TextArea scope="results" field=field form=form/>
            <div class="choices">
                <Choice name=name(row, "json") checked=is_ticked("json")>"The result is JSON"</Choice>
                <Choice name=name(row, "isError") checked=is_ticked("isError")>"It is an error"</Choice>
            </div>
        </fieldset>
    })
}

/// What the tool is called with.
fn call_input(json: &str) -> impl IntoView + use<> {
    let (text, is_cut) = indented(&readable(json), INPUT_BYTES_MAX);
    let cut = is_cut.then(|| view! { <p class="meta">"The rest is in the log."</p> });
    view! { <pre class="payload" tabindex="0" role="group" aria-label="Input of the call">{text}</pre>{cut} }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FieldError, render::to_html};

    fn calls(count: usize) -> Vec<WaitingCall> {
        let call =
            |n| WaitingCall { id: format!("c{n}"), tool: Some("build".into()), input: Some(r#"{"n":1}"#.into()) };
        (0..count).map(call).collect()
    }

    fn html(offer: (Offer, &[WaitingCall]), form: &FormState) -> String {
        to_html(continuation_forms("01935f00-0000-7000-8000-000000000051", offer, "k", form))
    }

    fn refused(form: &str, values: &[(&str, &str)], field: &str) -> FormState {
        FormState {
            form: form.into(),
            values: values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
            errors: vec![FieldError { field: Some(field.into()), message: "This is wrong.".into() }],
        }
    }

    #[test]
    fn each_waiting_call_has_its_name_its_input_and_controls() {
        for count in [1, 2, 7, 40] {
            let html = html((Offer::Results, &calls(count)), &FormState::default());
            assert_eq!(html.matches("<textarea").count(), count, "{count}");
            assert_eq!(html.matches("It is an error").count(), count);
            assert_eq!(
                html.matches("\n  &quot;n&quot;: 1").count() + html.matches("\n  \"n\": 1").count(),
                count,
                "{html}"
            );
            assert!(html.contains(&format!("name=\"results[{}].toolCallId\" value=\"c{}\"", count - 1, count - 1)));
            assert_eq!(html.contains("without_rest"), count > 1, "{count}");
            assert_eq!(html.contains("<details") && html.contains(" open"), count <= OPEN_MAX, "{count}");
        }
    }

    #[test]
    fn the_forms_say_what_they_are_for() {
        let awaits = |offer| {
            let html = html(offer, &FormState::default());
            html.split("data-awaits").nth(1).unwrap().split('>').next().unwrap().to_owned()
        };
        let same = |a, b| awaits(a) == awaits(b);
        let (two, one) = (calls(2), calls(1));
        assert!(
            same((Offer::Message, &[]), (Offer::Message, &[])) && same((Offer::Results, &two), (Offer::Results, &two))
        );
        assert!(
            !same((Offer::Results, &two), (Offer::Results, &one))
                && !same((Offer::Message, &[]), (Offer::Nothing, &[]))
        );
    }

    #[test]
    fn a_session_that_waits_for_nothing_of_the_viewer_has_no_form() {
        assert!(!html((Offer::Nothing, &[]), &FormState::default()).contains("<form"));
    }

    #[test]
    fn a_log_without_calls_asks_for_the_id_of_the_call() {
        let html = html((Offer::Results, &[]), &FormState::default());
        assert!(html.contains("Id of the call") && !html.contains("type=\"hidden\""), "{html}");
    }

    #[test]
    fn a_refused_form_keeps_what_was_typed_and_names_what_waits_no_more() {
        let typed = [
            ("results[0].toolCallId", "c1"),
            ("results[0].output", "{\"a\""),
            ("results[0].json", "on"),
            ("results[1].toolCallId", "gone"),
            ("results[1].output", "typed for it"),
            ("results[1].isError", "on"),
        ];
        let form = refused(RESULTS_FORM, &typed, "results[0].output");
        let html = html((Offer::Results, &calls(2)), &form);
        let order: Vec<_> = ["value=\"c1\"", "value=\"gone\"", "value=\"c0\""].map(|id| html.find(id).unwrap()).into();
        assert!(order.is_sorted(), "{html}");
        assert!(html.contains("typed for it") && html.contains("does not wait for this result any more"), "{html}");
        let ticked = |name: &str| html.split(name).nth(1).unwrap().split('>').next().unwrap().contains("checked");
        assert!(ticked("results[0].json") && !ticked("results[0].isError") && ticked("results[1].isError"), "{html}");
        let error = html.split("id=\"results-results[0].output-error\"").nth(1).unwrap();
        assert!(error.contains("This is wrong."), "{html}");
    }

    #[test]
    fn a_refused_message_keeps_its_text_and_its_id_after_the_session_has_gone_on() {
        let form = refused(MESSAGE_FORM, &[("text", "Go on."), ("id", "first")], "text");
        let html = html((Offer::Nothing, &[]), &form);
        assert!(html.contains("\nGo on.</textarea>") && html.contains("value=\"first\""), "{html}");
    }
}
