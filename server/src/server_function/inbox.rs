//! Deciding, undoing and snoozing items of the inbox.

use super::{Backend, arguments};
use crate::{
    problem::Problem,
    web::{unreadable, value_or_text},
    wire_map,
};
use app::{
    inbox::{self as ui, AnswerForm, Fields, InboxBackend, Items, TypedDecision, TypedSnooze, UndoOffer, item_field},
    server_function::Refusal,
};
use async_trait::async_trait;
use domain::{Timestamp, gate::Verdict, id::GateId, schema_form::Fields as SchemaFields, view::applicable};
use ledger::{
    gate::{self, NewDecision},
    inbox::{self, ItemId},
    page::inbox::ITEMS,
    work_queue::SnoozeChoice,
};
use serde_json::Value;
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
            self.answer(inbox::close(&self.state.ledger, self.scope(), id).await)?;
            return self.undo_offer().await;
        }
        let unknown = || Problem::field(Code::InvalidRequest, "decision", "approve, deny, respond or cancel");
        let verdict = self.answer(Verdict::parse(&typed.decision).ok_or_else(unknown))?;
        let verdict = if verdict == Verdict::Edit { Verdict::Approve } else { verdict };
        let (ledger, scope) = (&self.state.ledger, self.scope());
        let item = self.answer(inbox::get(ledger, scope, id).await)?;
        let schema = item.schema().cloned();
        let (id, item) = (item.id(), wire_map::inbox_item(item, ledger.now()));
        let sent = typed.fields.clone();
        let new = self.answer(decision_of_form((&item, schema.as_ref()), verdict, typed))?;
        let decided = inbox::decide(ledger, scope, id, new).await;
        let at_control = |path: &str| -> (String, String) {
            // The form names the parts of every answer as a gate does.
            let path = match (id, path.strip_prefix("content")) {
                (ItemId::Question(_), Some(rest)) => format!("value{rest}"),
                _ => path.to_owned(),
            };
            ui::place_of_error(&item, verdict, &sent, &path)
        };
        self.answer(decided.map_err(|error| Problem::from(error).with_places(at_control)))?;
        self.undo_offer().await
    }

    async fn decide_many(&self, typed: TypedDecision, items: Items) -> Result<Option<UndoOffer>, Refusal> {
        let verdict = Verdict::parse(&typed.decision).filter(|verdict| *verdict != Verdict::Edit);
        let unknown = || Problem::field(Code::InvalidRequest, "decision", "approve, deny or respond");
        let verdict = self.answer(verdict.ok_or_else(unknown))?;
        let items = self.answer(parse_items(items))?;
        let ids: Vec<_> = items.iter().map(|(id, _)| *id).collect();
        let decisions = if verdict == Verdict::Respond {
            self.one_answer(&typed.fields, items).await?
        } else {
            // The field of the reason is in the form also where "Approve" is pressed.
            let note = typed_text(typed.note).filter(|_| verdict == Verdict::Deny);
            let decision =
                |(id, digest)| Ok((id, NewDecision { verdict, value: None, note: note.clone(), digest: Some(digest) }));
            items.into_iter().map(decision).collect()
        };
        let decided = inbox::decide_many(&self.state.ledger, self.scope(), decisions).await;
        let refused = ids.into_iter().zip(decided).filter_map(|(id, decided)| Some((id, decided.err()?)));
        self.changed(refused.collect()).await
    }

    async fn questions_off(&self, id: String, fields: Fields) -> Result<Vec<String>, Refusal> {
        let id: GateId = self.answer(wire_map::parse_id("id", &id))?;
        let (ledger, scope) = (&self.state.ledger, self.scope());
        let item = wire_map::inbox_item(self.answer(inbox::get(ledger, scope, id).await)?, ledger.now());
        let AnswerForm::Questions(questions) = AnswerForm::of(&item.approval) else { return Ok(Vec::new()) };
        let answers = ui::typed_answers(&questions, |name| fields.get(name).map(ui::Typed::text));
        let on = applicable(&questions, &answers);
        let off = questions.iter().filter(|question| on.iter().all(|on| on.key != question.key));
        Ok(off.map(|question| question.key.clone()).collect())
    }

    async fn undo(&self, items: Items) -> Result<Option<UndoOffer>, Refusal> {
        self.each(items, |id| gate::undo(&self.state.ledger, self.scope(), id)).await
    }

    async fn snooze(&self, typed: TypedSnooze, items: Items) -> Result<Option<UndoOffer>, Refusal> {
        let until = self.answer(snooze_end(typed, self.state.ledger.now()))?;
        self.each(items, |id| gate::snooze_until(&self.state.ledger, self.scope(), id, until)).await
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

/// Decisions on several items, or why one of them was refused before.
type Decisions = Vec<Result<(GateId, NewDecision), Problem>>;

impl Backend {
    /// The decisions that give several questions one answer, which each checks against its own form. They have to be
    /// alike: what was typed answers the question that was read.
    async fn one_answer(&self, fields: &Fields, items: Vec<(GateId, String)>) -> Result<Decisions, Refusal> {
        let (ledger, scope) = (&self.state.ledger, self.scope());
        let mut read = Vec::with_capacity(items.len());
        for (id, digest) in items {
            let found = gate::get(ledger, scope, id).await.map(wire_map::approval_detail);
            read.push((id, digest, found.map_err(Problem::from)));
        }
        // One that cannot be read is refused on its own.
        let asked: Vec<_> = read.iter().filter_map(|(_, _, found)| Some(&found.as_ref().ok()?.approval)).collect();
        if !ui::are_alike(&asked) {
            return self.answer(Err(Problem::detailed(Code::InvalidRequest, NOT_ALIKE)));
        }
        let respond = |(id, digest, found): (GateId, String, Result<ApprovalDetail, Problem>)| {
            let typed = TypedDecision { digest: Some(digest), fields: fields.clone(), ..TypedDecision::default() };
            Ok((id, decision_of_form((&found?, None), Verdict::Respond, typed)?))
        };
        Ok(read.into_iter().map(respond).collect())
    }

    async fn undo_offer(&self) -> Result<Option<UndoOffer>, Refusal> {
        let held = self.answer(gate::held(&self.state.ledger, self.scope(), ITEMS).await)?;
        let held: Vec<_> = held.into_iter().map(wire_map::approval).collect();
        Ok(ui::undo_offer(&held, self.state.ledger.now()))
    }

    /// Changes items one after the other. Those that are refused do not keep the others from being changed. The
    /// problem has the code of the first and names each.
    async fn each<T, F>(&self, items: Items, change: impl Fn(GateId) -> F + Send) -> Result<Option<UndoOffer>, Refusal>
    where
        F: Future<Output = ledger::Result<T>> + Send,
    {
        let items = self.answer(parse_items(items))?;
        let mut refused = Vec::new();
        for (id, _) in items {
            if let Err(error) = change(id).await {
                refused.push((id, error.into()));
            }
        }
        self.changed(refused).await
    }

    /// What can be undone after items were changed, or the problem of those that were refused.
    async fn changed(&self, refused: Vec<(GateId, Problem)>) -> Result<Option<UndoOffer>, Refusal> {
        match refused_items(&refused) {
            Some(problem) => self.answer(Err(problem)),
            None => self.undo_offer().await,
        }
    }
}

/// The end of the snooze that was chosen; `None` if it ends now.
fn snooze_end(typed: TypedSnooze, now: Timestamp) -> Result<Option<Timestamp>, Problem> {
    let choice = match typed_text(typed.until).as_deref() {
        None => return Ok(None),
        Some("later") => SnoozeChoice::Later,
        Some("tomorrow") => SnoozeChoice::Tomorrow,
        Some("monday") => SnoozeChoice::Monday,
        Some("at") => SnoozeChoice::at(&typed_text(typed.at).unwrap_or_default())?,
        Some(_) => return Err(Problem::field(Code::InvalidRequest, "until", "later, tomorrow, monday or at")),
    };
    let timezone = typed_text(typed.timezone).unwrap_or_else(|| "UTC".to_owned());
    Ok(Some(choice.until(&timezone, now)?))
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

/// The decision that was asked for, on an item whose proposed values have this schema, if it is known. Whether an
/// approval with these values is an edit is decided by `gate::decide`.
fn decision_of_form(
    (item, schema): (&ApprovalDetail, Option<&Value>),
    verdict: Verdict,
    typed: TypedDecision,
) -> Result<NewDecision, Problem> {
    let TypedDecision { digest, note, fields, .. } = typed;
    let (digest, note) = (typed_text(digest), typed_text(note));
    let value = match verdict {
        Verdict::Approve | Verdict::Edit => {
            let texts: Vec<_> = fields.iter().map(|(name, typed)| (name.as_str(), typed.text())).collect();
            let sent = SchemaFields::sent(ui::VALUE, texts.iter().map(|(name, text)| (*name, text.as_str())));
            let edit = ui::edited_parts(item, schema, digest.as_deref(), &sent).map_err(unreadable)?;
            (!edit.is_empty()).then_some(Value::Object(edit))
        }
        Verdict::Deny => None,
        Verdict::Respond => {
            let answer = ui::typed_answer(&item.approval, &fields).map_err(ledger::Error::Invalid)?;
            answer.or_else(|| value_or_text(&fields.get(ui::ANSWER).map(ui::Typed::text).unwrap_or_default()))
        }
    };
    Ok(NewDecision { verdict, value, note, digest })
}

/// A text without surrounding space, with the line ends of every other text; `None` if it is empty.
fn typed_text(text: Option<String>) -> Option<String> {
    let text = text?.replace("\r\n", "\n").trim().to_owned();
    (!text.is_empty()).then_some(text)
}
