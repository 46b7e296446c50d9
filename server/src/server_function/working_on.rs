//! The picker, the recorder and the marker dialog.

use super::Backend;
use crate::{extract::parse_json, problem::Problem, web::active_of, wire_map};
use app::{
    server_function::Refusal,
    working_on::{Active, Marker, Task, Tasks, WorkingOnBackend},
};
use async_trait::async_trait;
use domain::action::ActionStatus;
use domain::event::Known;
use ledger::{
    action::{self, Assignee, ListActions, NewAction},
    event, human,
};
use serde_json::{
    json,
    value::{RawValue, to_raw_value},
};
use wire::Code;

/// Most tasks in one answer.
const TASKS_MAX: u32 = 200;

#[async_trait]
impl WorkingOnBackend for Backend {
    async fn active(&self) -> Result<Option<Active>, Refusal> {
        Ok(self.answer(human::active(&self.state.ledger, self.scope()).await)?.map(active_of))
    }

    async fn start(&self, task_id: String) -> Result<Active, Refusal> {
        let task_id = self.answer(wire_map::parse_id("task_id", &task_id))?;
        let started = self.answer(human::start(&self.state.ledger, self.scope(), task_id).await)?;
        Ok(active_of(human::Active { session: started.session, task: started.task }))
    }

    async fn stop(&self, session_id: String) -> Result<(), Refusal> {
        let session_id = self.answer(wire_map::parse_id("session_id", &session_id))?;
        self.answer(human::stop(&self.state.ledger, self.scope(), session_id).await).map(drop)
    }

    async fn create_task(&self, name: String, key: Option<String>) -> Result<Active, Refusal> {
        let assigned_to = self.scope().user_id();
        let new = NewAction { name: name.trim().to_owned(), assigned_to, ..NewAction::default() };
        let created = match key.filter(|key| !key.is_empty()) {
            Some(key) => action::create_once(&self.state.ledger, self.scope(), new, &key).await,
            None => action::create(&self.state.ledger, self.scope(), new).await,
        };
        let task = self.answer(created)?;
        let started = self.answer(human::start(&self.state.ledger, self.scope(), task.id).await)?;
        Ok(active_of(human::Active { session: started.session, task: started.task }))
    }

    async fn list_tasks(&self, name_contains: String) -> Result<Tasks, Refusal> {
        let wanted = ListActions {
            status: Some(ActionStatus::Active),
            assigned_to: Some(Assignee::Me),
            name_contains: Some(name_contains.trim().to_owned()).filter(|text| !text.is_empty()),
            limit: TASKS_MAX,
            ..ListActions::default()
        };
        let listed = self.answer(action::list(&self.state.ledger, self.scope(), wanted).await)?;
        let task = |action: ledger::ActionRecord| Task { id: action.id.to_string(), title: action.name };
        Ok(Tasks { has_more: listed.next_cursor.is_some(), tasks: listed.items.into_iter().map(task).collect() })
    }

    async fn record_events(&self, session_id: String, append: String) -> Result<(), Refusal> {
        let session_id = self.answer(wire_map::parse_id("session_id", &session_id))?;
        let append = self.answer(parse_json(append.as_bytes()))?;
        let append = wire_map::append(session_id, append);
        self.answer(event::append(&self.state.ledger, self.scope(), append).await).map(drop)
    }

    async fn add_marker(&self, marker: Marker) -> Result<(), Refusal> {
        let Marker { session_id, event_id, at, text } = marker;
        let session_id = self.answer(wire_map::parse_id("session_id", &session_id))?;
        let id = self.answer(wire_map::parse_id("event_id", &event_id))?;
        let happened = self.answer(at.parse().map_err(|error| unreadable("at", &error)))?;
        let new = event::NewEvent {
            id: Some(id),
            kind: Known::HumanMarker.as_str().to_owned(),
            role: None,
            content: self.answer(raw(&json!([{ "type": "text", "text": text }])))?.into(),
            metadata: self.answer(raw(&json!({ "at": at })))?.into(),
            thread_id: None,
            external_event_id: None,
            at: Some(happened),
        };
        let append = event::Append { session_id, attempt: None, events: vec![new] };
        self.answer(event::append(&self.state.ledger, self.scope(), append).await).map(drop)
    }
}

fn unreadable(field: &str, error: &chrono::ParseError) -> Problem {
    Problem::field(Code::InvalidRequest, field, error.to_string())
}

fn raw(json: &serde_json::Value) -> Result<Box<RawValue>, Problem> {
    to_raw_value(json).map_err(|error| Problem::internal(error.to_string()))
}
