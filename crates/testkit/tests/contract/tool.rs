//! Tools: working copies with revisions, and published versions that never change.

use crate::{audit::Reading, criteria_set::fields_of};
use domain::{
    Scope,
    audit::{Kind, TargetKind},
    role::Role,
    tool::{Audience, Change, Secret, State},
};
use ledger::{
    Error, ListPage, ToolRecord,
    bundle::{Mode, install},
    group::{self, NewGroup},
    page,
    tool::{self, NewSecret, NewTool, ToolChange},
};
use serde_json::{Value, json};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    a_published_version_never_changes,
    publishing_twice_adds_one_version,
    an_edit_of_an_older_revision_is_refused_and_names_the_current_one,
    of_edits_of_one_revision_at_once_one_wins,
    an_unpublished_tool_keeps_its_versions_and_cannot_be_run,
    only_a_draft_can_be_deleted_and_its_secrets_go_with_it,
    a_wrong_definition_is_refused_by_its_path,
    the_properties_of_a_schema_keep_their_order,
    operators_and_admins_write_tools_and_everyone_reads_them,
    the_audience_says_who_may_run_a_tool,
    another_workspace_finds_no_tool,
    tools_and_versions_are_listed_page_by_page,
    publication_and_secrets_are_in_the_audit_list,
    a_bundle_creates_changes_and_publishes_a_tool_without_its_secrets,
);

pub const SECRET: &str = "hunter2-s3cr3t-value";

pub fn change(json: Value) -> Change {
    serde_json::from_value(json).unwrap()
}

pub fn weather() -> Value {
    json!({
        "name": "Weather", "kind": "http", "description": "The weather of a city.",
        "http": {
            "method": "GET", "url": "https://example.org/cities/{city}",
            "headers": { "authorization": "Bearer {secret:API_KEY}" },
        },
        "inputSchema": {
            "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"],
        },
    })
}

pub async fn create(f: &Fixture, scope: &Scope, definition: Value) -> Result<ToolRecord, Error> {
    tool::create(&f.ledger, scope, NewTool { slug: None, definition: change(definition) }).await
}

/// Creates the draft `weather` with one header that needs a secret.
pub async fn draft(f: &Fixture) -> ToolRecord {
    create(f, &f.operator, weather()).await.unwrap()
}

pub async fn publish(f: &Fixture, tool: &ToolRecord) -> ToolRecord {
    publish_by(f, &f.operator, tool).await.unwrap()
}

/// Publishes the revision of a tool that was read.
pub async fn publish_by(f: &Fixture, scope: &Scope, tool: &ToolRecord) -> Result<ToolRecord, Error> {
    tool::publish(&f.ledger, scope, &tool.slug, Some(tool.revision)).await
}

async fn named(f: &Fixture, tool: &ToolRecord, name: &str) -> Result<ToolRecord, Error> {
    let change = ToolChange { revision: tool.revision, definition: change(json!({ "name": name })) };
    tool::update(&f.ledger, &f.operator, &tool.slug, change).await
}

pub async fn set(f: &Fixture, scope: &Scope, slug: &str, name: &str, value: &str) -> Result<(), Error> {
    // As who has read the page of the tool just now.
    let version = tool::get(&f.ledger, scope, slug).await?.version.unwrap_or_default();
    set_for(f, scope, (slug, name, value), Some(version)).await
}

/// Sets a secret as who has read that this version was published last.
pub async fn set_for(
    f: &Fixture,
    scope: &Scope,
    (slug, name, value): (&str, &str, &str),
    version: Option<u64>,
) -> Result<(), Error> {
    let new = NewSecret { name: name.to_owned(), value: Secret::new(value.to_owned()), version };
    tool::set_secret(&f.ledger, scope, slug, new).await
}

/// What a reader sees who compares this version with the one before it.
pub fn compared(version: u64) -> page::tool::Query {
    page::tool::Query { compared: Some(version), ..page::tool::Query::default() }
}

/// The value of a secret, as a call of the server gets it.
pub async fn value(f: &Fixture, tool: &ToolRecord, name: &str) -> Option<String> {
    let system = Scope::system(f.admin.tenant_id);
    let secrets = tool::secret_values(&f.ledger, &system, tool.id).await.unwrap();
    secrets.get(name).map(str::to_owned)
}

