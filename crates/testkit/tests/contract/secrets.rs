//! P-27: a stolen database contains no usable secret. Also tests of the sign-in itself.

use domain::{
    Scope,
    limit::{TOKENS_MAX, TOKENS_OF_PERSON_MAX},
    role::Role,
};
use ledger::{Error, auth, member, token};
use std::path::Path;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    signing_in_and_out,
    repeated_failures_slow_down_and_a_success_forgets_them,
    a_revoked_token_stops_at_once,
    a_token_that_works_is_listed_however_many_were_revoked,
    set_up_works_once,
    of_two_set_ups_at_once_one_is_refused,
);

const PASSWORD: &str = "correct horse battery";

async fn signing_in_and_out(f: Fixture) {
    let signed_in = auth::sign_in(&f.ledger, " ADA@acme.test ", PASSWORD, "").await.unwrap();
    let again = auth::sign_in(&f.ledger, "ada@acme.test", PASSWORD, "").await.unwrap();
    assert_ne!(signed_in.secret, again.secret, "every sign-in has a cookie of its own");
    let identity = auth::by_cookie(&f.ledger, &signed_in.secret).await.unwrap().unwrap();
    assert_eq!((identity.scope, identity.tenant.slug.as_str()), (f.admin, "acme"));
    auth::sign_out(&f.ledger, &signed_in.secret).await.unwrap();
    assert!(auth::by_cookie(&f.ledger, &signed_in.secret).await.unwrap().is_none());
    assert!(auth::by_cookie(&f.ledger, &again.secret).await.unwrap().is_some());
    f.clock.advance(chrono::TimeDelta::hours(13));
    assert!(auth::by_cookie(&f.ledger, &again.secret).await.unwrap().is_none(), "unused for half a day");
    assert!(auth::by_token(&f.ledger, &again.secret).await.unwrap().is_none(), "a cookie is not a token");
    f.done().await;
}

async fn repeated_failures_slow_down_and_a_success_forgets_them(f: Fixture) {
    for _ in 0..6 {
        let refused = auth::sign_in(&f.ledger, "ada@acme.test", "wrong", "").await.err();
        assert!(matches!(refused, Some(Error::BadCredentials)), "{refused:?}");
    }
    let blocked = auth::sign_in(&f.ledger, "ada@acme.test", PASSWORD, "").await.err();
    assert!(matches!(blocked, Some(Error::TooManyAttempts { retry_after_seconds: 2 })), "{blocked:?}");
    let unknown = auth::sign_in(&f.ledger, "nobody@acme.test", PASSWORD, "").await.err();
    assert!(matches!(unknown, Some(Error::BadCredentials)), "an unknown address sounds like a wrong password");
    f.clock.advance(chrono::TimeDelta::seconds(3));
    auth::sign_in(&f.ledger, "ada@acme.test", PASSWORD, "").await.unwrap();
    let first = auth::sign_in(&f.ledger, "ada@acme.test", "wrong", "").await.err();
    assert!(matches!(first, Some(Error::BadCredentials)));
    auth::sign_in(&f.ledger, "ada@acme.test", PASSWORD, "").await.unwrap();
    f.done().await;
}

async fn a_revoked_token_stops_at_once(f: Fixture) {
    let (token, secret) = token::create(&f.ledger, &f.admin, "ci", Role::Operator, None).await.unwrap();
    assert!(auth::by_token(&f.ledger, &secret).await.unwrap().is_some());
    token::revoke(&f.ledger, &f.admin, token.id).await.unwrap();
    assert!(auth::by_token(&f.ledger, &secret).await.unwrap().is_none());
    token::revoke(&f.ledger, &f.admin, token.id).await.unwrap();
    let listed = token::list(&f.ledger, &f.admin).await.unwrap();
    assert!(listed.iter().any(|t| t.id == token.id && t.revoked_at.is_some()));
    f.done().await;
}

