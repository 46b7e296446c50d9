//! /inbox/patches: suggestions for canvases that the viewer may accept or decline, one by one or several at once, and
//! decisions to undo.

use super::{
    canvas::{decision, notice},
    form::Form,
    people::people_of,
    shell::{PageRejection, Viewer, redirect_with_notice, render, render_or_refuse},
};
use crate::{problem::Problem, state::AppState, wire_map};
use app::{
    FieldError, FormState,
    canvas::rejected_words,
    inbox::{self as ui, DecidedPatch, PatchItem, PatchRefusal, PatchesProps},
};
use axum::{
    Router,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::get,
};
use domain::{
    canvas::{
        Document, SuggestionState,
        outline::{blocks, markdown},
    },
    chain::Digest,
    id::SessionId,
};
use ledger::{
    Error, Ledger, Scope,
    canvas::{
        self, DecidedSuggestion, Decision, Outcome, Preview, SuggestionDecision, SuggestionInbox, WaitingSuggestion,
    },
    memory::compare,
    page,
};

pub fn router() -> Router<AppState> {
    Router::new().route("/inbox/patches", get(show).post(decide))
}

async fn show(State(state): State<AppState>, viewer: Viewer) -> Result<Response, PageRejection> {
    let props = props(&state.ledger, &viewer.scope).await?;
    Ok(render(StatusCode::OK, move || ui::patches_page(&viewer.shell, &props)).await)
}

async fn props(ledger: &Ledger, scope: &Scope) -> Result<PatchesProps, Problem> {
    let SuggestionInbox { items, count, decided } = canvas::waiting(ledger, scope).await?;
    Ok(PatchesProps {
        items: items.into_iter().map(item).collect(),
        count,
        decided: decided.into_iter().map(decided_item).collect(),
        people: people_of(page::people(ledger, scope).await?),
        ..PatchesProps::default()
    })
}

fn item(WaitingSuggestion { session, record, preview }: WaitingSuggestion) -> PatchItem {
    let Preview { before, verdict, digest } = preview;
    let (lines, refused) = match verdict {
        Ok(accepted) => {
            let text = |document: &Document| markdown(&session.title, &blocks(document));
            (wire_map::memory_diff_lines(compare(&text(&before), &text(&accepted.document))), None)
        }
        Err((why, _)) => (Vec::new(), Some(rejected_words(why.reason))),
    };
    PatchItem {
        canvas: session.id,
        title: session.title,
        op_id: record.op_id,
        by: record.author,
        at: record.at,
        digest: digest.to_string(),
        lines,
        refused,
    }
}

fn decided_item(DecidedSuggestion { session, record }: DecidedSuggestion) -> DecidedPatch {
    DecidedPatch {
        canvas: session.id,
        title: session.title,
        op_id: record.op_id,
        by: record.author,
        at: record.decided_at.unwrap_or(record.at),
        is_accepted: record.state == SuggestionState::Accepted,
    }
}

/// A suggestion that a form names.
struct Named {
    canvas: SessionId,
    op_id: String,
    digest: Option<Digest>,
}

impl Named {
    fn read(canvas: &str, digest: &str, op_id: &str) -> ledger::Result<Self> {
        let canvas = canvas.parse().map_err(|_| Error::invalid("canvas", "the id of a canvas"))?;
        Ok(Self { canvas, op_id: op_id.to_owned(), digest: Digest::parse(digest) })
    }

    /// Reads [`PatchItem::key`].
    fn of_key(key: &str) -> ledger::Result<Self> {
        let mut parts = key.splitn(3, ' ');
        let mut next = || parts.next().unwrap_or_default();
        Self::read(next(), next(), next())
    }
}

/// What a refused form leaves on the page, and the problem that is its status.
struct Refused {
    form: FormState,
    refusals: Vec<PatchRefusal>,
    problem: Problem,
}

async fn decide(State(state): State<AppState>, viewer: Viewer, form: Form) -> Result<Response, PageRejection> {
    let step = form.text("decision");
    let done = match step.strip_suffix("-selected").and_then(decision) {
        Some(decision) if form.below(ui::PATCH).next().is_some() => {
            many(&state.ledger, &viewer.scope, decision, &form).await
        }
        _ => one(&state.ledger, &viewer.scope, &step, &form).await.map_err(|problem| refused_one(&form, problem)),
    };
    answer(&state, viewer, done).await
}

/// The form of one suggestion that was refused, named by the suggestion.
fn refused_one(form: &Form, problem: Problem) -> Box<Refused> {
    let name = ui::patch_form(&form.text("canvas"), &form.text("suggestion"));
    Box::new(Refused { form: form.refused(&name, &problem), refusals: Vec::new(), problem })
}

/// The page again: after a redirect, or with what was refused.
async fn answer(
    state: &AppState,
    viewer: Viewer,
    done: Result<&'static str, Box<Refused>>,
) -> Result<Response, PageRejection> {
    let Refused { form, refusals, problem } = match done {
        Ok(notice) => return Ok(redirect_with_notice("/inbox/patches", notice).into_response()),
        Err(refused) => *refused,
    };
    let props = PatchesProps { form, refusals, ..props(&state.ledger, &viewer.scope).await? };
    Ok(render_or_refuse(Some(&problem), move || ui::patches_page(&viewer.shell, &props)).await)
}