async fn a_published_version_never_changes(f: Fixture) {
    let made = draft(&f).await;
    assert_eq!((made.slug.as_str(), made.state, made.version, made.revision), ("weather", State::Draft, None, 1));
    let first = publish(&f, &made).await;
    assert_eq!((first.state, first.version, first.revision), (State::Published, Some(1), 1));
    assert!(made.is_changed() && !first.is_changed());
    f.clock.advance(chrono::TimeDelta::seconds(5));
    let edited = named(&f, &first, "Weather of today").await.unwrap();
    assert_eq!((edited.state, edited.version, edited.revision), (State::Published, Some(1), 2));
    assert!(edited.is_changed());
    let version = tool::get_version(&f.ledger, &f.member, "weather", 1).await.unwrap();
    assert_eq!(version.definition, made.definition);
    let second = publish(&f, &edited).await;
    assert_eq!((second.version, second.is_changed()), (Some(2), false));
    assert_eq!(tool::get_version(&f.ledger, &f.member, "weather", 1).await.unwrap(), version);
    let newest = tool::get_version(&f.ledger, &f.member, "weather", 2).await.unwrap();
    let by = f.operator.caller.to_string();
    assert_eq!((newest.definition.name.as_str(), newest.published_by), ("Weather of today", by));
    assert_eq!((newest.published_at - version.published_at).num_seconds(), 5);
    let missing = tool::get_version(&f.ledger, &f.member, "weather", 3).await;
    assert!(matches!(missing, Err(Error::NotFound(_))), "{missing:?}");
    let mut raw = f.engine.raw().await;
    assert!(raw.execute("UPDATE tool_versions SET definition = '{}'").await.is_err(), "a version was rewritten");
    assert!(raw.execute("DELETE FROM tool_versions").await.is_err(), "a version was deleted");
    f.done().await;
}

async fn publishing_twice_adds_one_version(f: Fixture) {
    let first = publish(&f, &draft(&f).await).await;
    f.clock.advance(chrono::TimeDelta::seconds(5));
    assert_eq!(publish(&f, &first).await, first, "a repeat changed something");
    let edited = named(&f, &first, "Other").await.unwrap();
    let stale = tool::publish(&f.ledger, &f.operator, "weather", Some(1)).await;
    assert!(matches!(stale, Err(Error::StaleRevision { given: 1, current: 2 })), "{stale:?}");
    // An edit that is taken back defines the same, so the version stays.
    let back = named(&f, &edited, "Weather").await.unwrap();
    let again = publish(&f, &back).await;
    assert_eq!((again.version, again.revision, again.is_changed()), (Some(1), 3, false));
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM tool_versions").await, 1);
    f.done().await;
}

async fn an_edit_of_an_older_revision_is_refused_and_names_the_current_one(f: Fixture) {
    let made = draft(&f).await;
    let edited = named(&f, &made, "First").await.unwrap();
    let refused = named(&f, &made, "Second").await;
    assert!(matches!(refused, Err(Error::StaleRevision { given: 1, current: 2 })), "{refused:?}");
    assert_eq!(named(&f, &edited, "First").await.unwrap(), edited, "a change that changes nothing made a revision");
    assert_eq!(named(&f, &made, "First").await.unwrap(), edited, "a change that was sent twice was refused");
    for given in [0, 3] {
        let never = ToolRecord { revision: given, ..edited.clone() };
        let refused = named(&f, &never, "First").await;
        assert!(matches!(refused, Err(Error::StaleRevision { current: 2, .. })), "{given}: {refused:?}");
    }
    assert_eq!(tool::get(&f.ledger, &f.member, "weather").await.unwrap(), edited);
    f.done().await;
}

async fn of_edits_of_one_revision_at_once_one_wins(f: Fixture) {
    let made = draft(&f).await;
    let names: Vec<String> = (0..8).map(|n| format!("By {n}")).collect();
    let all = futures_util::future::join_all(names.iter().map(|name| named(&f, &made, name))).await;
    let (won, lost): (Vec<_>, Vec<_>) = all.into_iter().partition(Result::is_ok);
    assert_eq!((won.len(), lost.len()), (1, 7));
    assert!(lost.iter().all(|r| matches!(r, Err(Error::StaleRevision { given: 1, current: 2 }))), "{lost:?}");
    let publications = (0..4).map(|_| tool::publish(&f.ledger, &f.operator, "weather", None));
    let published = futures_util::future::join_all(publications).await;
    assert!(published.iter().all(|tool| tool.as_ref().unwrap().version == Some(1)), "{published:?}");
    f.done().await;
}

