//! MCP servers of a workspace: who manages them, their secret headers, what they list, and the tools that come of it.

use crate::{audit::Reading, criteria_set::fields_of};
use domain::{
    Scope,
    audit::Kind,
    mcp::{OfferedTool, Transport},
    tool::{Secret, State},
};
use ledger::{
    Error, ListPage, McpProgram, McpServerRecord, Settings,
    bundle::{Mode, install},
    mcp_server::{self, McpServerChange, NewMcpServer, SecretChange},
    tool::{self, NewTool},
};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use testkit::{Fixture, Raw, on_both_engines};

on_both_engines!(
    operators_add_change_and_delete_mcp_servers,
    secret_headers_are_for_admins_and_in_no_row_or_answer,
    a_listing_says_what_changed_and_a_stale_one_is_refused,
    listed_tools_become_drafts_and_take_over_changes,
    a_bundle_installs_servers_without_secrets_before_their_tools,
    a_bundle_is_refused_where_its_server_may_not_be,
);

const SECRET: &str = "Bearer hunter2-s3cr3t-value";

fn http(url: &str) -> Transport {
    Transport::Http { url: url.to_owned(), headers: BTreeMap::new() }
}

fn new(name: &str) -> NewMcpServer {
    NewMcpServer {
        slug: None,
        name: name.to_owned(),
        transport: http("https://mcp.example.org/mcp"),
        secret_headers: BTreeMap::new(),
    }
}

async fn add(f: &Fixture, name: &str) -> McpServerRecord {
    mcp_server::create(&f.ledger, &f.operator, new(name)).await.unwrap()
}

fn offered(name: &str, about: &str) -> OfferedTool {
    OfferedTool {
        name: name.to_owned(),
        title: None,
        description: Some(about.to_owned()),
        input_schema: json!({ "type": "object", "description": about }),
        output_schema: None,
    }
}

async fn operators_add_change_and_delete_mcp_servers(f: Fixture) {
    let mut reading = Reading::begin(&f).await;
    let made = add(&f, "Files").await;
    assert_eq!((made.slug.as_str(), made.revision, made.tool_count), ("files", 1, None));
    reading.expect(&f, &[Kind::McpServerCreated]).await;
    let taken = mcp_server::create(&f.ledger, &f.operator, new("Files")).await;
    assert!(matches!(taken, Err(Error::NameTaken(_))), "{taken:?}");
    assert!(matches!(mcp_server::create(&f.ledger, &f.member, new("X")).await, Err(Error::Forbidden(_))));
    assert!(matches!(mcp_server::get(&f.ledger, &f.member, "files").await, Err(Error::Forbidden(_))));
    let foreign = mcp_server::get(&f.ledger, &f.stranger, "files").await;
    assert!(matches!(foreign, Err(Error::NotFound(_))), "{foreign:?}");
    let wrong = NewMcpServer { transport: http("ftp://a"), name: String::new(), ..new("X") };
    let wrong = NewMcpServer { slug: Some("x".to_owned()), ..wrong };
    assert_eq!(fields_of(mcp_server::create(&f.ledger, &f.operator, wrong).await), ["name", "transport.url"]);

    let renamed = McpServerChange { revision: 1, name: Some("Docs".to_owned()), ..McpServerChange::default() };
    let changed = mcp_server::update(&f.ledger, &f.operator, "files", renamed.clone()).await.unwrap();
    assert_eq!((changed.definition.name.as_str(), changed.revision), ("Docs", 2));
    reading.expect(&f, &[Kind::McpServerChanged]).await;
    let stale = mcp_server::update(&f.ledger, &f.operator, "files", renamed).await;
    assert!(matches!(stale, Err(Error::StaleRevision { given: 1, current: 2 })), "{stale:?}");
    let same = McpServerChange { revision: 2, ..McpServerChange::default() };
    assert_eq!(mcp_server::update(&f.ledger, &f.operator, "files", same).await.unwrap(), changed);

    for name in ["A", "B"] {
        f.clock.advance(chrono::TimeDelta::seconds(1));
        add(&f, name).await;
    }
    let page = |cursor| ListPage { limit: 2, cursor };
    let first = mcp_server::list(&f.ledger, &f.operator, page(None)).await.unwrap();
    let second = mcp_server::list(&f.ledger, &f.operator, page(first.next_cursor)).await.unwrap();
    let slugs: Vec<_> = first.items.iter().chain(&second.items).map(|server| server.slug.as_str()).collect();
    assert_eq!((slugs.len(), slugs[2], second.next_cursor), (3, "files", None));
    mcp_server::delete(&f.ledger, &f.operator, "files").await.unwrap();
    let gone = mcp_server::delete(&f.ledger, &f.operator, "files").await;
    assert!(matches!(gone, Err(Error::NotFound(_))), "{gone:?}");
    f.done().await;
}

