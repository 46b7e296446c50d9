//! P-22: row-level security on PostgreSQL, for every table in the catalogue, and the rights of the server's role.
//!
//! For row-level security only tables without a workspace are named here. A new table with a `tenant_id` is found in
//! the catalogue, gets a row for each of two workspaces, and must hide and protect them.

use serde_json::Value;
use std::{
    collections::BTreeMap,
    sync::atomic::{AtomicU32, Ordering},
};
use testkit::{Fixture, Raw};

/// Tables without a column `tenant_id`, and why they have none. The test fails for a table that is missing here.
const WITHOUT_TENANT: [(&str, &str); 8] = [
    ("public._sqlx_migrations", "which migrations were applied; the server's role has no right on it"),
    ("public.leases", "names of background jobs and the servers that hold them"),
    (
        "public.search_events",
        "words behind the number of their workspace; a policy would keep the planner from the index, because the match \
         operator is not leakproof. What a search finds is read from session_events, whose policies apply",
    ),
    ("public.search_state", "how far the search of all workspaces is behind the log"),
    ("public.sign_in_attempts", "digests of e-mail addresses, counted before anybody is known"),
    ("public.tenants", "a row is a workspace: its own policy goes by id"),
    ("public.users", "a person may belong to several workspaces; memberships has the workspace"),
    ("session_feedback.session_feedback", "ratings that cannot be traced to a workspace on purpose"),
];

/// Tables with a `tenant_id` that only the system reads, and why.
const OF_THE_SYSTEM: [(&str, &str); 2] = [
    ("public.failure_regroup", "how far the failures of all workspaces are grouped; the server continues it at start"),
    ("public.session_roll_fill", "how far a migration of all workspaces has come; the server continues it at start"),
];

/// Name, columns and policies of each table, from the catalogue.
const TABLES: &str = "SELECT json_build_object('name', n.nspname || '.' || c.relname,
        'tenant', EXISTS (SELECT FROM pg_attribute a
            WHERE a.attrelid = c.oid AND a.attname = 'tenant_id' AND NOT a.attisdropped),
        'enabled', c.relrowsecurity, 'forced', c.relforcerowsecurity,
        'policies', (SELECT COUNT(*) FROM pg_policies p WHERE p.schemaname = n.nspname AND p.tablename = c.relname
              AND p.permissive = 'PERMISSIVE' AND p.cmd = 'ALL'),
        'columns', (SELECT json_agg(json_build_array(a.attname, format_type(a.atttypid, NULL)) ORDER BY a.attnum)
            FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
              AND (a.attname = 'tenant_id' OR a.attnotnull)))::text
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('r', 'p', 'f') AND NOT c.relispartition
      AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\\_t%'
    ORDER BY 1";