async fn an_unpublished_tool_keeps_its_versions_and_cannot_be_run(f: Fixture) {
    let made = draft(&f).await;
    let refused = tool::unpublish(&f.ledger, &f.operator, "weather").await;
    assert!(matches!(refused, Err(Error::WrongState { what: "tool", state: State::Draft, .. })), "{refused:?}");
    let not_yet = tool::may_run(&f.ledger, &f.member, "weather").await;
    assert!(matches!(not_yet, Err(Error::WrongState { what: "tool", state: State::Draft, .. })), "{not_yet:?}");
    publish(&f, &made).await;
    assert!(tool::may_run(&f.ledger, &f.member, "weather").await.unwrap());
    let withdrawn = tool::unpublish(&f.ledger, &f.operator, "weather").await.unwrap();
    assert_eq!((withdrawn.state, withdrawn.version), (State::Unpublished, Some(1)));
    assert_eq!(tool::unpublish(&f.ledger, &f.operator, "weather").await.unwrap(), withdrawn, "a repeat changed it");
    let refused = tool::may_run(&f.ledger, &f.member, "weather").await;
    assert!(matches!(refused, Err(Error::WrongState { state: State::Unpublished, .. })), "{refused:?}");
    assert!(tool::get_version(&f.ledger, &f.member, "weather", 1).await.is_ok());
    let back = publish(&f, &withdrawn).await;
    assert_eq!((back.state, back.version), (State::Published, Some(1)));
    f.done().await;
}

async fn only_a_draft_can_be_deleted_and_its_secrets_go_with_it(f: Fixture) {
    let made = draft(&f).await;
    set(&f, &f.admin, "weather", "API_KEY", SECRET).await.unwrap();
    tool::delete(&f.ledger, &f.operator, "weather").await.unwrap();
    let gone = tool::get(&f.ledger, &f.admin, "weather").await;
    assert!(matches!(gone, Err(Error::NotFound("tool"))), "{gone:?}");
    let mut raw = f.engine.raw().await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM tool_secrets").await, 0);
    let again = draft(&f).await;
    assert_ne!(again.id, made.id);
    publish(&f, &again).await;
    let refused = tool::delete(&f.ledger, &f.operator, "weather").await;
    assert!(matches!(refused, Err(Error::WrongState { what: "tool", state: State::Published, .. })), "{refused:?}");
    f.done().await;
}

async fn a_wrong_definition_is_refused_by_its_path(f: Fixture) {
    let with = |part: Value| {
        let mut whole = weather();
        whole.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        whole
    };
    let schema = |property: Value| json!({ "type": "object", "properties": { "city": property } });
    for (part, fields) in [
        (json!({ "inputSchema": schema(json!({ "type": "strin" })) }), ["inputSchema"].as_slice()),
        (json!({ "inputSchema": schema(json!({ "pattern": "(?=a)b" })) }), &["inputSchema"]),
        (json!({ "inputSchema": schema(json!({ "$ref": "https://example.org/a.json" })) }), &["inputSchema"]),
        (json!({ "outputSchema": { "type": 1 } }), &["outputSchema"]),
        (json!({ "name": "x".repeat(201) }), &["name"]),
        (json!({ "privateFields": ["street"] }), &["privateFields[0]"]),
        (json!({ "audience": { "groups": ["nobody"] } }), &["audience.groups[0]"]),
        (json!({ "retries": 99, "timeLimitSeconds": 0 }), &["timeLimitSeconds", "retries"]),
        (json!({ "http": { "method": "GET", "url": "ftp://example.org" } }), &["http.url"]),
        (json!({ "http": null }), &["http"]),
        (json!({ "kind": "worker" }), &["http"]),
    ] {
        assert_eq!(fields_of(create(&f, &f.operator, with(part.clone())).await), fields, "{part}");
    }
    for name in ["", " ", "!!!"] {
        let refused = fields_of(create(&f, &f.operator, with(json!({ "name": name }))).await);
        assert_eq!(refused, ["slug"], "{name}");
    }
    let slugged = |slug: &str| NewTool { slug: Some(slug.to_owned()), definition: change(weather()) };
    for slug in ["new", "A", "a--b"] {
        assert_eq!(fields_of(tool::create(&f.ledger, &f.operator, slugged(slug)).await), ["slug"], "{slug}");
    }
    draft(&f).await;
    let taken = create(&f, &f.operator, weather()).await;
    assert!(matches!(taken, Err(Error::NameTaken(_))), "{taken:?}");
    let wrong = ToolChange { revision: 1, definition: change(json!({ "inputSchema": { "type": "array" } })) };
    assert_eq!(
        fields_of(tool::update(&f.ledger, &f.operator, "weather", wrong).await),
        ["inputSchema.type", "http.url"],
        "the call refers to a field that the new schema lacks"
    );
    f.done().await;
}