async fn a_token_that_works_is_listed_however_many_were_revoked(f: Fixture) {
    let list = async |scope: &Scope| token::list(&f.ledger, scope).await.unwrap();
    let (first, _) = token::create_personal(&f.ledger, &f.member, "first", Role::Member, None).await.unwrap();
    for number in 1..TOKENS_OF_PERSON_MAX {
        token::create_personal(&f.ledger, &f.member, &number.to_string(), Role::Member, None).await.unwrap();
    }
    let refused = token::create_personal(&f.ledger, &f.member, "one more", Role::Member, None).await.err();
    assert!(matches!(refused, Some(Error::LimitReached(_))), "{refused:?}");
    // One person's tokens are no limit of others, nor of the workspace.
    token::create_personal(&f.ledger, &f.other_member, "mine", Role::Member, None).await.unwrap();
    let (of_workspace, _) = token::create(&f.ledger, &f.admin, "crawler", Role::Member, None).await.unwrap();
    let names: Vec<_> = list(&f.admin).await.into_iter().take(2).map(|token| token.name).collect();
    assert!(names.contains(&of_workspace.name) && names.contains(&"worker".to_owned()), "{names:?}");
    for token in list(&f.member).await.iter().filter(|token| token.id != first.id) {
        token::revoke(&f.ledger, &f.member, token.id).await.unwrap();
    }
    // Tokens of one moment are in no order.
    f.clock.advance(chrono::TimeDelta::milliseconds(2));
    token::create_personal(&f.ledger, &f.member, "one more", Role::Member, None).await.unwrap();
    let own = list(&f.member).await;
    assert_eq!((own[0].name.as_str(), own[1].id), ("one more", first.id), "before those that were revoked");
    assert!(own[2..].iter().all(|token| token.revoked_at.is_some()));
    assert_eq!(own.len() as u64, TOKENS_OF_PERSON_MAX + 1);
    f.done().await;
}

async fn set_up_works_once(f: Fixture) {
    assert!(!auth::needs_setup(&f.ledger).await.unwrap());
    let refused = auth::setup(&f.ledger, "Mine", "new@mine.test", "long enough 1", "").await.err();
    assert!(matches!(refused, Some(Error::SetupDone)), "{refused:?}");
    f.done().await;
}

async fn of_two_set_ups_at_once_one_is_refused(f: Fixture) {
    let mut raw = f.engine.raw().await;
    let other = f.second_ledger(ledger::Mode::Tool).await;
    // In the second round the two requests are the same, as of a button that was pressed twice.
    for second in ["Yours", "Mine again"] {
        for table in ["api_tokens", "browser_sessions", "memberships", "users"] {
            raw.execute(&format!("DELETE FROM {table}")).await.unwrap();
        }
        assert!(auth::needs_setup(&f.ledger).await.unwrap());
        let first = if second == "Yours" { "Mine" } else { second };
        let (one, two) = tokio::join!(
            auth::setup(&f.ledger, first, "new@mine.test", "long enough 1", ""),
            auth::setup(&other, second, "new@mine.test", "long enough 1", ""),
        );
        let refused = [one.err(), two.err()];
        assert!(refused.iter().flatten().all(|error| matches!(error, Error::SetupDone)), "{refused:?}");
        assert_eq!(refused.iter().flatten().count(), 1, "{refused:?}");
    }
    f.done().await;
}

/// All bytes of the files in a folder, the write-ahead log included.
fn bytes_of(dir: &Path) -> Vec<u8> {
    let files = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    files.flat_map(|file| std::fs::read(file).unwrap_or_default()).collect()
}

#[tokio::test]
async fn no_issued_secret_is_in_the_files() {
    let f = Fixture::sqlite().await;
    let mut secrets = vec![PASSWORD.to_owned(), f.worker_secret.clone()];
    // The fixture has one.
    for n in 1..TOKENS_MAX {
        secrets.push(token::create(&f.ledger, &f.admin, &format!("t{n}"), Role::Member, None).await.unwrap().1);
    }
    secrets.push(auth::sign_in(&f.ledger, "ada@acme.test", PASSWORD, "").await.unwrap().secret);
    secrets.push(member::invite(&f.ledger, &f.admin, "eve@acme.test", Role::Member).await.unwrap().1);
    secrets.push(member::reset_link(&f.ledger, &f.admin, f.member.user_id().unwrap()).await.unwrap().1);
    let tool = f.installed_tool().await;
    member::add_by_operator(&tool, "acme", "eve@acme.test", Role::Member, PASSWORD).await.unwrap();
    tool.close().await;
    let bytes = bytes_of(f.engine.file().unwrap().parent().unwrap());
    let haystack = String::from_utf8_lossy(&bytes);
    assert!(haystack.contains("$argon2id$v=19$m=19456,t=2,p=1$"), "passwords are kept as argon2id");
    for secret in secrets {
        // The hint contains ten characters of the secret. A longer part must not be found.
        let tail = &secret[12..];
        assert!(!haystack.contains(tail), "a secret is stored in clear");
    }
    f.done().await;
}
