//! Where the secrets of a tool are sent: an operator may change the call of a tool, and only an admin lets its secrets
//! be sent with another call.

use crate::{
    audit::{Reading, detail},
    tool::{SECRET, change, create, draft, publish, publish_by, set, set_for, weather},
};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    session::Session,
    tool::http::Secrets,
};
use ledger::{
    Error, ToolRecord,
    bundle::{Mode, install},
    page,
    tool::{self, ToolChange},
    tool_run::{self, RunTool, server_run},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    an_operator_cannot_send_the_secrets_with_another_call,
    a_secret_is_refused_if_another_version_was_published_since_it_was_shown,
    a_version_that_no_admin_allowed_gets_no_secrets,
    a_test_from_before_the_secrets_gets_none,
    a_step_of_an_older_version_gets_no_secrets_that_were_not_for_it,
    a_test_is_in_the_audit_list,
);

fn call(url: &str) -> Value {
    json!({ "http": { "method": "GET", "url": url, "headers": { "authorization": "Bearer {secret:API_KEY}" } } })
}

async fn edit(f: &Fixture, part: Value) -> ToolRecord {
    let revision = tool::get(&f.ledger, &f.operator, "weather").await.unwrap().revision;
    let edit = ToolChange { revision, definition: change(part) };
    tool::update(&f.ledger, &f.operator, "weather", edit).await.unwrap()
}

/// Publishes the tool `weather`, whose first version calls another address.
async fn publish_elsewhere(f: &Fixture) {
    let mut definition = weather();
    definition["http"] = call("https://elsewhere.test/{city}")["http"].clone();
    let made = create(f, &f.operator, definition).await.unwrap();
    publish(f, &made).await;
}

