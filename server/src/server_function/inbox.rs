//! Deciding, undoing and snoozing items of the inbox.

use super::{Backend, arguments};
use crate::{
    problem::Problem,
    web::{unreadable, value_or_text},
    wire_map,
};
use app::{
    inbox::{self as ui, AnswerForm, Fields, InboxBackend, Items, TypedDecision, UndoOffer, item_field},
    server_function::Refusal,
};
use async_trait::async_trait;
use domain::{
    feedback_request::Outcome,
    gate::Verdict,
    id::{FeedbackRequestId, GateId},
    view::applicable,
};
use ledger::{
    feedback_request::{self, NewAnswer},
    gate::{self, NewDecision},
    page::inbox::ITEMS,
};
use serde_json::{Map, Value};
use std::future::Future;
use wire::{Code, FieldProblem, approval::ApprovalDetail};

#[async_trait]
impl InboxBackend for Backend {
    async fn decide(&self, id: String, typed: TypedDecision) -> Result<Option<UndoOffer>, Refusal> {
        let id = self.answer(wire_map::parse_id("id", &id))?;
        if typed.decision == CANCEL {
            // The form has a field for the reason of a denial. Its text would be lost.
            if typed_text(typed.note).is_some() {
                return self.answer(Err(Problem::field(Code::InvalidRequest, "note", CANCEL_WITH_REASON)));
            }
            return self.close_question(id).await;
        }
        let unknown = || Problem::field(Code::InvalidRequest, "decision", "approve, deny, respond or cancel");
        let verdict = self.answer(Verdict::parse(&typed.decision).ok_or_else(unknown))?;
        let verdict = if verdict == Verdict::Edit { Verdict::Approve } else { verdict };
        let item = match gate::get(&self.state.ledger, self.scope(), id).await {
            Err(ledger::Error::NotFound(_)) => {
                return self.answer_question(FeedbackRequestId(id.0), verdict, typed).await;
            }
            found => wire_map::approval_detail(self.answer(found)?),
        };
        let new = self.answer(decision_of_form(&item, verdict, typed))?;
        let decided = gate::decide(&self.state.ledger, self.scope(), id, new).await;
        let at_control = |path: &str| ui::control_of(&item, verdict, path);
        self.answer(decided.map_err(|error| Problem::from(error).with_field_names(at_control)))?;
        self.undo_offer().await
    }

    async fn decide_many(&self, typed: TypedDecision, items: Items) -> Result<Option<UndoOffer>, Refusal> {
        let verdict = Verdict::parse(&typed.decision).filter(|verdict| *verdict != Verdict::Edit);
        let unknown = || Problem::field(Code::InvalidRequest, "decision", "approve, deny or respond");
        let verdict = self.answer(verdict.ok_or_else(unknown))?;
        if verdict == Verdict::Respond {
            return self.answer_many(typed.fields, items).await;
        }
        // The field of the reason is in the form also where "Approve" is pressed.
        let note = typed_text(typed.note).filter(|_| verdict == Verdict::Deny);
        let (ledger, scope) = (&self.state.ledger, self.scope());
        let decide = |id, digest| {
            let new = NewDecision { verdict, value: None, note: note.clone(), digest: Some(digest) };
            gate::decide(ledger, scope, id, new)
        };
        self.each(items, decide).await
    }

    async fn questions_off(&self, id: String, fields: Fields) -> Result<Vec<String>, Refusal> {
        let id: GateId = self.answer(wire_map::parse_id("id", &id))?;
        let (ledger, scope) = (&self.state.ledger, self.scope());
        let item = match gate::get(ledger, scope, id).await {
            Err(ledger::Error::NotFound(_)) => {
                let asked = feedback_request::answerable(ledger, scope, FeedbackRequestId(id.0)).await;
                wire_map::open_question_detail(self.answer(asked)?, ledger.now())
            }
            found => wire_map::approval_detail(self.answer(found)?),
        };
        let AnswerForm::Questions(questions) = AnswerForm::of(&item.approval) else { return Ok(Vec::new()) };
        let answers = ui::typed_answers(&questions, |name| fields.get(name).map(ui::Typed::text));
        let on = applicable(&questions, &answers);
        let off = questions.iter().filter(|question| on.iter().all(|on| on.key != question.key));
        Ok(off.map(|question| question.key.clone()).collect())
    }