async fn the_properties_of_a_schema_keep_their_order(f: Fixture) {
    let text = r#"{"name":"Order","kind":"worker","inputSchema":{"type":"object","properties":{
        "zeal":{"type":"string"},"area":{"type":"string"},"mail":{"type":"string"}}}}"#;
    let new = NewTool { slug: None, definition: serde_json::from_str(text).unwrap() };
    let made = tool::create(&f.ledger, &f.operator, new).await.unwrap();
    publish(&f, &made).await;
    let version = tool::get_version(&f.ledger, &f.member, "order", 1).await.unwrap();
    let properties = version.definition.input_schema["properties"].as_object().unwrap().clone();
    assert_eq!(properties.keys().collect::<Vec<_>>(), ["zeal", "area", "mail"]);
    f.done().await;
}

async fn operators_and_admins_write_tools_and_everyone_reads_them(f: Fixture) {
    for (scope, slug) in [(f.admin, "by-admin"), (f.operator, "by-operator")] {
        let mut definition = weather();
        definition["name"] = slug.into();
        create(&f, &scope, definition).await.unwrap();
        assert_eq!(tool::get(&f.ledger, &f.member, slug).await.unwrap().created_by, scope.caller.to_string());
    }
    for scope in [f.member, Scope { role: Role::Reviewer, ..f.member }] {
        let change = ToolChange { revision: 1, ..ToolChange::default() };
        let refusals = [
            create(&f, &scope, weather()).await.err(),
            tool::update(&f.ledger, &scope, "by-admin", change).await.err(),
            tool::publish(&f.ledger, &scope, "by-admin", None).await.err(),
            tool::unpublish(&f.ledger, &scope, "by-admin").await.err(),
            tool::delete(&f.ledger, &scope, "by-admin").await.err(),
        ];
        assert!(refusals.iter().all(|e| matches!(e, Some(Error::Forbidden(_)))), "{refusals:?}");
    }
    for scope in [f.member, f.operator] {
        let refusals = [
            set(&f, &scope, "by-admin", "API_KEY", SECRET).await.err(),
            tool::delete_secret(&f.ledger, &scope, "by-admin", "API_KEY").await.err(),
            tool::secrets(&f.ledger, &scope, "by-admin").await.err(),
        ];
        assert!(refusals.iter().all(|e| matches!(e, Some(Error::Forbidden(_)))), "{refusals:?}");
        let shown =
            page::tool::read(&f.ledger, &scope, "by-admin".to_owned(), page::tool::Query::default()).await.unwrap();
        assert!(shown.secrets.is_none(), "the page shows names of secrets to someone who may not manage them");
    }
    f.done().await;
}

async fn the_audience_says_who_may_run_a_tool(f: Fixture) {
    let mia = f.member.user_id().unwrap();
    let leads = NewGroup { name: "Leads".into(), slug: None, members: vec![mia] };
    group::create(&f.ledger, &f.admin, leads).await.unwrap();
    let mut revision = draft(&f).await.revision;
    publish(&f, &tool::get(&f.ledger, &f.admin, "weather").await.unwrap()).await;
    let leads = vec!["leads".to_owned()];
    for (audience, admin, operator, member) in [
        (Audience::default(), true, true, true),
        (Audience { roles: vec![Role::Operator], groups: Vec::new(), link: false }, false, true, false),
        (Audience { roles: Vec::new(), groups: leads.clone(), link: false }, false, false, true),
        (Audience { roles: vec![Role::Admin], groups: leads, link: false }, true, false, true),
    ] {
        let definition = Change { audience: Some(audience.clone()), ..Change::default() };
        let change = ToolChange { revision, definition };
        let changed = tool::update(&f.ledger, &f.operator, "weather", change).await.unwrap();
        revision = changed.revision;
        publish(&f, &changed).await;
        for (scope, expected) in [(&f.admin, admin), (&f.operator, operator), (&f.member, member)] {
            let may = tool::may_run(&f.ledger, scope, "weather").await.unwrap();
            assert_eq!(may, expected, "{audience:?}, {:?}", scope.role);
        }
    }
    f.done().await;
}

