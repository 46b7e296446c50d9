//! P-29: row-level security on PostgreSQL for whoever opened a link to a session, for every table in the catalogue.
//!
//! A transaction of such a reader names its link and no workspace. It sees the link, the session of the link, its large
//! result and the log of that session, and no row of any other table, also of tables that are added later.

use crate::row_security::{insert, leave_only_policies, tables};
use domain::id::ShareLinkId;
use ledger::share_link;
use testkit::{Fixture, Raw, text};

/// The tables of which such a reader sees rows.
const SHOWN: [&str; 4] = ["public.session_events", "public.session_results", "public.sessions", "public.share_links"];

/// Begins a transaction as the server does for such a reader, but without the mode that only reads.
async fn begin(raw: &mut Raw, link: ShareLinkId) {
    let begin = format!(
        "BEGIN; SET LOCAL ROLE shiftbook_app; \
         SELECT set_config('app.tenant', '', true), set_config('app.user', '', true), \
         set_config('app.system', 'off', true), set_config('app.shared_link', '{link}', true)"
    );
    raw.execute(&begin).await.unwrap();
}

async fn count(raw: &mut Raw, link: ShareLinkId, rows: &str) -> i64 {
    begin(raw, link).await;
    let count = raw.number(&format!("SELECT COUNT(*) FROM {rows}")).await;
    raw.execute("ROLLBACK").await.unwrap();
    count
}

/// Runs a change as such a reader. Returns the number of changed rows.
async fn change(raw: &mut Raw, link: ShareLinkId, sql: &str) -> Result<u64, String> {
    begin(raw, link).await;
    let changed = raw.execute(sql).await.map_err(|error| error.to_string());
    raw.execute("ROLLBACK").await.unwrap();
    changed
}

/// A session with three events, and a link to it.
async fn shared(f: &Fixture) -> (domain::id::SessionId, ShareLinkId) {
    let session = f.running().await;
    f.append(session.id, 1, vec![text("a"), text("b"), text("c")]).await.unwrap();
    let (link, _) = share_link::create(&f.ledger, &f.admin, session.id, 7).await.unwrap();
    (session.id, link.id)
}

/// PostgreSQL only.
#[tokio::test]
async fn a_reader_of_a_link_sees_its_session_alone_and_writes_nothing() {
    let f = Fixture::postgres().await;
    let (session, link) = shared(&f).await;
    let (hidden, other) = shared(&f).await;
    let mut raw = f.engine.raw().await;
    let tenant = f.admin.tenant_id.to_string();
    for of in [session, hidden] {
        let large =
            format!("INSERT INTO session_results (tenant_id, session_id, result) VALUES ('{tenant}', '{of}', '1')");
        raw.execute(&large).await.unwrap();
    }
    let mut wrong = Vec::new();
    for table in tables(&mut raw).await.iter().filter(|table| table.tenant) {
        leave_only_policies(&mut raw, table).await;
        let name = table.name.as_str();
        if !SHOWN.contains(&name) {
            // A table with one row for each workspace may have it already.
            raw.execute(&format!("{} ON CONFLICT DO NOTHING", insert(table, &tenant))).await.unwrap();
            let seen = count(&mut raw, link, name).await;
            if seen != 0 {
                wrong.push(format!("{name} shows {seen} rows"));
            }
        }
        for (what, sql) in [
            ("takes a row", insert(table, &tenant)),
            ("lets rows be removed", format!("DELETE FROM {name}")),
            ("lets rows be changed", format!("UPDATE {name} SET tenant_id = tenant_id")),
        ] {
            let refused = match change(&mut raw, link, &sql).await {
                Ok(changed) => changed == 0,
                Err(error) => error.contains("row-level security"),
            };
            if !refused {
                wrong.push(format!("{name} {what}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert_eq!(count(&mut raw, link, "tenants").await, 0);
    let own = format!("WHERE id = '{session}'");
    assert_eq!(count(&mut raw, link, "sessions").await, 1);
    assert_eq!(count(&mut raw, link, &format!("sessions {own}")).await, 1);
    assert_eq!(count(&mut raw, link, &format!("sessions WHERE id <> '{session}'")).await, 0);
    let events = count(&mut raw, link, "session_events").await;
    assert_eq!((events > 3, count(&mut raw, link, "share_links").await), (true, 1));
    assert_eq!(count(&mut raw, link, &format!("session_events WHERE session_id = '{session}'")).await, events);
    assert_eq!(count(&mut raw, link, "session_results").await, 1);
    assert_eq!(count(&mut raw, link, &format!("session_results WHERE session_id = '{session}'")).await, 1);
    assert_eq!(count(&mut raw, other, &format!("sessions {own}")).await, 0, "by another link");
    let unknown = ShareLinkId(uuid::Uuid::nil());
    assert_eq!(count(&mut raw, unknown, "sessions").await, 0, "by no link");
    drop(raw);
    f.done().await;
}

/// PostgreSQL only.
#[tokio::test]
async fn a_reader_of_a_revoked_link_and_of_a_private_session_sees_nothing() {
    let f = Fixture::postgres().await;
    let (session, link) = shared(&f).await;
    let mut raw = f.engine.raw().await;
    let private = format!("UPDATE sessions SET private_to = 'user:x' WHERE id = '{session}'");
    raw.execute(&private).await.unwrap();
    assert_eq!(count(&mut raw, link, "sessions").await, 0);
    raw.execute(&private.replace("'user:x'", "NULL")).await.unwrap();
    assert_eq!(count(&mut raw, link, "sessions").await, 1);
    share_link::revoke(&f.ledger, &f.admin, link).await.unwrap();
    for rows in ["sessions", "session_events"] {
        assert_eq!(count(&mut raw, link, rows).await, 0, "{rows}");
    }
    drop(raw);
    f.done().await;
}
