//! Running a task.

use super::Backend;
use crate::{
    problem::Problem,
    web::form::{json_or_text, unreadable},
    wire_map,
};
use app::{
    action::input_typed,
    server_function::{Created, Refusal},
    trigger::{ActionBackend, INPUT, TypedInput},
};
use async_trait::async_trait;
use domain::id::ActionId;
use ledger::action;

#[async_trait]
impl ActionBackend for Backend {
    async fn trigger(
        &self,
        action_id: String,
        input: TypedInput,
        idempotency_key: Option<String>,
    ) -> Result<Created, Refusal> {
        let id = self.answer(wire_map::parse_id("action_id", &action_id))?;
        let input = self.answer(self.read_input(id, &input).await)?;
        let idempotency_key = idempotency_key.map(|key| key.trim().to_owned()).filter(|key| !key.is_empty());
        let trigger = action::Trigger { input, idempotency_key, ..action::Trigger::default() };
        let session = self.answer(action::trigger(&self.state.ledger, self.scope(), id, trigger).await)?;
        Ok(Created { id: session.id.to_string() })
    }
}

impl Backend {
    /// The input as JSON. Forms without a field for it, such as those of Today, give none.
    async fn read_input(&self, id: ActionId, typed: &TypedInput) -> Result<Option<String>, Problem> {
        let action = action::get(&self.state.ledger, self.scope(), id).await?;
        match input_typed(&wire_map::action(action), |name| typed.text(name).map(str::to_owned)) {
            Ok(Some(input)) => Ok(input),
            Ok(None) => Ok(typed.text(INPUT).and_then(json_or_text)),
            Err(wrong) => Err(unreadable(wrong)),
        }
    }
}
