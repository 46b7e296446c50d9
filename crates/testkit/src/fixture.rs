//! A ledger with two workspaces and the people and tokens that tests need.

use crate::{
    Engine, TestClock,
    open::{open, open_as, open_with, open_with_settings, options},
    people::{People, person},
};
use domain::{
    Scope,
    event::{Body, Event, Known, kind::Writer},
    id::SessionId,
    role::Role,
    session::{Session, Type},
};
use ledger::{
    LeaseClock, Ledger, Mode, Options, PasswordCost, Settings, event as events,
    event::NewEvent,
    session::{self, Claim, NewSession},
};
use serde_json::{json, value::RawValue};
use std::{sync::Arc, time::Duration};

/// A ledger, its engine, and the scopes of its users.
pub struct Fixture {
    /// The ledger under test.
    pub ledger: Ledger,
    /// Engine of the ledger's database.
    pub engine: Engine,
    /// The clock that the ledger reads; the test moves it.
    pub clock: TestClock,
    /// Admin of `acme`.
    pub admin: Scope,
    /// Operator of `acme`.
    pub operator: Scope,
    /// Member of `acme`.
    pub member: Scope,
    /// Another member of `acme`.
    pub other_member: Scope,
    /// A worker token of `acme`.
    pub worker: Scope,
    /// Admin of another workspace.
    pub stranger: Scope,
    /// The worker token's secret.
    pub worker_secret: String,
}

impl Fixture {
    /// Creates a fixture on SQLite.
    pub async fn sqlite() -> Self {
        Self::on(Engine::sqlite_with_people().await).await
    }

    /// Creates a fixture on PostgreSQL.
    pub async fn postgres() -> Self {
        Self::on(Engine::postgres_with_people().await).await
    }

    /// Creates a fixture on a database of an earlier build, which is upgraded. The people are new workspaces in it.
    pub async fn on_earlier(engine: Engine) -> Self {
        let people = People::create(&engine).await;
        Self::on((engine, people)).await
    }

    async fn on((engine, people): (Engine, People)) -> Self {
        let clock = TestClock::default();
        let ledger = open(&engine, &clock).await;
        let People { admin, operator, member, other_member, worker, stranger, worker_secret } = people;
        Self { ledger, engine, clock, admin, operator, member, other_member, worker, stranger, worker_secret }
    }

    /// Closes the ledger and opens it again on the same data, as a restart does.
    pub async fn restart(&mut self) {
        self.ledger.close().await;
        self.ledger = open(&self.engine, &self.clock).await;
    }

    /// Restarts with another clock for leases.
    pub async fn restart_with(&mut self, leases: LeaseClock) {
        self.ledger.close().await;
        self.ledger = open_with(&self.engine, &self.clock, Mode::Server, leases).await;
    }

    /// Restarts with these settings.
    pub async fn restart_with_settings(&mut self, settings: Settings) {
        self.ledger.close().await;
        self.ledger = open_with_settings(&self.engine, &self.clock, settings).await;
    }

    /// Opens another ledger on the same data, as a second process does.
    pub async fn second_ledger(&self, mode: Mode) -> Ledger {
        open_as(&self.engine, &self.clock, mode).await
    }

    /// Opens another server on the same data, with its own clock and its own leases.
    pub async fn server_with(&self, clock: &TestClock, leases: LeaseClock) -> Ledger {
        open_with(&self.engine, clock, Mode::Server, leases).await
    }

    /// Opens a command-line tool on the same data, with the cost of passwords of an installation.
    pub async fn installed_tool(&self) -> Ledger {
        let lease_clock = LeaseClock::Process(Arc::new(self.clock.clone()));
        let options = options(&self.engine, &self.clock, Mode::Tool, lease_clock);
        Ledger::open(Options { password_cost: PasswordCost::Full, ..options }).await.unwrap()
    }

    /// Creates another workspace with an admin, and returns the admin.
    pub async fn workspace(&self, slug: &str) -> Scope {
        person(&self.ledger, slug, &format!("admin@{slug}.test"), Role::Admin).await
    }

    /// Creates a queued agent session.
    pub async fn pending(&self) -> Session {
        let new = NewSession { agent_slug: Some("scout".into()), ..NewSession::of_type(Type::Agent) };
        session::create(&self.ledger, &self.operator, new).await.unwrap()
    }