fn oslo() -> RunTool {
    RunTool { input: Some(r#"{"city":"Oslo"}"#.to_owned()), ..RunTool::default() }
}

async fn run(f: &Fixture) -> Session {
    tool_run::run(&f.ledger, &f.member, "weather", oslo()).await.unwrap()
}

/// The secrets that the server's call of a run is made with.
async fn sent(f: &Fixture, session: &Session) -> Result<Secrets, Error> {
    server_run(&f.ledger, f.admin.tenant_id, session.id).await.map(|found| found.secrets)
}

async fn needs_admin(f: &Fixture, scope: &Scope) -> bool {
    let query = page::tool::Query::default();
    let page = page::tool::read(&f.ledger, scope, "weather".to_owned(), query).await.unwrap();
    let (_, of_editor) = tool::get_to_edit(&f.ledger, scope, "weather").await.unwrap();
    assert_eq!(page.needs_admin, of_editor);
    of_editor
}

async fn an_operator_cannot_send_the_secrets_with_another_call(f: Fixture) {
    publish(&f, &draft(&f).await).await;
    set(&f, &f.admin, "weather", "API_KEY", SECRET).await.unwrap();
    assert_eq!(sent(&f, &run(&f).await).await.unwrap().get("API_KEY"), Some(SECRET));
    // Another name is no other call.
    let named = edit(&f, json!({ "name": "Weather now" })).await;
    assert!(!needs_admin(&f, &f.operator).await);
    tool_run::test(&f.ledger, &f.operator, "weather", oslo()).await.unwrap();
    publish_by(&f, &f.operator, &named).await.unwrap();
    assert_eq!(sent(&f, &run(&f).await).await.unwrap().get("API_KEY"), Some(SECRET));
    for part in [
        call("https://elsewhere.test/{city}"),
        json!({ "http": { "method": "GET", "url": "https://example.org/cities/{city}",
            "headers": { "x-echo": "{secret:API_KEY}" } } }),
        json!({ "http": { "method": "POST", "url": "https://example.org/cities/{city}", "body": "input" } }),
    ] {
        let edited = edit(&f, part.clone()).await;
        let published = publish_by(&f, &f.operator, &edited).await;
        assert!(matches!(published, Err(Error::Forbidden(why)) if why.contains("only an admin")), "{part}");
        let tested = tool_run::test(&f.ledger, &f.operator, "weather", oslo()).await;
        assert!(matches!(tested, Err(Error::Forbidden(why)) if why.contains("only an admin")), "{part}");
        let bundle = json!({ "tools": [{ "slug": "weather", "publish": true }] }).to_string();
        let installed = install(&f.ledger, &f.operator, &bundle, Mode::Apply).await;
        assert!(matches!(installed, Err(Error::Forbidden(_))), "{part}: {installed:?}");
        assert!(needs_admin(&f, &f.operator).await && !needs_admin(&f, &f.admin).await);
    }
    let elsewhere = edit(&f, call("https://elsewhere.test/{city}")).await;
    let tested = tool_run::test(&f.ledger, &f.admin, "weather", oslo()).await.unwrap();
    assert_eq!(sent(&f, &tested).await.unwrap().get("API_KEY"), Some(SECRET));
    publish_by(&f, &f.admin, &elsewhere).await.unwrap();
    // The admin has allowed this call, so an operator publishes other changes again.
    let named = edit(&f, json!({ "name": "Weather of tomorrow" })).await;
    publish_by(&f, &f.operator, &named).await.unwrap();
    assert_eq!(sent(&f, &run(&f).await).await.unwrap().get("API_KEY"), Some(SECRET));
    f.done().await;
}

async fn a_secret_is_refused_if_another_version_was_published_since_it_was_shown(f: Fixture) {
    let secret = ("weather", "API_KEY", SECRET);
    let made = draft(&f).await;
    publish(&f, &made).await;
    // The admin has read version 1, or that there is none. Then an operator publishes another call.
    let elsewhere = edit(&f, call("https://elsewhere.test/{city}")).await;
    publish(&f, &elsewhere).await;
    for (shown, given) in [(Some(1), 1), (Some(0), 0), (None, 0)] {
        let refused = set_for(&f, &f.admin, secret, shown).await;
        assert!(
            matches!(refused, Err(Error::StaleVersion { given: of, current: 2 }) if of == given),
            "{shown:?}: {refused:?}"
        );
    }
    assert!(tool::secrets(&f.ledger, &f.admin, "weather").await.unwrap().is_empty(), "a refused secret is stored");
    set_for(&f, &f.admin, secret, Some(2)).await.unwrap();
    assert_eq!(sent(&f, &run(&f).await).await.unwrap().get("API_KEY"), Some(SECRET));
    // The calls of version 2 are allowed, so a new value needs no version. One that was not read is still refused.
    set_for(&f, &f.admin, ("weather", "API_KEY", "another"), None).await.unwrap();
    assert_eq!(sent(&f, &run(&f).await).await.unwrap().get("API_KEY"), Some("another"));
    let refused = set_for(&f, &f.admin, secret, Some(1)).await;
    assert!(matches!(refused, Err(Error::StaleVersion { given: 1, current: 2 })), "{refused:?}");
    // A published version without an HTTP call sends no secrets.
    let worker = json!({ "name": "Work", "kind": "worker", "inputSchema": { "type": "object" } });
    let worker = create(&f, &f.operator, worker).await.unwrap();
    publish(&f, &worker).await;
    set_for(&f, &f.admin, ("work", "API_KEY", SECRET), None).await.unwrap();
    f.done().await;
}

async fn a_version_that_no_admin_allowed_gets_no_secrets(f: Fixture) {
    publish_elsewhere(&f).await;
    let queued = run(&f).await;
    assert_eq!(sent(&f, &queued).await.unwrap().get("API_KEY"), None);
    let mended = edit(&f, call("https://example.org/cities/{city}")).await;
    publish(&f, &mended).await;
    set(&f, &f.admin, "weather", "API_KEY", SECRET).await.unwrap();
    assert_eq!(sent(&f, &run(&f).await).await.unwrap().get("API_KEY"), Some(SECRET));
    // The run of the first version was queued before there was a secret.
    let refused = sent(&f, &queued).await;
    assert!(matches!(refused, Err(Error::NotNow(why)) if why.contains("an admin has not allowed")));
    f.done().await;
}

async fn a_test_from_before_the_secrets_gets_none(f: Fixture) {
    let made = draft(&f).await;
    let tested = tool_run::test(&f.ledger, &f.operator, "weather", oslo()).await.unwrap();
    set(&f, &f.admin, "weather", "API_KEY", SECRET).await.unwrap();
    assert!(matches!(sent(&f, &tested).await, Err(Error::NotNow(_))));
    // What was never published was allowed by no admin either.
    let refused = publish_by(&f, &f.operator, &made).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    publish_by(&f, &f.admin, &made).await.unwrap();
    assert_eq!(sent(&f, &run(&f).await).await.unwrap().get("API_KEY"), Some(SECRET));
    f.done().await;
}

async fn a_step_of_an_older_version_gets_no_secrets_that_were_not_for_it(f: Fixture) {
    publish_elsewhere(&f).await;
    let mended = edit(&f, call("https://example.org/cities/{city}")).await;
    publish(&f, &mended).await;
    set(&f, &f.admin, "weather", "API_KEY", SECRET).await.unwrap();
    let input = json!({ "city": "Oslo" });
    let step = json!({ "name": "first", "tool": "weather", "version": 1, "input": input });
    let composite = json!({
        "name": "Trip", "kind": "composite", "composite": { "steps": [step] }, "inputSchema": { "type": "object" },
    });
    let trip = create(&f, &f.operator, composite).await.unwrap();
    publish(&f, &trip).await;
    let begun = tool_run::run(&f.ledger, &f.member, "trip", RunTool::default()).await.unwrap();
    let query = tool_run::ListRuns { parent_id: Some(begun.id), ..tool_run::ListRuns::default() };
    let steps = tool_run::list(&f.ledger, &f.member, query).await.unwrap().items;
    assert_eq!(steps.len(), 1);
    assert!(matches!(sent(&f, &steps[0]).await, Err(Error::NotNow(_))));
    f.done().await;
}

async fn a_test_is_in_the_audit_list(f: Fixture) {
    let mut reading = Reading::begin(&f).await;
    let made = draft(&f).await;
    let keyed = || RunTool { idempotency_key: Some("k".to_owned()), ..oslo() };
    let tested = tool_run::test(&f.ledger, &f.operator, "weather", keyed()).await.unwrap();
    let entry = reading.expect(&f, &[Kind::ToolTested]).await;
    assert_eq!(entry.target, Some((TargetKind::Tool, made.id.0)));
    assert_eq!(detail(&entry), json!({ "revision": 1, "session": tested.id }));
    tool_run::test(&f.ledger, &f.operator, "weather", keyed()).await.unwrap();
    publish(&f, &made).await;
    run(&f).await;
    reading.expect(&f, &[Kind::ToolPublished]).await;
    f.done().await;
}