async fn another_workspace_finds_no_tool(f: Fixture) {
    let made = draft(&f).await;
    set(&f, &f.admin, "weather", "API_KEY", SECRET).await.unwrap();
    publish_by(&f, &f.admin, &made).await.unwrap();
    let them = &f.stranger;
    let change = ToolChange { revision: 1, ..ToolChange::default() };
    let refusals = [
        tool::get(&f.ledger, them, "weather").await.err(),
        tool::get_version(&f.ledger, them, "weather", 1).await.err(),
        tool::list_versions(&f.ledger, them, "weather", ListPage::default()).await.err(),
        tool::update(&f.ledger, them, "weather", change).await.err(),
        tool::publish(&f.ledger, them, "weather", None).await.err(),
        tool::unpublish(&f.ledger, them, "weather").await.err(),
        tool::delete(&f.ledger, them, "weather").await.err(),
        tool::may_run(&f.ledger, them, "weather").await.err(),
        tool::secrets(&f.ledger, them, "weather").await.err(),
        set(&f, them, "weather", "API_KEY", "x").await.err(),
        tool::delete_secret(&f.ledger, them, "weather", "API_KEY").await.err(),
        page::tool::read(&f.ledger, them, "weather".to_owned(), page::tool::Query::default()).await.err(),
    ];
    assert!(refusals.iter().all(|e| matches!(e, Some(Error::NotFound("tool")))), "{refusals:?}");
    assert!(tool::list(&f.ledger, them, ListPage::default()).await.unwrap().items.is_empty());
    let system = Scope::system(them.tenant_id);
    assert!(tool::secret_values(&f.ledger, &system, made.id).await.unwrap().get("API_KEY").is_none());
    // The slug is free there, and both tools exist side by side.
    create(&f, them, weather()).await.unwrap();
    assert_eq!(tool::get(&f.ledger, &f.member, "weather").await.unwrap().id, made.id);
    f.done().await;
}

