//! Migrations that change the rows of earlier versions.

use crate::thread::new;
use ledger::thread::{self, NewThread};
use testkit::{Fixture, Raw};

const CHANNELS: &str = include_str!("../../../../migrations/postgres/0045_session_channels.sql");
const PRIVATE: &str = include_str!("../../../../migrations/postgres/0046_private_sessions_of_owners.sql");

/// Takes the schema back to where the migration of channels begins.
async fn remove_channels(raw: &mut Raw) {
    raw.execute("DROP INDEX sessions_by_channel; ALTER TABLE sessions DROP COLUMN channel").await.unwrap();
}

/// The channels of all sessions.
async fn channels(raw: &mut Raw) -> Vec<String> {
    raw.texts("SELECT channel FROM sessions WHERE channel IS NOT NULL ORDER BY id").await
}

/// PostgreSQL only: `shiftbook_app` stands for an owner of the tables who is no superuser and has no BYPASSRLS.
#[tokio::test]
async fn an_owner_whom_row_level_security_restricts_upgrades_the_rows_of_before() {
    let f = Fixture::postgres().await;
    thread::start(&f.ledger, &f.member, new(Some("Hello"))).await.unwrap();
    let hidden = NewThread { incognito: true, ..new(Some("A secret")) };
    let hidden = thread::start(&f.ledger, &f.member, hidden).await.unwrap().session;
    let mut raw = f.engine.raw().await;
    remove_channels(&mut raw).await;
    let before = format!(
        "UPDATE sessions SET private_to = NULL; \
         UPDATE sessions SET metadata = '{{\"incognito\":true,\"channel\":{{\"platform\":\"slack\",\"id\":\"C1\"}}}}' \
         WHERE id = '{}'; \
         ALTER TABLE sessions OWNER TO shiftbook_app; GRANT CREATE ON SCHEMA public TO shiftbook_app",
        hidden.id
    );
    raw.execute(&before).await.unwrap();
    let as_owner = |migration: &str| format!("BEGIN; SET LOCAL ROLE shiftbook_app; {migration} COMMIT");

    raw.execute(&as_owner(CHANNELS)).await.unwrap();
    let own = format!("shiftbook\n{}", f.member.user_id().unwrap());
    assert_eq!(channels(&mut raw).await, [own.clone()], "an incognito conversation is on no channel");
    raw.execute(&as_owner(PRIVATE)).await.unwrap();
    let private = raw.texts("SELECT private_to FROM sessions WHERE private_to IS NOT NULL").await;
    assert_eq!(private, [hidden.created_by]);
    assert_eq!(channels(&mut raw).await, [own]);
    drop(raw);
    f.done().await;
}
