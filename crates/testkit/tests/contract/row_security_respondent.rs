//! P-29: row-level security on PostgreSQL for people without an account, for every table in the catalogue.
//!
//! A transaction of such a person names its respondent. Only tables whose rows of others it may see are named here,
//! with the reason. A new table is found in the catalogue and has to hide its rows, or be listed.

use crate::row_security::{Table, insert, leave_only_policies, tables};
use domain::id::SessionId;
use std::collections::BTreeMap;
use testkit::{Fixture, Raw};

/// Tables whose rows a person without an account does not see unless they are their own, or of the session whose
/// question they answer. The others that hide their rows show none.
const OWN: [&str; 10] = [
    "public.feedback_requests",
    "public.gate_decisions",
    "public.gate_reviewers",
    "public.gates",
    "public.memory_watermarks",
    "public.request_answers",
    "public.responses",
    "public.session_events",
    "public.session_results",
    "public.sessions",
];

/// Tables of a workspace that a transaction of a person without an account may read and write, and why.
const OPEN: [(&str, &str); 27] = [
    ("public.actions", "the approval policy of the session that asked"),
    ("public.caused_failures", "a session that ends without an answer gets a cause"),
    ("public.captures_due", "a turn that an answer ends is queued for capture"),
    ("public.criteria_set_versions", "labels of ratings"),
    ("public.criteria_sets", "labels of ratings"),
    ("public.entities", "entities that a form offers, and the lead"),
    ("public.entity_types", "entities that a form offers, and the lead"),
    ("public.entity_versions", "the lead"),
    ("public.failure_causes", "a session that ends without an answer gets a cause"),
    ("public.group_members", "who is notified"),
    ("public.groups", "who is notified"),
    ("public.marks_due", "a mark that an answer makes is queued"),
    ("public.memberships", "who is notified"),
    ("public.outbox", "webhooks and notifications are queued"),
    ("public.response_counts", "how many responses the form has"),
    ("public.search_names_due", "the lead is queued for the search by name; a row has no text"),
    ("public.session_dependencies", "sessions that wait for the one that asked"),
    ("public.session_endings", "the end of the response's session"),
    ("public.session_failures", "a session that ends without an answer"),
    ("public.session_roll", "a sweep writes it; the digests of sessions tell nothing about them"),
    ("public.session_roll_heads", "the same"),
    ("public.session_unrolled", "the response's session is queued for the roll"),
    ("public.view_links", "the link by which the person came"),
    ("public.view_versions", "the form"),
    ("public.views", "the form"),
    ("public.webhooks", "who is told of the response"),
    ("public.session_roll_fill", "only the system reads it"),
];

/// The person without an account.
const RESPONDENT: &str = "018f0000-0000-7000-8000-00000000000a";

/// Begins a transaction as the server does for a person without an account, after the form was found open. `asking` is
/// the session whose question they answer; empty without one.
async fn begin(raw: &mut Raw, tenant: &str, asking: &str) {
    let begin = format!(
        "BEGIN; SET LOCAL ROLE shiftbook_app; \
         SELECT set_config('app.tenant', '{tenant}', true), set_config('app.user', '', true), \
         set_config('app.respondent', '{RESPONDENT}', true), set_config('app.asking_session', '{asking}', true)"
    );
    raw.execute(&begin).await.unwrap();
}

/// Returns whether the table shows a row of someone else, and whether it takes one.
async fn shows_and_takes(raw: &mut Raw, table: &Table, tenant: &str) -> (bool, bool) {
    begin(raw, tenant, "").await;
    let shown = raw.number(&format!("SELECT COUNT(*) FROM {}", table.name)).await > 0;
    raw.execute("ROLLBACK").await.unwrap();
    begin(raw, tenant, "").await;
    let taken = raw.execute(&insert(table, tenant)).await;
    raw.execute("ROLLBACK").await.unwrap();
    let refused = matches!(&taken, Err(error) if error.to_string().contains("row-level security"));
    (shown, !refused)
}

