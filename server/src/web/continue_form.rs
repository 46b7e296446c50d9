//! The forms on the page of a session that waits: `/sessions/{id}/messages` and `/sessions/{id}/tool-results`.

use super::{
    form::Form,
    session::{PageQuery, read},
    shell::{PageRejection, Viewer, redirect_with_notice, refuse},
};
use crate::{extract::Id, problem::Problem, state::AppState};
use app::{
    FieldError, FormState,
    session::{self as ui, MESSAGE_FORM, OpensAt, RESULTS_FORM, result_field},
};
use axum::{
    Router,
    extract::State,
    response::{IntoResponse, Response},
    routing::post,
};
use domain::{id::SessionId, issue::Issue, limit::TOOL_RESULTS_MAX};
use ledger::{
    Error,
    session::{self, ToolResult, ToolResults},
    thread::{Message, message_session},
};
use serde_json::value::RawValue;
use wire::Code;

/// The message if another result of a call was recorded before this one.
const HAS_OTHER: &str = "One of these calls has another result by now. The form has what you typed.";

pub fn router() -> Router<AppState> {
    Router::new()
        .route("/sessions/{id}/messages", post(send_message))
        .route("/sessions/{id}/tool-results", post(send_results))
}

async fn send_message(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    let message = Message { text: form.text("text"), id: form.text("id").parse().ok() };
    match message_session(&state.ledger, &viewer.scope, id, message).await {
        Ok(_) => Ok(go_on(id, "message_sent")),
        Err(error) => {
            let problem = error.into();
            show_refused(&state, viewer, id, (form.refused(MESSAGE_FORM, &problem), problem)).await
        }
    }
}

async fn send_results(
    State(state): State<AppState>,
    viewer: Viewer,
    Id(id): Id<SessionId>,
    form: Form,
) -> Result<Response, PageRejection> {
    match supply(&state, &viewer, id, &form).await {
        Ok(()) => Ok(go_on(id, "results_sent")),
        Err(refused) => show_refused(&state, viewer, id, *refused).await,
    }
}

/// The state of a refused form, and why it is refused.
type Refused = Box<(FormState, Problem)>;

/// Supplies the results that were typed.
async fn supply(state: &AppState, viewer: &Viewer, id: SessionId, form: &Form) -> Result<(), Refused> {
    let (rows, results) = read_results(form).map_err(|wrong| unreadable(form, wrong))?;
    let supplied = session::supply_tool_results(&state.ledger, &viewer.scope, id, results).await;
    supplied.map(drop).map_err(|error| refused(form, error, &rows))
}

fn go_on(id: SessionId, notice: &str) -> Response {
    redirect_with_notice(&format!("/sessions/{id}"), notice).into_response()
}

/// The page with the typed text and what is wrong.
async fn show_refused(
    state: &AppState,
    viewer: Viewer,
    id: SessionId,
    (form, problem): (FormState, Problem),
) -> Result<Response, PageRejection> {
    // A caller who cannot see the session gets no page.
    let props = read(state, &viewer, id, PageQuery::default()).await?;
    // The form is above the transcript.
    let props = ui::Props { form, opens_at: OpensAt::Start, ..props };
    Ok(refuse(&problem, move || ui::page(&viewer.shell, props)).await)
}

/// Reads the results that were typed, with the rows that they are in. A row without a text is left out, unless it is an
/// error.
///
/// # Errors
/// One [`Issue`] at the control of each result that is not JSON and should be; one at the first if nothing was typed.
fn read_results(form: &Form) -> Result<(Vec<usize>, ToolResults), Vec<Issue>> {
    let (mut rows, mut results, mut wrong, mut is_missing) = (Vec::new(), Vec::new(), Vec::new(), false);
    for row in (0..TOOL_RESULTS_MAX).take_while(|row| form.has(&result_field(*row, "toolCallId"))) {
        let has = |part: &str| form.has(&result_field(row, part));
        let text = form.text(&result_field(row, "output"));
        if text.trim().is_empty() && !has("isError") {
            is_missing = true;
            continue;
        }
        match output_of(&text, has("json")) {
            Ok(output) => {
                let tool_call_id = form.text(&result_field(row, "toolCallId")).trim().to_owned();
                results.push(ToolResult { tool_call_id, tool_name: None, output, is_error: has("isError") });
                rows.push(row);
            }
            Err(why) => wrong.push(Issue::new(result_field(row, "output"), why)),
        }
    }
    if results.is_empty() && wrong.is_empty() {
        wrong.push(Issue::new(result_field(0, "output"), "Enter a result."));
    }
    let more = is_missing && !form.has("without_rest");
    if wrong.is_empty() { Ok((rows, ToolResults { results, more })) } else { Err(wrong) }
}

/// A result as JSON: as it was typed, or the text as a string.
fn output_of(text: &str, is_json: bool) -> Result<String, String> {
    if !is_json {
        return Ok(serde_json::Value::from(text).to_string());
    }
    match serde_json::from_str::<&RawValue>(text.trim()) {
        Ok(json) => Ok(json.get().to_owned()),
        Err(error) => Err(format!("This is not valid JSON (line {}). Correct it, or send it as text.", error.line())),
    }
}

/// The refusal of a form whose results cannot be read. They are named by their rows.
fn unreadable(form: &Form, wrong: Vec<Issue>) -> Refused {
    let problem = Error::Invalid(wrong).into();
    Box::new((form.refused(RESULTS_FORM, &problem), problem))
}

/// The refusal of results that the ledger does not take. It counts the results that were sent, the form its rows.
fn refused(form: &Form, error: Error, rows: &[usize]) -> Refused {
    let problem: Problem = error.into();
    let state = if problem.code() == Code::IdConflict {
        let errors = vec![FieldError { field: None, message: HAS_OTHER.to_owned() }];
        FormState { errors, ..form.state_without_errors(RESULTS_FORM) }
    } else {
        form.refused_in_rows(RESULTS_FORM, &problem, ("results", rows))
    };
    Box::new((state, problem))
}
