//! The input of an action's sessions must satisfy the action's `metadata.inputSchema`.

use domain::{
    id::ActionId,
    session::{Session, Type},
};
use ledger::{
    Error,
    action::{self, ActionChange, NewAction, Trigger},
    session::{self, ListSessions, NewSession},
    thread::{self, NewThread},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    an_input_that_breaks_its_schema_is_refused_by_its_paths,
    without_an_input_the_defaults_make_it,
    a_schema_that_cannot_be_used_is_refused_when_it_is_saved,
    an_action_stored_with_a_schema_that_cannot_be_used_goes_on,
    a_session_that_is_run_again_keeps_its_input,
);

fn weekly() -> Value {
    json!({ "type": "object", "required": ["week"], "additionalProperties": false,
        "properties": { "week": { "type": "integer" }, "team": { "enum": ["sales", "support"] } } })
}

fn new(schema: &Value) -> NewAction {
    let metadata = json!({ "inputSchema": schema }).to_string();
    let agent_slug = Some("scout".into());
    NewAction { name: "Report".into(), agent_slug, metadata: Some(metadata), ..NewAction::default() }
}

async fn made(f: &Fixture, schema: &Value) -> ActionId {
    action::create(&f.ledger, &f.operator, new(schema)).await.unwrap().id
}

async fn trigger(f: &Fixture, id: ActionId, input: Option<Value>) -> ledger::Result<Session> {
    let input = input.map(|input| input.to_string());
    action::trigger(&f.ledger, &f.member, id, Trigger { input, ..Trigger::default() }).await
}

fn fields<T: std::fmt::Debug>(refused: ledger::Result<T>) -> Vec<String> {
    let Err(Error::Invalid(errors)) = refused else { panic!("{refused:?}") };
    let mut fields: Vec<_> = errors.into_iter().map(|error| error.field).collect();
    fields.sort();
    fields
}

fn input_of(session: &Session) -> Option<Value> {
    session.input.as_deref().map(|input| serde_json::from_str(input).unwrap())
}

async fn an_input_that_breaks_its_schema_is_refused_by_its_paths(f: Fixture) {
    let id = made(&f, &weekly()).await;
    assert_eq!(fields(trigger(&f, id, None).await), ["input.week"]);
    assert_eq!(fields(trigger(&f, id, Some(Value::Null)).await), ["input.week"]);
    assert_eq!(fields(trigger(&f, id, Some(json!("soon"))).await), ["input"]);
    assert_eq!(
        fields(trigger(&f, id, Some(json!({ "week": "soon", "team": "x" }))).await),
        ["input.team", "input.week"]
    );
    let by_session = NewSession {
        action_id: Some(id),
        input: Some(json!({ "week": 1, "more": 2 }).to_string()),
        ..NewSession::of_type(Type::Agent)
    };
    assert_eq!(fields(session::create(&f.ledger, &f.member, by_session.clone()).await), ["input"]);
    let tool = NewSession { session_type: Type::Tool, ..by_session };
    assert_eq!(fields(session::create(&f.ledger, &f.member, tool).await), ["input"]);
    let listed = session::list(&f.ledger, &f.admin, ListSessions::default()).await.unwrap();
    assert!(listed.items.is_empty(), "nothing was made: {:?}", listed.items);

    let given = json!({ "week": 47, "team": "sales" });
    let made = trigger(&f, id, Some(given.clone())).await.unwrap();
    assert_eq!(input_of(&made), Some(given));
    // The schema does not apply to a conversation: its messages are the agent's input.
    let talk = NewThread { agent: id.to_string(), ..NewThread::default() };
    thread::start(&f.ledger, &f.member, talk).await.unwrap();
    f.done().await;
}

async fn without_an_input_the_defaults_make_it(f: Fixture) {
    let mut schema = weekly();
    schema["properties"]["week"]["default"] = 1.into();
    let id = made(&f, &schema).await;
    assert_eq!(input_of(&trigger(&f, id, None).await.unwrap()), Some(json!({ "week": 1 })));
    let given = json!({ "week": 2 });
    assert_eq!(input_of(&trigger(&f, id, Some(given.clone())).await.unwrap()), Some(given));
    schema["properties"]["week"]["default"] = "soon".into();
    let id = made(&f, &schema).await;
    assert_eq!(fields(trigger(&f, id, None).await), ["input.week"], "a default keeps the schema too");
    let id = made(&f, &json!({ "properties": { "week": { "type": "integer" } } })).await;
    assert_eq!(input_of(&trigger(&f, id, None).await.unwrap()), None);
    f.done().await;
}

async fn a_schema_that_cannot_be_used_is_refused_when_it_is_saved(f: Fixture) {
    let id = made(&f, &weekly()).await;
    for bad in [json!({ "type": "strin" }), json!("week"), json!({ "$ref": "https://example.org/schema.json" })] {
        let refused = action::create(&f.ledger, &f.operator, new(&bad)).await;
        assert_eq!(fields(refused), ["metadata.inputSchema"], "{bad}");
        let metadata = Some(json!({ "inputSchema": bad }).to_string());
        let change = ActionChange { metadata, ..ActionChange::default() };
        let refused = action::update(&f.ledger, &f.operator, id, change).await;
        assert_eq!(fields(refused), ["metadata.inputSchema"], "{bad}");
    }
    made(&f, &Value::Null).await;
    f.done().await;
}

async fn an_action_stored_with_a_schema_that_cannot_be_used_goes_on(f: Fixture) {
    let id = made(&f, &weekly()).await;
    let broken = r#"UPDATE actions SET metadata = '{"inputSchema":{"type":"strin"}}'"#;
    assert_eq!(f.engine.raw().await.execute(broken).await.unwrap(), 1);
    let given = json!({ "whatever": true });
    assert_eq!(input_of(&trigger(&f, id, Some(given.clone())).await.unwrap()), Some(given));
    let change = ActionChange { name: Some("Weekly".into()), ..ActionChange::default() };
    assert_eq!(action::update(&f.ledger, &f.operator, id, change).await.unwrap().name, "Weekly");
    f.done().await;
}

async fn a_session_that_is_run_again_keeps_its_input(f: Fixture) {
    let id = made(&f, &weekly()).await;
    let given = json!({ "week": 47 });
    let first = trigger(&f, id, Some(given.clone())).await.unwrap();
    session::cancel(&f.ledger, &f.member, first.id, None).await.unwrap();
    let mut schema = weekly();
    schema["required"] = json!(["week", "team"]);
    let metadata = Some(json!({ "inputSchema": schema }).to_string());
    action::update(&f.ledger, &f.operator, id, ActionChange { metadata, ..ActionChange::default() }).await.unwrap();
    let again = session::retry(&f.ledger, &f.member, first.id).await.unwrap();
    assert_eq!(input_of(&again), Some(given));
    assert_eq!(fields(trigger(&f, id, Some(json!({ "week": 47 }))).await), ["input.team"]);
    f.done().await;
}
