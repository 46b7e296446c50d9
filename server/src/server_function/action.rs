//! Running a task.

use super::Backend;
use crate::{problem::Problem, web::form::json_or_text, wire_map};
use app::{
    action::{input_typed, place_of_input_error},
    server_function::{Created, Refusal},
    trigger::{ActionBackend, TypedInput},
};
use async_trait::async_trait;
use ledger::action;
use wire::action::Action;

#[async_trait]
impl ActionBackend for Backend {
    async fn trigger(
        &self,
        action_id: String,
        input: TypedInput,
        idempotency_key: Option<String>,
    ) -> Result<Created, Refusal> {
        let id = self.answer(wire_map::parse_id("action_id", &action_id))?;
        let task = self.answer(action::get(&self.state.ledger, self.scope(), id).await.map(wire_map::action))?;
        let typed = input;
        let input = self.answer(read_input(&task, &typed))?;
        let idempotency_key = idempotency_key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let trigger = action::Trigger { input, idempotency_key, ..action::Trigger::default() };
        let triggered = action::trigger(&self.state.ledger, self.scope(), id, trigger).await;
        let at_control = |path: &str| place_of_input_error(&task, &typed, path);
        let session = self.answer(triggered.map_err(|error| Problem::from(error).with_places(at_control)))?;
        Ok(Created { id: session.id.to_string() })
    }
}

/// The input as JSON. Forms without a field for it, such as those of Today, give none.
fn read_input(task: &Action, typed: &TypedInput) -> Result<Option<String>, Problem> {
    match input_typed(task, typed) {
        Ok(Some(input)) => Ok(input),
        Ok(None) => Ok(typed.text().and_then(json_or_text)),
        Err(wrong) => Err(ledger::Error::Invalid(wrong).into()),
    }
}