/// PostgreSQL only.
#[tokio::test]
async fn a_person_without_an_account_sees_and_writes_no_row_of_others() {
    let f = Fixture::postgres().await;
    let mut raw = f.engine.raw().await;
    let tenant = f.admin.tenant_id.to_string();
    let open = BTreeMap::from(OPEN);
    let (mut wrong, mut own) = (Vec::new(), Vec::new());
    for table in tables(&mut raw).await.iter().filter(|table| table.tenant) {
        leave_only_policies(&mut raw, table).await;
        // A table with one row for each workspace may have it already.
        raw.execute(&format!("{} ON CONFLICT DO NOTHING", insert(table, &tenant))).await.unwrap();
        let seen = shows_and_takes(&mut raw, table, &tenant).await;
        let name = table.name.as_str();
        if OWN.contains(&name) {
            own.push(table.name.clone());
        }
        if !open.contains_key(name) && seen != (false, false) {
            wrong.push(format!("{name}: shows, takes a row of somebody else: {seen:?}"));
        }
    }
    assert!(wrong.is_empty(), "add a policy, or list the table with its reason: {wrong:#?}");
    assert_eq!(own, OWN, "a table is gone");
    drop(raw);
    f.done().await;
}

/// The test finds a table without a policy for people without an account, and one whose policy is for reading only.
#[tokio::test]
async fn a_table_that_is_open_to_people_without_an_account_is_found() {
    let f = Fixture::postgres().await;
    let mut raw = f.engine.raw().await;
    let tenant = f.admin.tenant_id.to_string();
    let own = "tenant_id = shiftbook_tenant()";
    for (name, narrowed) in [
        ("no_policy", String::new()),
        (
            "read_only",
            "CREATE POLICY n ON read_only AS RESTRICTIVE FOR SELECT USING (shiftbook_respondent() IS NULL)".into(),
        ),
    ] {
        raw.execute(&format!(
            "CREATE TABLE {name} (tenant_id uuid NOT NULL, n bigint NOT NULL); \
             ALTER TABLE {name} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY; \
             CREATE POLICY p ON {name} USING ({own}); {narrowed}"
        ))
        .await
        .unwrap();
        let table = tables(&mut raw).await.into_iter().find(|table| table.name == format!("public.{name}")).unwrap();
        leave_only_policies(&mut raw, &table).await;
        raw.execute(&insert(&table, &tenant)).await.unwrap();
        assert_ne!(shows_and_takes(&mut raw, &table, &tenant).await, (false, false), "{name} passes");
    }
    drop(raw);
    f.done().await;
}

/// PostgreSQL only.
#[tokio::test]
async fn a_person_without_an_account_reads_their_own_large_result_alone_and_writes_none() {
    let f = Fixture::postgres().await;
    let (asking, own, without) = (f.running().await.id, f.running().await.id, f.running().await.id);
    let mut raw = f.engine.raw().await;
    let tenant = f.admin.tenant_id.to_string();
    let results = tables(&mut raw).await.into_iter().find(|table| table.name == "public.session_results").unwrap();
    leave_only_policies(&mut raw, &results).await;
    let theirs =
        format!("UPDATE sessions SET created_by = 'respondent:{RESPONDENT}' WHERE id IN ('{own}', '{without}')");
    raw.execute(&theirs).await.unwrap();
    let result = |of: SessionId| {
        format!("INSERT INTO session_results (tenant_id, session_id, result) VALUES ('{tenant}', '{of}', '1')")
    };
    for of in [asking, own] {
        raw.execute(&result(of)).await.unwrap();
    }
    begin(&mut raw, &tenant, &asking.to_string()).await;
    assert_eq!(raw.number("SELECT COUNT(*) FROM sessions").await, 3, "their own, and the one that asks");
    assert_eq!(raw.number("SELECT COUNT(*) FROM session_results").await, 1);
    let of_own = format!("SELECT COUNT(*) FROM session_results WHERE session_id = '{own}'");
    assert_eq!(raw.number(&of_own).await, 1, "not that of the session that asks");
    for change in ["UPDATE session_results SET result = '2'", "DELETE FROM session_results"] {
        assert_eq!(raw.execute(change).await.unwrap(), 0, "{change}");
    }
    let refused = raw.execute(&result(without)).await.unwrap_err().to_string();
    assert!(refused.contains("row-level security"), "{refused}");
    raw.execute("ROLLBACK").await.unwrap();
    drop(raw);
    f.done().await;
}