    async fn undo(&self, items: Items) -> Result<Option<UndoOffer>, Refusal> {
        self.each(items, |id, _| gate::undo(&self.state.ledger, self.scope(), id)).await
    }

    async fn snooze(&self, seconds: Option<String>, items: Items) -> Result<Option<UndoOffer>, Refusal> {
        let whole = |text: String| {
            text.parse().map_err(|_| Problem::field(Code::InvalidRequest, "seconds", "not a whole number of seconds"))
        };
        let seconds: Option<i64> = self.answer(typed_text(seconds).map(whole).transpose())?;
        self.each(items, |id, _| gate::snooze(&self.state.ledger, self.scope(), id, seconds)).await
    }
}

/// The decision that closes a question without an answer.
const CANCEL: &str = "cancel";

/// Why a question is not closed while a reason is typed.
const CANCEL_WITH_REASON: &str =
    "Closing without an answer sends no reason. Use Deny to send a reason, or clear it and close.";

/// Why several items do not get one answer.
const NOT_ALIKE: &str =
    "Only questions of one agent with the same text and the same form get one answer. Nothing was sent.";

impl Backend {
    /// Closes a question without an answer, whether or not a session waits for it.
    async fn close_question(&self, id: GateId) -> Result<Option<UndoOffer>, Refusal> {
        let (ledger, scope) = (&self.state.ledger, self.scope());
        let closed = match gate::cancel_question(ledger, scope, id).await {
            Err(ledger::Error::NotFound(_)) => {
                let new = NewAnswer { outcome: Outcome::Cancelled, answers: None, note: None };
                feedback_request::answer(ledger, scope, FeedbackRequestId(id.0), new).await.map(drop)
            }
            closed => closed,
        };
        self.answer(closed)?;
        self.undo_offer().await
    }

    /// Answers a question for which no session waits, or declines to.
    async fn answer_question(
        &self,
        id: FeedbackRequestId,
        verdict: Verdict,
        typed: TypedDecision,
    ) -> Result<Option<UndoOffer>, Refusal> {
        let (ledger, scope) = (&self.state.ledger, self.scope());
        let asked = self.answer(feedback_request::answerable(ledger, scope, id).await)?;
        let item = wire_map::open_question_detail(asked, ledger.now());
        let decision = self.answer(decision_of_form(&item, verdict, typed))?;
        let new = self.answer(new_answer(decision))?;
        // The form names the parts of an answer as that of a gate does.
        let at_control = |path: &str| {
            let path = path.strip_prefix("content").map_or_else(|| path.to_owned(), |rest| format!("value{rest}"));
            ui::control_of(&item, verdict, &path)
        };
        let answered = feedback_request::answer(ledger, scope, id, new).await;
        self.answer(answered.map_err(|error| Problem::from(error).with_field_names(at_control)))?;
        self.undo_offer().await
    }

    /// Gives several questions one answer, which each checks against its own form. They have to be alike: what was
    /// typed answers the question that was read.
    async fn answer_many(&self, fields: Fields, items: Items) -> Result<Option<UndoOffer>, Refusal> {
        let (ledger, scope) = (&self.state.ledger, self.scope());
        let mut asked = Vec::new();
        for (id, _) in self.answer(parse_items(items.clone()))? {
            // One that cannot be read is refused on its own below.
            if let Ok(found) = gate::get(ledger, scope, id).await {
                asked.push(wire_map::approval_detail(found).approval);
            }
        }
        if !ui::are_alike(&asked.iter().collect::<Vec<_>>()) {
            return self.answer(Err(Problem::detailed(Code::InvalidRequest, NOT_ALIKE)));
        }
        let respond = |id, digest| {
            let typed = TypedDecision { digest: Some(digest), fields: fields.clone(), ..TypedDecision::default() };
            async move {
                let item = wire_map::approval_detail(gate::get(ledger, scope, id).await?);
                let new = decision_of_form(&item, Verdict::Respond, typed)?;
                gate::decide(ledger, scope, id, new).await.map_err(Problem::from)
            }
        };
        self.each(items, respond).await
    }

    async fn undo_offer(&self) -> Result<Option<UndoOffer>, Refusal> {
        let held = self.answer(gate::held(&self.state.ledger, self.scope(), ITEMS).await)?;
        let held: Vec<_> = held.into_iter().map(wire_map::approval).collect();
        Ok(ui::undo_offer(&held, self.state.ledger.now()))
    }