async fn tools_and_versions_are_listed_page_by_page(f: Fixture) {
    for n in 0..7 {
        let mut definition = weather();
        definition["name"] = format!("Tool {n}").into();
        create(&f, &f.operator, definition).await.unwrap();
        f.clock.advance(chrono::TimeDelta::seconds(1));
    }
    let (mut slugs, mut cursor) = (Vec::new(), None);
    loop {
        let page = tool::list(&f.ledger, &f.member, ListPage { limit: 3, cursor }).await.unwrap();
        slugs.extend(page.items.into_iter().map(|tool| tool.slug));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(slugs, (0..7).rev().map(|n| format!("tool-{n}")).collect::<Vec<_>>());
    let mut tool = tool::get(&f.ledger, &f.member, "tool-0").await.unwrap();
    for n in 1..=7_u64 {
        tool = named(&f, &tool, &format!("Name {n}")).await.unwrap();
        tool = publish(&f, &tool).await;
    }
    let first = ListPage { limit: 4, cursor: None };
    let newest = tool::list_versions(&f.ledger, &f.member, "tool-0", first).await.unwrap();
    let rest = ListPage { limit: 4, cursor: newest.next_cursor.clone() };
    let oldest = tool::list_versions(&f.ledger, &f.member, "tool-0", rest).await.unwrap();
    let numbers: Vec<_> = newest.items.iter().chain(&oldest.items).map(|version| version.version).collect();
    assert_eq!((numbers, oldest.next_cursor), (vec![7, 6, 5, 4, 3, 2, 1], None));
    let foreign = tool::list(&f.ledger, &f.member, ListPage { limit: 0, cursor: newest.next_cursor }).await;
    assert!(matches!(foreign, Err(Error::InvalidCursor)), "{foreign:?}");
    let shown = page::tool::read(&f.ledger, &f.member, "tool-0".to_owned(), compared(2)).await.unwrap();
    let (version, before) = shown.compared.unwrap();
    assert_eq!((version.version, before.map(|before| before.version)), (2, Some(1)));
    let first = page::tool::read(&f.ledger, &f.member, "tool-0".to_owned(), compared(1)).await.unwrap();
    assert!(first.compared.is_some_and(|(version, before)| version.version == 1 && before.is_none()));
    let none = page::tool::read(&f.ledger, &f.member, "tool-0".to_owned(), compared(u64::MAX)).await.unwrap();
    assert!(none.compared.is_none());
    f.done().await;
}

async fn publication_and_secrets_are_in_the_audit_list(f: Fixture) {
    let mut reading = Reading::begin(&f).await;
    let made = draft(&f).await;
    assert!(reading.next(&f).await.is_empty(), "a draft has versions of its own");
    let published = publish(&f, &made).await;
    let entry = reading.expect(&f, &[Kind::ToolPublished]).await;
    assert_eq!(
        (entry.actor, entry.target, entry.detail.as_str()),
        (Some(f.operator.caller.to_string()), Some((TargetKind::Tool, made.id.0)), r#"{"version":1}"#)
    );
    publish(&f, &published).await;
    assert!(reading.next(&f).await.is_empty(), "a repeat publishes nothing");
    set(&f, &f.admin, "weather", "API_KEY", SECRET).await.unwrap();
    let entry = reading.expect(&f, &[Kind::ToolSecretSet]).await;
    assert_eq!((entry.target, entry.detail.as_str()), (Some((TargetKind::Tool, made.id.0)), r#"{"secret":"API_KEY"}"#));
    tool::delete_secret(&f.ledger, &f.admin, "weather", "API_KEY").await.unwrap();
    reading.expect(&f, &[Kind::ToolSecretDeleted]).await;
    tool::unpublish(&f.ledger, &f.operator, "weather").await.unwrap();
    reading.expect(&f, &[Kind::ToolUnpublished]).await;
    tool::unpublish(&f.ledger, &f.operator, "weather").await.unwrap();
    assert!(reading.next(&f).await.is_empty(), "a repeat withdraws nothing");
    let page = page::audit::read(&f.ledger, &f.admin, ledger::audit::ListEntries::default()).await.unwrap();
    assert_eq!(page.tools.iter().map(|tool| tool.slug.as_str()).collect::<Vec<_>>(), ["weather"]);
    f.assert_verified().await;
    f.done().await;
}

async fn a_bundle_creates_changes_and_publishes_a_tool_without_its_secrets(f: Fixture) {
    let bundle = |part: Value| {
        let mut tool = weather();
        tool["slug"] = "weather".into();
        tool.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        json!({ "groups": [{ "slug": "leads", "name": "Leads" }], "tools": [tool] }).to_string()
    };
    let publish = bundle(json!({ "publish": true, "audience": { "groups": ["leads"] } }));
    let refused = install(&f.ledger, &f.member, &publish, Mode::Apply).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let planned = install(&f.ledger, &f.operator, &publish, Mode::DryRun).await.unwrap();
    assert!(!planned.is_done() && tool::get(&f.ledger, &f.member, "weather").await.is_err());
    let mut reading = Reading::begin(&f).await;
    install(&f.ledger, &f.operator, &publish, Mode::Apply).await.unwrap();
    reading.expect(&f, &[Kind::GroupCreated, Kind::ToolPublished]).await;
    assert!(install(&f.ledger, &f.operator, &publish, Mode::Apply).await.unwrap().is_done());
    let first = tool::get(&f.ledger, &f.member, "weather").await.unwrap();
    assert_eq!((first.state, first.version, first.revision), (State::Published, Some(1), 1));
    set(&f, &f.admin, "weather", "API_KEY", SECRET).await.unwrap();
    // What the file leaves out stays: the call, the audience, and the secret.
    let some = json!({ "tools": [{ "slug": "weather", "name": "Weather now", "publish": true }] }).to_string();
    install(&f.ledger, &f.operator, &some, Mode::Apply).await.unwrap();
    let second = tool::get(&f.ledger, &f.member, "weather").await.unwrap();
    assert_eq!((second.definition.name.as_str(), second.version, second.revision), ("Weather now", Some(2), 2));
    assert_eq!(second.definition.audience, first.definition.audience);
    assert_eq!(value(&f, &second, "API_KEY").await.as_deref(), Some(SECRET));
    for (wrong, fields) in [
        (
            json!({ "slug": "new", "name": "x", "kind": "worker", "inputSchema": { "type": "object" } }),
            ["tools[0].slug"],
        ),
        (json!({ "slug": "a", "name": "x", "inputSchema": { "type": "object" } }), ["tools[0].kind"]),
        (json!({ "slug": "a", "secrets": { "API_KEY": "x" } }), ["tools[0].secrets"]),
    ] {
        let text = json!({ "tools": [wrong] }).to_string();
        assert_eq!(fields_of(install(&f.ledger, &f.operator, &text, Mode::Apply).await), fields);
    }
    f.done().await;
}