    /// Creates and claims an agent session with a lease of `seconds`.
    pub async fn running_for(&self, seconds: u32) -> Session {
        self.pending().await;
        self.claim(1, seconds).await.pop().unwrap()
    }

    /// Creates and claims an agent session with a long lease.
    pub async fn running(&self) -> Session {
        self.running_for(3_600).await
    }

    /// Claims at most `max` sessions as the worker, without waiting.
    pub async fn claim(&self, max: u32, lease_seconds: u32) -> Vec<Session> {
        let claim = Claim { agent_slugs: None, max, lease_seconds };
        let claimed = session::claim(&self.ledger, &self.worker, claim, Duration::ZERO).await.unwrap();
        claimed.into_iter().map(|claimed| claimed.session).collect()
    }

    /// Appends events as the worker.
    pub async fn append(&self, id: SessionId, attempt: u32, events: Vec<NewEvent>) -> ledger::Result<events::Appended> {
        let append = events::Append { session_id: id, attempt: Some(attempt), events };
        events::append(&self.ledger, &self.worker, append).await
    }

    /// Reads the whole log of a session.
    pub async fn log(&self, id: SessionId) -> Vec<Event> {
        let mut all = Vec::new();
        loop {
            let after = all.last().map(|e: &Event| e.sequence);
            let query = events::Read { after_sequence: after, limit: 1_000, ..events::Read::default() };
            let slice = events::read(&self.ledger, &self.admin, id, query).await.unwrap();
            all.extend(slice.events);
            if !slice.has_more {
                return all;
            }
        }
    }

    /// Asserts that the hash chains of all sessions are valid.
    pub async fn assert_verified(&self) {
        let verified = ledger::verify::all(&self.ledger, &[], |_| {}).await.unwrap();
        assert_eq!((verified.bad, verified.problems), (None, Vec::new()));
    }

    /// Asserts that the events that only the server writes can be read into their types, and that they are stored as
    /// those types write them. Events that tests changed behind the product's back are left out by their digest.
    async fn assert_events_are_typed(&self) {
        let mut raw = self.engine.raw().await;
        let query = "SELECT event_type || '\u{1}' || content || '\u{1}' || metadata FROM session_events \
             WHERE metadata <> '{}' AND metadata NOT LIKE '%\"hook\":%'";
        for row in raw.texts(query).await {
            let mut parts = row.split('\u{1}');
            let (Some(kind), Some(content), Some(metadata)) = (parts.next(), parts.next(), parts.next()) else {
                continue;
            };
            if Known::parse(kind).map(Known::writer) != Some(Writer::Server) {
                continue;
            }
            let written = Body::read(kind, content, metadata).write().map(|(_, content, metadata)| (content, metadata));
            assert_eq!(written, Some((content.to_owned(), metadata.to_owned())), "{kind}");
        }
    }

    /// Closes the ledger and drops the database.
    pub async fn done(self) {
        self.assert_events_are_typed().await;
        self.ledger.close().await;
        self.engine.discard().await;
    }
}

/// Creates an event of this kind without content.
pub fn event(kind: &str) -> NewEvent {
    NewEvent {
        id: None,
        kind: kind.into(),
        role: None,
        content: None,
        metadata: None,
        thread_id: None,
        external_event_id: None,
        at: None,
    }
}

/// Creates an `agent.message` with this text.
pub fn text(text: &str) -> NewEvent {
    let content = json!([{ "type": "text", "text": text }]).to_string();
    NewEvent { content: Some(RawValue::from_string(content).unwrap()), ..event("agent.message") }
}

/// Creates a `human.*` event as a browser sends it. `text` is the path of the page, which ends with the id for an
/// entity, or the text of a note.
pub fn human(kind: &str, text: &str) -> NewEvent {
    let raw = |json: serde_json::Value| RawValue::from_string(json.to_string()).unwrap();
    let id = text.rsplit('/').next().unwrap_or_default();
    let (content, metadata) = match kind {
        "human.navigate" => (None, json!({ "pathname": text })),
        "human.entity_view" => (None, json!({ "entityId": id, "pathname": text })),
        "human.task_switch" => (None, json!({ "title": text })),
        _ => (Some(raw(json!(text))), json!({})),
    };
    NewEvent { content, metadata: Some(raw(metadata)), ..event(kind) }
}