    /// Changes items one after the other. Those that are refused do not keep the others from being changed. The
    /// problem has the code of the first and names each.
    async fn each<T, E, F>(
        &self,
        items: Items,
        change: impl Fn(GateId, String) -> F + Send,
    ) -> Result<Option<UndoOffer>, Refusal>
    where
        F: Future<Output = Result<T, E>> + Send,
        E: Into<Problem>,
    {
        let items = self.answer(parse_items(items))?;
        let mut refused = Vec::new();
        for (id, digest) in items {
            if let Err(error) = change(id, digest).await {
                refused.push((id, error.into()));
            }
        }
        match refused_items(&refused) {
            Some(problem) => self.answer(Err(problem)),
            None => self.undo_offer().await,
        }
    }
}

fn parse_items(items: Items) -> Result<Vec<(GateId, String)>, Problem> {
    if items.is_empty() {
        let why = "No item was selected, so nothing was changed. Select items first.";
        return Err(Problem::detailed(Code::InvalidRequest, why));
    }
    if items.len() > ITEMS as usize {
        return Err(Problem::detailed(Code::TooLarge, format!("at most {ITEMS} items at once")));
    }
    let parse = |(id, digest): (String, String)| {
        // `items=x` is read as a text under an empty key.
        if id.is_empty() {
            return Err(Problem::field(Code::InvalidRequest, "items", arguments::BY_KEY));
        }
        Ok((wire_map::parse_id(&item_field(&id), &id)?, digest))
    };
    items.into_iter().map(parse).collect()
}

fn refused_items(refused: &[(GateId, Problem)]) -> Option<Problem> {
    let (_, first) = refused.first()?;
    let error = |(id, problem): &(GateId, Problem)| {
        let problem = problem.to_wire(String::new());
        // The name of an argument says nothing beside an item.
        let argument = problem.errors.into_iter().next().map(|error| error.message);
        let message = argument.or(problem.detail).unwrap_or(problem.title);
        FieldProblem { field: item_field(&id.to_string()), message }
    };
    let errors: Vec<_> = refused.iter().map(error).collect();
    let detail = match errors.as_slice() {
        [one] => one.message.clone(),
        several => format!("{} items were refused", several.len()),
    };
    Some(Problem::fields(first.code(), Some(detail), errors))
}

/// The decision that was asked for. Whether an approval with these values is an edit is decided by `gate::decide`.
fn decision_of_form(item: &ApprovalDetail, verdict: Verdict, typed: TypedDecision) -> Result<NewDecision, Problem> {
    let TypedDecision { digest, note, fields, .. } = typed;
    let (digest, note) = (typed_text(digest), typed_text(note));
    let text = |name: &str| fields.get(name).map(ui::Typed::text);
    let value = match verdict {
        Verdict::Approve | Verdict::Edit => {
            let edit = ui::edited(item, digest.as_deref(), text).map_err(unreadable)?;
            (!edit.is_empty()).then_some(Value::Object(edit))
        }
        Verdict::Deny => None,
        Verdict::Respond => {
            let answer = ui::typed_answer(&item.approval, text).map_err(unreadable)?;
            answer.or_else(|| value_or_text(&text("answer").unwrap_or_default()))
        }
    };
    Ok(NewDecision { verdict, value, note, digest })
}

/// What a decision on a question means for the agent that asks.
fn new_answer(decision: NewDecision) -> Result<NewAnswer, Problem> {
    let NewDecision { verdict, value, note, .. } = decision;
    match verdict {
        Verdict::Deny => Ok(NewAnswer { outcome: Outcome::Declined, answers: None, note }),
        Verdict::Respond => {
            let answers = match value {
                Some(Value::Object(answers)) => answers,
                None => Map::new(),
                Some(_) => return Err(Problem::field(Code::InvalidRequest, ui::ANSWER, "an object with the answers")),
            };
            Ok(NewAnswer { outcome: Outcome::Answered, answers: Some(answers), note: None })
        }
        Verdict::Approve | Verdict::Edit => Err(Problem::field(Code::InvalidRequest, "decision", "deny or respond")),
    }
}

/// A text without surrounding space, with the line ends of every other text; `None` if it is empty.
fn typed_text(text: Option<String>) -> Option<String> {
    let text = text?.replace("\r\n", "\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}