/// Ways to bypass row-level security that the schema must not contain. Each query returns the names of offenders.
const WAYS_AROUND: [(&str, &str); 4] = [
    (
        "the server's role is above policies",
        "SELECT rolname::text FROM pg_roles WHERE rolname = 'shiftbook_app' AND (rolsuper OR rolbypassrls)",
    ),
    (
        "the server's role owns a table",
        "SELECT c.relname::text FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner
           WHERE r.rolname = 'shiftbook_app'",
    ),
    (
        // The policies of a partitioned table do not apply to direct access to its partitions.
        "the server's role has a right on a partition itself",
        "SELECT c.relname::text FROM pg_class c WHERE c.relispartition AND c.relkind IN ('r', 'p')
           AND has_table_privilege('shiftbook_app', c.oid, 'SELECT, INSERT, UPDATE, DELETE, TRUNCATE')",
    ),
    (
        "a view or function works with its owner's rights",
        "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
           WHERE c.relkind IN ('v', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
         UNION ALL SELECT p.proname::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
           WHERE p.prosecdef AND n.nspname NOT IN ('pg_catalog', 'information_schema')",
    ),
];

/// Tables to which the server only adds rows, or which it only reads.
const APPEND_ONLY: [&str; 22] = [
    "public.audit_entries",
    "public.canvas_patches",
    "public.canvas_snapshots",
    "public.criteria_set_versions",
    "public.entity_versions",
    "public.erasures",
    "public.gate_decisions",
    "public.gate_reviewers",
    "public.interaction_feedback",
    "public.interaction_outcomes",
    "public.interactions",
    "public.memory_cards",
    "public.memory_runs",
    "public.memory_versions",
    "public.rule_uses",
    "public.rule_versions",
    "public.session_dependencies",
    "public.session_events",
    "public.session_roll",
    "public.tool_secret_versions",
    "public.tool_versions",
    "public.view_versions",
];

/// Rights that the server's role has although a trigger looks at every such change, and why.
const LOOKED_AT: [(&str, &str); 1] =
    [("public.request_answers UPDATE", "the claim that takes an answer stamps it; the trigger lets only that through")];

/// Rights of the server's role to write, as `schema.table PRIVILEGE`. A right to one column counts.
const RIGHTS: &str = "SELECT n.nspname || '.' || c.relname || ' ' || p.name
    FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      CROSS JOIN (VALUES ('INSERT'), ('UPDATE'), ('DELETE'), ('TRUNCATE'), ('TRIGGER')) AS p (name)
    WHERE c.relkind IN ('r', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
      AND n.nspname NOT LIKE 'pg\\_t%'
      AND CASE WHEN p.name IN ('INSERT', 'UPDATE') THEN has_any_column_privilege('shiftbook_app', c.oid, p.name)
          ELSE has_table_privilege('shiftbook_app', c.oid, p.name) END
    ORDER BY 1";

/// Changes that a trigger looks at before they happen, whatever the row and the columns, in the form of [`RIGHTS`]. The
/// bits of `tgtype`: 2 is before, 8 is DELETE, 16 is UPDATE, 32 is TRUNCATE.
const GUARDED: &str = "SELECT DISTINCT n.nspname || '.' || c.relname || ' ' || p.name
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
      CROSS JOIN (VALUES ('DELETE', 8), ('UPDATE', 16), ('TRUNCATE', 32)) AS p (name, bit)
    WHERE NOT t.tgisinternal AND t.tgqual IS NULL AND t.tgattr::text = ''
      AND t.tgtype::integer & 2 <> 0 AND t.tgtype::integer & p.bit <> 0
    ORDER BY 1";

pub struct Table {
    pub name: String,
    pub tenant: bool,
    guarded: bool,
    /// Name and type of the columns that need a value.
    columns: Vec<(String, String)>,
}

pub async fn tables(raw: &mut Raw) -> Vec<Table> {
    let rows = raw.texts(TABLES).await;
    let tables = rows.iter().map(|row| {
        let row: Value = serde_json::from_str(row).unwrap();
        let columns = row["columns"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Table {
            name: text(&row["name"]),
            tenant: row["tenant"] == true,
            guarded: row["enabled"] == true && row["forced"] == true && row["policies"].as_u64() > Some(0),
            columns: columns.map(|column| (text(&column[0]), text(&column[1]))).collect(),
        }
    });
    tables.collect()
}

/// Source of unique numbers for rows.
static NUMBER: AtomicU32 = AtomicU32::new(1_000);

/// Returns an INSERT of a row of this workspace, with arbitrary values in the other columns that need one.
pub fn insert(table: &Table, tenant: &str) -> String {
    let value = |(name, kind): &(String, String)| match kind.as_str() {
        _ if name == "tenant_id" => format!("'{tenant}'::uuid"),
        "uuid" => "gen_random_uuid()".to_owned(),
        "text" | "character varying" => "gen_random_uuid()::text".to_owned(),
        "bytea" => "sha256(gen_random_uuid()::text::bytea)".to_owned(),
        "smallint" | "integer" | "bigint" => NUMBER.fetch_add(1, Ordering::Relaxed).to_string(),
        "boolean" => "false".to_owned(),
        "double precision" | "real" | "numeric" => "0.5".to_owned(),
        "json" | "jsonb" => format!("'{{}}'::{kind}"),
        other => panic!("{}.{name}: say here what a value of the type {other} looks like", table.name),
    };
    let names: Vec<_> = table.columns.iter().map(|column| column.0.as_str()).collect();
    let values: Vec<_> = table.columns.iter().map(value).collect();
    format!("INSERT INTO {} ({}) VALUES ({})", table.name, names.join(", "), values.join(", "))
}

/// Removes constraints and triggers that could refuse a row, and grants the server's role every right, so that only
/// policies decide.
pub async fn leave_only_policies(raw: &mut Raw, table: &Table) {
    let name = &table.name;
    raw.execute(&format!("ALTER TABLE {name} DISABLE TRIGGER ALL")).await.unwrap();
    raw.execute(&format!("GRANT SELECT, INSERT, UPDATE, DELETE ON {name} TO shiftbook_app")).await.unwrap();
    let checks =
        format!("SELECT conname::text FROM pg_constraint WHERE contype = 'c' AND conrelid = '{name}'::regclass");
    for check in raw.texts(&checks).await {
        raw.execute(&format!("ALTER TABLE {name} DROP CONSTRAINT {check}")).await.unwrap();
    }
}

/// Runs statements as the server does for this workspace, and rolls them back. Returns the rows that the last one
/// changed.
async fn on_behalf(raw: &mut Raw, tenant: &str, sql: &str) -> Result<u64, String> {
    let begin = format!(
        "BEGIN; SET LOCAL ROLE shiftbook_app; \
         SELECT set_config('app.tenant', '{tenant}', true), set_config('app.user', '', true)"
    );
    raw.execute(&begin).await.unwrap();
    let outcome = raw.execute(sql).await.map_err(|error| error.to_string());
    raw.execute("ROLLBACK").await.unwrap();
    outcome
}

async fn count(raw: &mut Raw, tenant: &str, table: &str, condition: &str) -> i64 {
    let begin = format!("BEGIN; SET LOCAL ROLE shiftbook_app; SELECT set_config('app.tenant', '{tenant}', true)");
    raw.execute(&begin).await.unwrap();
    let count = raw.number(&format!("SELECT COUNT(*) FROM {table} WHERE {condition}")).await;
    raw.execute("ROLLBACK").await.unwrap();
    count
}

/// Returns the ways in which this table fails to separate two workspaces.
async fn faults(raw: &mut Raw, table: &Table, acme: &str, other: &str) -> Vec<String> {
    let name = table.name.as_str();
    let mut faults = Vec::new();
    let mut expect = |holds: bool, fault: &str| {
        if !holds {
            faults.push(format!("{name} {fault}"));
        }
    };
    expect(table.guarded, "has no row-level security that is enabled, forced and has a policy for every command");
    for tenant in [acme, other] {
        // A table with one row for each workspace may have it already.
        raw.execute(&format!("{} ON CONFLICT DO NOTHING", insert(table, tenant))).await.unwrap();
    }
    let theirs = format!("tenant_id = '{acme}'");
    expect(count(raw, "", name, "true").await == 0, "shows rows to nobody's workspace");
    expect(count(raw, other, name, &theirs).await == 0, "shows the rows of another workspace");
    let system = OF_THE_SYSTEM.iter().any(|(listed, _)| *listed == name);
    expect((count(raw, acme, name, &theirs).await > 0) != system, "hides its own rows, or is no table of the system");
    let refused = |outcome: &Result<u64, String>| matches!(outcome, Err(error) if error.contains("row-level security"));
    for tenant in [other, ""] {
        let outcome = on_behalf(raw, tenant, &insert(table, acme)).await;
        expect(refused(&outcome), &format!("takes a row for another workspace: {outcome:?}"));
    }
    let moved = on_behalf(raw, other, &format!("UPDATE {name} SET tenant_id = '{acme}'")).await;
    expect(refused(&moved) || (system && moved == Ok(0)), &format!("moves a row to another workspace: {moved:?}"));
    for change in [format!("UPDATE {name} SET tenant_id = tenant_id"), format!("DELETE FROM {name}")] {
        let changed = on_behalf(raw, other, &format!("{change} WHERE {theirs}")).await;
        expect(changed == Ok(0), &format!("lets another workspace change its rows: {changed:?}"));
    }
    faults
}

/// PostgreSQL only: the server's SQL without its condition on the workspace.
#[tokio::test]
async fn row_level_security_guards_every_table_of_the_catalogue() {
    let f = Fixture::postgres().await;
    let mut raw = f.engine.raw().await;
    let (acme, other) = (f.admin.tenant_id.to_string(), f.stranger.tenant_id.to_string());
    let tables = tables(&mut raw).await;
    let reasons = BTreeMap::from(WITHOUT_TENANT);
    let listed: Vec<_> = reasons.keys().map(|name| (*name).to_owned()).collect();
    let without: Vec<_> = tables.iter().filter(|t| !t.tenant).map(|t| t.name.clone()).collect();
    assert_eq!(without, listed, "the tables without a workspace are not those that were reviewed");
    let mut wrong = Vec::new();
    for table in tables.iter().filter(|table| table.tenant) {
        leave_only_policies(&mut raw, table).await;
        wrong.extend(faults(&mut raw, table, &acme, &other).await);
    }
    for (what, query) in WAYS_AROUND {
        wrong.extend(raw.texts(query).await.iter().map(|name| format!("{what}: {name}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // The policy of the table of workspaces uses their id.
    assert_eq!(count(&mut raw, &other, "tenants", &format!("id = '{acme}'")).await, 0);
    assert_eq!(count(&mut raw, &other, "tenants", &format!("id = '{other}'")).await, 1);
    let renamed = on_behalf(&mut raw, &other, &format!("UPDATE tenants SET name = 'x' WHERE id = '{acme}'")).await;
    assert_eq!(renamed, Ok(0));
    drop(raw);
    f.done().await;
}

/// The test finds a table without row-level security, and one with incomplete policies.
#[tokio::test]
async fn a_table_whose_policy_is_missing_or_weak_is_found() {
    let f = Fixture::postgres().await;
    let mut raw = f.engine.raw().await;
    let (acme, other) = (f.admin.tenant_id.to_string(), f.stranger.tenant_id.to_string());
    let own = "tenant_id = shiftbook_tenant()";
    let forced = "ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY";
    for (name, security, policy) in [
        ("bare", "", String::new()),
        ("no_policy", forced, String::new()),
        ("not_forced", "ENABLE ROW LEVEL SECURITY", format!("USING ({own})")),
        ("open_policy", forced, "USING (true)".to_owned()),
        ("open_to_write", forced, format!("USING ({own}) WITH CHECK (true)")),
    ] {
        let mut guards = vec![format!("CREATE TABLE {name} (tenant_id uuid NOT NULL, n bigint NOT NULL)")];
        if !security.is_empty() {
            guards.push(format!("ALTER TABLE {name} {security}"));
        }
        if !policy.is_empty() {
            guards.push(format!("CREATE POLICY p ON {name} {policy}"));
        }
        raw.execute(&guards.join("; ")).await.unwrap();
        let table = tables(&mut raw).await.into_iter().find(|table| table.name == format!("public.{name}")).unwrap();
        leave_only_policies(&mut raw, &table).await;
        let found = faults(&mut raw, &table, &acme, &other).await;
        assert!(!found.is_empty(), "{name} passes");
    }
    drop(raw);
    f.done().await;
}

/// PostgreSQL only. Triggers refuse such changes for every role; the server's role has no right to them at all.
#[tokio::test]
async fn the_servers_role_has_no_right_to_change_what_happened() {
    let f = Fixture::postgres().await;
    let mut raw = f.engine.raw().await;
    let (rights, guarded) = (raw.texts(RIGHTS).await, raw.texts(GUARDED).await);
    let has = |right: &str| rights.iter().any(|one| one == right);
    // The queries find what is there.
    for right in ["public.session_events INSERT", "public.sessions UPDATE", "public.outbox DELETE"] {
        assert!(has(right), "{right} is missing: {rights:?}");
    }
    for change in ["public.session_events UPDATE", "public.gate_decisions DELETE", "public.sessions TRUNCATE"] {
        assert!(guarded.iter().any(|one| one == change), "{change} is missing: {guarded:?}");
    }
    let mut wrong: Vec<String> = ["UPDATE", "DELETE"]
        .iter()
        .flat_map(|privilege| APPEND_ONLY.iter().map(move |table| format!("{table} {privilege}")))
        .chain(guarded)
        .filter(|change| has(change) && !LOOKED_AT.iter().any(|(right, _)| right == change))
        .collect();
    wrong.extend(rights.iter().filter(|right| right.ends_with(" TRUNCATE") || right.ends_with(" TRIGGER")).cloned());
    // Only retention writes erasures, with the rights of the tables' owner.
    wrong.extend(rights.iter().filter(|right| *right == "public.erasures INSERT").cloned());
    assert!(wrong.is_empty(), "the server's role may {wrong:?}");
    drop(raw);
    f.done().await;
}

/// The test finds a right that a migration grants by mistake.
#[tokio::test]
async fn a_right_to_change_the_log_is_found() {
    let f = Fixture::postgres().await;
    let mut raw = f.engine.raw().await;
    let before = raw.texts(RIGHTS).await;
    raw.execute("GRANT UPDATE (content), DELETE ON session_events TO shiftbook_app").await.unwrap();
    let found: Vec<_> = raw.texts(RIGHTS).await.into_iter().filter(|right| !before.contains(right)).collect();
    assert_eq!(found, ["public.session_events DELETE", "public.session_events UPDATE"]);
    drop(raw);
    f.done().await;
}
