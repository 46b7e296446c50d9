//! Secrets of tools: nobody reads their values but calls of the server.

use crate::{
    audit::Reading,
    criteria_set::fields_of,
    tool::{SECRET, compared, create, draft, publish_by, set, value, weather},
};
use domain::{
    Scope,
    limit::{TOOL_SECRET_BYTES_MAX, TOOL_SECRETS_MAX},
};
use ledger::{Error, page, tool};
use testkit::{Fixture, Raw, on_both_engines};

on_both_engines!(
    the_value_of_a_secret_is_only_for_calls_of_the_server,
    a_secret_is_in_no_row_answer_or_audit_entry,
    a_secret_that_was_moved_to_another_tool_does_not_open,
    secrets_have_names_values_and_a_bound,
);

async fn the_value_of_a_secret_is_only_for_calls_of_the_server(f: Fixture) {
    let made = draft(&f).await;
    assert_eq!(value(&f, &made, "API_KEY").await, None);
    set(&f, &f.admin, "weather", "API_KEY", SECRET).await.unwrap();
    assert_eq!(value(&f, &made, "API_KEY").await.as_deref(), Some(SECRET));
    set(&f, &f.admin, "weather", "API_KEY", "another").await.unwrap();
    assert_eq!(value(&f, &made, "API_KEY").await.as_deref(), Some("another"), "it was not replaced");
    for scope in [&f.admin, &f.operator, &f.member] {
        let refused = tool::secret_values(&f.ledger, scope, made.id).await;
        assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
    }
    tool::delete_secret(&f.ledger, &f.admin, "weather", "API_KEY").await.unwrap();
    assert_eq!(value(&f, &made, "API_KEY").await, None);
    let gone = tool::delete_secret(&f.ledger, &f.admin, "weather", "API_KEY").await;
    assert!(matches!(gone, Err(Error::NotFound("secret"))), "{gone:?}");
    f.done().await;
}

async fn a_secret_is_in_no_row_answer_or_audit_entry(f: Fixture) {
    let mut reading = Reading::begin(&f).await;
    let made = draft(&f).await;
    set(&f, &f.admin, "weather", "API_KEY", SECRET).await.unwrap();
    publish_by(&f, &f.admin, &made).await.unwrap();
    let shown = page::tool::read(&f.ledger, &f.admin, "weather".to_owned(), compared(1)).await.unwrap();
    let secrets = tool::secrets(&f.ledger, &f.admin, "weather").await.unwrap();
    let system = Scope::system(f.admin.tenant_id);
    let values = tool::secret_values(&f.ledger, &system, made.id).await.unwrap();
    let entries = reading.next(&f).await;
    let printed = format!("{shown:?} {secrets:?} {values:?} {entries:?}");
    assert!(printed.contains("API_KEY") && !printed.contains(SECRET), "{printed}");
    let mut raw = f.engine.raw().await;
    let hex = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    // Bytes are compared as hexadecimal digits, texts as they are.
    let sealed = match raw {
        Raw::Sqlite(_) => "SELECT lower(hex(sealed)) FROM tool_secrets",
        Raw::Postgres(_) => "SELECT encode(sealed, 'hex') FROM tool_secrets",
    };
    let rows = raw.texts(sealed).await;
    assert!(rows.len() == 1 && !rows[0].contains(&hex), "{rows:?}");
    for text in
        ["SELECT detail FROM audit_entries", "SELECT definition FROM tools", "SELECT definition FROM tool_versions"]
    {
        let rows = raw.texts(text).await;
        assert!(!rows.is_empty() && rows.iter().all(|row| !row.contains(SECRET)), "{text}: {rows:?}");
    }
    drop(raw);
    f.done().await;
}

async fn a_secret_that_was_moved_to_another_tool_does_not_open(f: Fixture) {
    let made = draft(&f).await;
    set(&f, &f.admin, "weather", "API_KEY", SECRET).await.unwrap();
    let mut other = weather();
    other["name"] = "Other".into();
    let other = create(&f, &f.operator, other).await.unwrap();
    let mut raw = f.engine.raw().await;
    let copy = "INSERT INTO tool_secrets (tenant_id, tool_id, name, sealed, set_by, set_at) \
         SELECT s.tenant_id, t.id, s.name, s.sealed, s.set_by, s.set_at FROM tool_secrets s, tools t WHERE t.slug = 'other'";
    raw.execute(copy).await.unwrap();
    drop(raw);
    let system = Scope::system(f.admin.tenant_id);
    let refused = tool::secret_values(&f.ledger, &system, other.id).await;
    assert!(matches!(refused, Err(Error::NotNow(_))), "{refused:?}");
    assert_eq!(value(&f, &made, "API_KEY").await.as_deref(), Some(SECRET));
    f.done().await;
}

async fn secrets_have_names_values_and_a_bound(f: Fixture) {
    draft(&f).await;
    for name in ["", "2KEY", "API-KEY", "A B", &"A".repeat(65)] {
        assert_eq!(fields_of(set(&f, &f.admin, "weather", name, SECRET).await), ["name"], "{name}");
    }
    for text in ["", "a\nb", "a\0", &"x".repeat(TOOL_SECRET_BYTES_MAX + 1)] {
        let refused = set(&f, &f.admin, "weather", "API_KEY", text).await;
        assert!(!format!("{refused:?}").contains(text) || text.is_empty(), "the error repeats the value");
        assert_eq!(fields_of(refused), ["value"]);
    }
    for n in 0..TOOL_SECRETS_MAX {
        set(&f, &f.admin, "weather", &format!("KEY_{n}"), &"x".repeat(TOOL_SECRET_BYTES_MAX)).await.unwrap();
    }
    let refused = set(&f, &f.admin, "weather", "ONE_MORE", SECRET).await;
    assert!(matches!(refused, Err(Error::LimitReached(_))), "{refused:?}");
    set(&f, &f.admin, "weather", "KEY_0", SECRET).await.unwrap();
    let listed = tool::secrets(&f.ledger, &f.admin, "weather").await.unwrap();
    let names: Vec<_> = listed.iter().map(|secret| secret.name.as_str()).collect();
    assert!(names.len() == TOOL_SECRETS_MAX && names.is_sorted(), "{names:?}");
    f.done().await;
}