async fn secret_headers_are_for_admins_and_in_no_row_or_answer(f: Fixture) {
    let mut reading = Reading::begin(&f).await;
    add(&f, "Files").await;
    let set = |name: &str, change| BTreeMap::from([(name.to_owned(), change)]);
    let secret = McpServerChange {
        revision: 1,
        secret_headers: set("authorization", SecretChange::Set(Secret::new(SECRET.to_owned()))),
        ..McpServerChange::default()
    };
    let refused = mcp_server::update(&f.ledger, &f.operator, "files", secret.clone()).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let made = mcp_server::update(&f.ledger, &f.admin, "files", secret).await.unwrap();
    let system = Scope::system(f.admin.tenant_id);
    let target = mcp_server::target(&f.ledger, &system, "files").await.unwrap();
    assert_eq!((target.secrets.get("authorization"), target.workspace.as_str()), (Some(SECRET), "acme"));
    // Whoever chooses the address could read the value there.
    let moved = |revision| McpServerChange {
        revision,
        transport: Some(http("https://elsewhere.example.org")),
        ..McpServerChange::default()
    };
    let refused = mcp_server::update(&f.ledger, &f.operator, "files", moved(2)).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    let moved = mcp_server::update(&f.ledger, &f.admin, "files", moved(2)).await.unwrap();
    let target = mcp_server::target(&f.ledger, &system, "files").await.unwrap();
    assert_eq!(target.secrets.get("authorization"), Some(SECRET), "another change lost the value");
    let entries = reading.next(&f).await;
    let printed = format!("{made:?} {moved:?} {target:?} {entries:?}");
    assert!(printed.contains("authorization") && !printed.contains("hunter2"), "{printed}");
    let mut raw = f.engine.raw().await;
    let hex = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    let sealed = match raw {
        Raw::Sqlite(_) => "SELECT lower(hex(sealed)) FROM mcp_servers",
        Raw::Postgres(_) => "SELECT encode(sealed, 'hex') FROM mcp_servers",
    };
    let rows = raw.texts(sealed).await;
    assert!(rows.len() == 1 && !rows[0].contains(&hex), "{rows:?}");
    let rows = raw.texts("SELECT definition FROM mcp_servers").await;
    assert!(!rows[0].contains("hunter2"), "{rows:?}");
    drop(raw);
    let deleted = McpServerChange {
        revision: 3,
        secret_headers: set("authorization", SecretChange::Delete),
        ..McpServerChange::default()
    };
    let without = mcp_server::update(&f.ledger, &f.admin, "files", deleted).await.unwrap();
    assert!(without.definition.secret_headers.is_empty());
    let target = mcp_server::target(&f.ledger, &system, "files").await.unwrap();
    assert_eq!(target.secrets.get("authorization"), None);
    f.done().await;
}

