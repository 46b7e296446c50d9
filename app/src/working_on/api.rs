//! The server functions of the picker, the recorder and the marker dialog. People only: a token has no working session.

use super::Active;
#[cfg(feature = "ssr")]
use crate::server_function::backend;
use crate::server_function::{Client, Refusal};
use leptos::{
    prelude::server,
    server_fn::codec::{GetUrl, Json},
};
use serde::{Deserialize, Serialize};

/// A task that can be worked on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    /// Id of the action.
    pub id: String,
    /// Name of the task.
    pub title: String,
}

/// Tasks that can be worked on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tasks {
    /// The person's active tasks, newest first, at most 200.
    pub tasks: Vec<Task>,
    /// Whether the person has more tasks than these.
    pub has_more: bool,
}

/// What the server does for these functions.
#[cfg(feature = "ssr")]
#[async_trait::async_trait]
pub trait WorkingOnBackend: Send + Sync {
    /// See [`active_work`].
    async fn active(&self) -> Result<Option<Active>, Refusal>;
    /// See [`start_work`].
    async fn start(&self, task_id: String) -> Result<Active, Refusal>;
    /// See [`stop_work`].
    async fn stop(&self, session_id: String) -> Result<(), Refusal>;
    /// See [`create_task`].
    async fn create_task(&self, name: String, key: Option<String>) -> Result<Active, Refusal>;
    /// See [`list_tasks`].
    async fn list_tasks(&self, name_contains: String) -> Result<Tasks, Refusal>;
    /// See [`record_events`].
    async fn record_events(&self, session_id: String, append: String) -> Result<(), Refusal>;
    /// See [`add_marker`].
    async fn add_marker(&self, marker: Marker) -> Result<(), Refusal>;
}

/// A note about what the person just did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// The working session.
    pub session_id: String,
    /// Id of the event, a UUID of the browser. A marker that is sent twice is recorded once.
    pub event_id: String,
    /// When the note was begun, RFC 3339.
    pub at: String,
    /// The note, 1 to 2,000 characters.
    pub text: String,
}

/// The caller's running working session and its task.
#[server(prefix = "/fn", endpoint = "working-on/active", input = GetUrl, client = Client)]
pub async fn active_work() -> Result<Option<Active>, Refusal> {
    backend::<dyn WorkingOnBackend>()?.active().await
}

/// Starts a working session on a task. What the caller worked on before ends in the same instant.
#[server(prefix = "/fn", endpoint = "working-on/start", client = Client)]
pub async fn start_work(task_id: String) -> Result<Active, Refusal> {
    backend::<dyn WorkingOnBackend>()?.start(task_id).await
}

/// Ends the caller's working session. One that has ended already stays as it is.
#[server(prefix = "/fn", endpoint = "working-on/stop", client = Client)]
pub async fn stop_work(session_id: String) -> Result<(), Refusal> {
    backend::<dyn WorkingOnBackend>()?.stop(session_id).await
}

/// Creates a task of the caller's own and starts a working session on it. A repeat with the same `key` creates no other
/// task.
#[server(prefix = "/fn", endpoint = "working-on/create", client = Client)]
pub async fn create_task(name: String, #[server(default)] key: Option<String>) -> Result<Active, Refusal> {
    backend::<dyn WorkingOnBackend>()?.create_task(name, key).await
}

/// The caller's active tasks whose names contain a text. An empty text finds all.
#[server(prefix = "/fn", endpoint = "working-on/tasks", input = GetUrl, client = Client)]
pub async fn list_tasks(name_contains: String) -> Result<Tasks, Refusal> {
    backend::<dyn WorkingOnBackend>()?.list_tasks(name_contains).await
}

/// Appends events of the recorder to the caller's working session, all or none. `append` is the body of
/// `POST /api/sessions/{id}/events`, because the browser keeps events as JSON text until they are recorded.
#[server(prefix = "/fn", endpoint = "working-on/record", input = Json, client = Client)]
pub async fn record_events(session_id: String, append: String) -> Result<(), Refusal> {
    backend::<dyn WorkingOnBackend>()?.record_events(session_id, append).await
}

/// Appends a marker to the caller's working session.
#[server(prefix = "/fn", endpoint = "working-on/marker", input = Json, client = Client)]
pub async fn add_marker(marker: Marker) -> Result<(), Refusal> {
    backend::<dyn WorkingOnBackend>()?.add_marker(marker).await
}

#[cfg(feature = "hydrate")]
mod calls {
    use super::{
        super::Active, ActiveWork, AddMarker, CreateTask, ListTasks, RecordEvents, StartWork, StopWork, Task, Tasks,
    };
    use crate::{
        browser::dom,
        server_function::{Answer, Arguments, Call, fields, json, list, stringified},
    };
    use wasm_bindgen::JsValue;

    impl Call for ActiveWork {
        fn arguments(self) -> Arguments {
            Arguments::Query(String::new())
        }
    }

    impl Call for StartWork {
        fn arguments(self) -> Arguments {
            Arguments::Form(fields(&[("task_id", &self.task_id)]))
        }
    }

    impl Call for StopWork {
        fn arguments(self) -> Arguments {
            Arguments::Form(fields(&[("session_id", &self.session_id)]))
        }
    }

    impl Call for CreateTask {
        fn arguments(self) -> Arguments {
            let key = self.key.unwrap_or_default();
            Arguments::Form(fields(&[("name", self.name.as_str()), ("key", &key)]))
        }
    }

    impl Call for ListTasks {
        fn arguments(self) -> Arguments {
            Arguments::Query(fields(&[("name_contains", &self.name_contains)]))
        }
    }

    impl Call for RecordEvents {
        fn arguments(self) -> Arguments {
            Arguments::Json(json(&[("session_id", &self.session_id), ("append", &self.append)]))
        }
    }

    impl Call for AddMarker {
        fn arguments(self) -> Arguments {
            let marker = self.marker;
            let members = [
                ("session_id", marker.session_id.as_str()),
                ("event_id", &marker.event_id),
                ("at", &marker.at),
                ("text", &marker.text),
            ];
            let arguments = js_sys::Object::new();
            let _ = js_sys::Reflect::set(&arguments, &"marker".into(), &dom::object(&members));
            Arguments::Json(stringified(&arguments))
        }
    }

    impl Answer for Active {
        fn read(value: &JsValue) -> Option<Self> {
            Some(Self {
                session_id: dom::text(value, "session_id")?,
                task_id: dom::text(value, "task_id")?,
                title: dom::text(value, "title")?,
                started_at: dom::text(value, "started_at")?,
                started_words: dom::text(value, "started_words")?,
            })
        }
    }

    impl Answer for Task {
        fn read(value: &JsValue) -> Option<Self> {
            Some(Self { id: dom::text(value, "id")?, title: dom::text(value, "title")? })
        }
    }

    impl Answer for Tasks {
        fn read(value: &JsValue) -> Option<Self> {
            let has_more = dom::member(value, "has_more").is_truthy();
            Some(Self { tasks: list(&dom::member(value, "tasks"))?, has_more })
        }
    }
}