/// Accepts, declines or undoes one suggestion. Returns the notice of the page after it.
async fn one(ledger: &Ledger, scope: &Scope, step: &str, form: &Form) -> Result<&'static str, Problem> {
    let decided = decision(step);
    if decided.is_none() && step != "undo" {
        return Err(Error::invalid("decision", "Select at least one suggestion.").into());
    }
    let named = Named::read(&form.text("canvas"), &form.text("digest"), &form.text("suggestion"))?;
    match decided {
        Some(decision) => settle(ledger, scope, named, (decision, form.optional("reason"))).await.map(|()| "decided"),
        None => undone_notice(canvas::undo_decision(ledger, scope, named.canvas, named.op_id).await?),
    }
}

/// The notice after a decision was undone: a declined suggestion waits again.
fn undone_notice(outcome: Outcome) -> Result<&'static str, Problem> {
    match outcome {
        Outcome::Suggested(_) => Ok("decision_undone"),
        patched @ (Outcome::Committed(_) | Outcome::Rejected { .. }) => notice(patched),
    }
}

async fn settle(
    ledger: &Ledger,
    scope: &Scope,
    named: Named,
    (decision, reason): (Decision, Option<String>),
) -> Result<(), Problem> {
    let Named { canvas, op_id, digest } = named;
    if decision == Decision::Accept && digest.is_none() {
        return Err(Error::invalid("digest", "Only a suggestion that the page has shown can be accepted.").into());
    }
    let made = SuggestionDecision { reason, shown: digest, ..SuggestionDecision::new(op_id, decision) };
    notice(canvas::decide_suggestion(ledger, scope, canvas, made).await?).map(drop)
}

/// Decides what is selected, each on its own. The page names those that were refused, each with the reason, and keeps
/// them selected. The first refusal is its status.
async fn many(ledger: &Ledger, scope: &Scope, decision: Decision, form: &Form) -> Result<&'static str, Box<Refused>> {
    let mut results = Vec::new();
    for (_, key) in form.below(ui::PATCH) {
        let done = match Named::of_key(key) {
            Ok(named) => settle(ledger, scope, named, (decision, form.optional("reason"))).await,
            Err(error) => Err(error.into()),
        };
        results.push((key, done));
    }
    result_of(results, form)
}

/// The notice if all were decided, or else what the page says of the others.
fn result_of(results: Vec<(&str, Result<(), Problem>)>, form: &Form) -> Result<&'static str, Box<Refused>> {
    let all = results.len();
    let refused: Vec<_> = results.into_iter().filter_map(|(key, done)| Some((key, done.err()?))).collect();
    let refusals: Vec<_> = refused.iter().map(|(key, problem)| refusal(key, problem)).collect();
    let Some((_, problem)) = refused.into_iter().next() else { return Ok("decided") };
    let errors = vec![FieldError { field: None, message: summary(all - refusals.len(), refusals.len()) }];
    let form = FormState { errors, ..form.state_without_errors(ui::PATCH_BATCH) };
    Err(Box::new(Refused { form, refusals, problem }))
}

/// What became of several suggestions, in words.
fn summary(decided: usize, refused: usize) -> String {
    let all = decided + refused;
    match (decided, all) {
        (_, 1) => "The selected suggestion was not decided.".to_owned(),
        (0, _) => format!("None of the {all} selected suggestions was decided."),
        (1, _) => format!("1 of the {all} selected suggestions was decided, {refused} not."),
        _ => format!("{decided} of the {all} selected suggestions were decided, {refused} not."),
    }
}

fn refusal(key: &str, problem: &Problem) -> PatchRefusal {
    let mut parts = key.splitn(3, ' ');
    let (canvas, op_id) = (parts.next().unwrap_or_default(), parts.nth(1).unwrap_or_default());
    let wire = problem.to_wire(String::new());
    let message = wire.errors.into_iter().next().map(|error| error.message).or(wire.detail).unwrap_or(wire.title);
    PatchRefusal { form: ui::patch_form(canvas, op_id), op_id: op_id.to_owned(), message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_is_named_by_canvas_digest_and_an_id_with_spaces() {
        let canvas = "01890a5d-ac96-774b-bcce-b302099a8057";
        let named = Named::of_key(&format!("{canvas} {} an id: 1", "ab".repeat(32))).unwrap();
        assert_eq!((named.canvas.to_string(), named.op_id.as_str()), (canvas.to_owned(), "an id: 1"));
        assert_eq!(named.digest.map(|digest| digest.to_string()), Some("ab".repeat(32)));
        assert!(Named::of_key("x").is_err());
    }

    #[test]
    fn what_became_of_several_suggestions_is_counted() {
        for (decided, refused, words) in [
            (0, 1, "The selected suggestion was not decided."),
            (0, 2, "None of the 2 selected suggestions was decided."),
            (1, 1, "1 of the 2 selected suggestions was decided, 1 not."),
            (6, 1, "6 of the 7 selected suggestions were decided, 1 not."),
            (2, 38, "2 of the 40 selected suggestions were decided, 38 not."),
        ] {
            assert_eq!(summary(decided, refused), words);
        }
    }
}