async fn a_listing_says_what_changed_and_a_stale_one_is_refused(f: Fixture) {
    let made = add(&f, "Files").await;
    let before = mcp_server::listing(&f.ledger, &f.operator, "files").await.unwrap();
    assert_eq!((before.listing, before.listed_at), (None, None));
    let at = ("files", made.revision);
    let first = vec![offered("read", "Reads."), offered("<b>", "?")];
    let listed = mcp_server::record_listing(&f.ledger, &f.operator, at, first, false).await.unwrap();
    assert_eq!(mcp_server::listing(&f.ledger, &f.operator, "files").await.unwrap(), listed);
    let server = mcp_server::get(&f.ledger, &f.operator, "files").await.unwrap();
    assert_eq!((server.tool_count, server.listed_at, server.revision), (Some(1), listed.listed_at, 1));
    let second = vec![offered("write", "Writes.")];
    let listed = mcp_server::record_listing(&f.ledger, &f.operator, at, second, false).await.unwrap();
    assert_eq!(listed.listing.unwrap().gone, ["read"]);
    let stale = mcp_server::record_listing(&f.ledger, &f.operator, ("files", 7), Vec::new(), false).await;
    assert!(matches!(stale, Err(Error::StaleRevision { given: 7, current: 1 })), "{stale:?}");
    f.done().await;
}

async fn listed_tools_become_drafts_and_take_over_changes(f: Fixture) {
    let made = add(&f, "Files").await;
    let at = ("files", made.revision);
    let list = async |tools: Vec<OfferedTool>| {
        mcp_server::record_listing(&f.ledger, &f.operator, at, tools, false).await.unwrap();
    };
    let import = async |names: &[&str]| {
        let names = names.iter().map(|name| (*name).to_owned()).collect();
        mcp_server::import(&f.ledger, &f.operator, "files", names).await
    };
    list(vec![offered("read", "Reads."), offered("a.b", "1"), offered("a-b", "2")]).await;
    let imported = import(&["read", "a.b"]).await.unwrap();
    let slugs: Vec<_> = imported.iter().map(|tool| (tool.slug.as_str(), tool.state)).collect();
    assert_eq!(slugs, [("files-read", State::Draft), ("files-a-b", State::Draft)]);
    assert_eq!(imported[0].definition.mcp().map(|call| call.tool.as_str()), Some("read"));
    for (names, fields) in
        [(["read", "read"], ["tools[1]"]), (["read", "none"], ["tools[1]"]), (["read", "a-b"], ["tools[1]"])]
    {
        assert_eq!(fields_of(import(&names).await), fields, "{names:?}");
    }
    assert_eq!(fields_of(import(&[]).await), ["tools"]);
    assert_eq!(import(&["read"]).await.unwrap(), [imported[0].clone()], "nothing differs, so nothing changes");
    list(vec![offered("read", "Reads a file.")]).await;
    let again = import(&["read"]).await.unwrap();
    assert_eq!((again[0].id, again[0].revision), (imported[0].id, 2));
    assert_eq!(again[0].definition.description, "Reads a file.");
    let other = serde_json::from_value(json!({ "name": "X", "kind": "worker", "inputSchema": { "type": "object" } }));
    let other = NewTool { slug: Some("files-write".to_owned()), definition: other.unwrap() };
    tool::create(&f.ledger, &f.operator, other).await.unwrap();
    list(vec![offered("write", "Writes.")]).await;
    assert_eq!(fields_of(import(&["write"]).await), ["tools[0]"], "another tool has the slug");
    f.done().await;
}

fn bundle(server: Value) -> String {
    let tool = json!({
        "slug": "read", "name": "Read", "kind": "mcp", "mcp": { "server": "files", "tool": "read" },
        "inputSchema": { "type": "object" }, "publish": true,
    });
    json!({ "mcpServers": [server], "tools": [tool] }).to_string()
}

async fn a_bundle_installs_servers_without_secrets_before_their_tools(f: Fixture) {
    let at = |url: &str| bundle(json!({ "slug": "files", "name": "Files", "transport": http(url) }));
    let mut reading = Reading::begin(&f).await;
    let planned = install(&f.ledger, &f.operator, &at("https://mcp.example.org/mcp"), Mode::DryRun).await.unwrap();
    let kinds: Vec<_> = planned.items.iter().map(|item| item.kind.as_str()).collect();
    assert_eq!(kinds, ["mcp_server", "tool"]);
    assert!(mcp_server::get(&f.ledger, &f.operator, "files").await.is_err(), "a dry run wrote something");
    install(&f.ledger, &f.operator, &at("https://mcp.example.org/mcp"), Mode::Apply).await.unwrap();
    reading.expect(&f, &[Kind::McpServerCreated, Kind::ToolPublished]).await;
    assert!(install(&f.ledger, &f.operator, &at("https://mcp.example.org/mcp"), Mode::Apply).await.unwrap().is_done());
    let made = mcp_server::get(&f.ledger, &f.operator, "files").await.unwrap();
    assert_eq!((made.revision, made.definition.transport), (1, http("https://mcp.example.org/mcp")));
    let secret_headers =
        [("authorization".to_owned(), SecretChange::Set(Secret::new(SECRET.to_owned())))].into_iter().collect();
    let change = McpServerChange { revision: 1, secret_headers, ..McpServerChange::default() };
    mcp_server::update(&f.ledger, &f.admin, "files", change).await.unwrap();
    // Whoever chooses the address could read the secret headers there.
    let elsewhere = at("https://elsewhere.test/mcp");
    let refused = install(&f.ledger, &f.operator, &elsewhere, Mode::Apply).await;
    assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    install(&f.ledger, &f.admin, &elsewhere, Mode::Apply).await.unwrap();
    let moved = mcp_server::target(&f.ledger, &f.admin, "files").await.unwrap();
    assert_eq!(moved.definition.transport, http("https://elsewhere.test/mcp"));
    assert_eq!(moved.secrets.get("authorization"), Some(SECRET), "the secret headers stay");
    f.done().await;
}

async fn a_bundle_is_refused_where_its_server_may_not_be(mut f: Fixture) {
    let program = Transport::Stdio { program: "files".to_owned() };
    let of_program = bundle(json!({ "slug": "files", "name": "Files", "transport": program }));
    let refused = install(&f.ledger, &f.operator, &of_program, Mode::Apply).await;
    assert_eq!(fields_of(refused), ["mcpServers[0].transport.program"]);
    let by_member = install(&f.ledger, &f.member, &of_program, Mode::Apply).await;
    assert!(matches!(by_member, Err(Error::Forbidden(_))), "{by_member:?}");
    let secret = json!({ "slug": "files", "name": "Files", "transport": http("https://mcp.example.org"),
        "secretHeaders": { "authorization": "x" } });
    let refused = install(&f.ledger, &f.admin, &bundle(secret), Mode::Apply).await;
    assert_eq!(fields_of(refused), ["mcpServers[0].secretHeaders"]);
    let wrong = json!({ "slug": "files", "name": "", "transport": http("ftp://mcp.example.org") });
    let mut fields = fields_of(install(&f.ledger, &f.operator, &bundle(wrong), Mode::Apply).await);
    fields.sort();
    assert_eq!(fields, ["mcpServers[0].name", "mcpServers[0].transport.url"]);
    let of_acme = McpProgram { name: "files".to_owned(), workspace: "acme".to_owned() };
    f.restart_with_settings(Settings { mcp_programs: vec![of_acme], ..Settings::default() }).await;
    install(&f.ledger, &f.operator, &of_program, Mode::Apply).await.unwrap();
    let elsewhere = install(&f.ledger, &f.stranger, &of_program, Mode::Apply).await;
    assert_eq!(fields_of(elsewhere), ["mcpServers[0].transport.program"]);
    f.done().await;
}
