//! A workspace shares numbers for training only after a yes, and its people are asked at most once a day for a week.

use crate::hook::{payload, send};
use chrono::TimeDelta;
use domain::{Scope, relevance::Settings, telemetry::PROMPT};
use ledger::{Error, telemetry};
use serde_json::json;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    an_admins_agent_asks_once_a_day_until_someone_answers,
    an_answer_is_that_of_the_workspace_and_a_no_stays,
    an_operator_of_the_installation_can_forbid_it,
);

/// Whether the agent of this caller is made to ask at the start of a session.
async fn is_asked(f: &Fixture, by: &Scope, session: &str) -> bool {
    let start = payload("SessionStart", json!({ "session_id": session, "source": "startup" }));
    let context = send(f, by, start).await.unwrap().additional_context.unwrap_or_default();
    context.contains(PROMPT)
}

async fn an_admins_agent_asks_once_a_day_until_someone_answers(f: Fixture) {
    assert!(!is_asked(&f, &f.member, "a").await, "a member cannot answer");
    assert_eq!(telemetry::state(&f.ledger, &f.member).await.unwrap().opt_in.last_prompted_at, None);
    assert!(is_asked(&f, &f.admin, "b").await);
    assert!(!is_asked(&f, &f.admin, "c").await);
    f.clock.advance(TimeDelta::hours(23));
    assert!(!is_asked(&f, &f.admin, "d").await);
    f.clock.advance(TimeDelta::hours(1));
    assert!(is_asked(&f, &f.admin, "e").await);
    // Another workspace has its own state.
    assert!(is_asked(&f, &f.stranger, "f").await);
    f.clock.advance(TimeDelta::hours(24));
    let answered = telemetry::answer(&f.ledger, &f.admin, true).await.unwrap();
    assert!(answered.shares());
    assert!(!is_asked(&f, &f.admin, "g").await);
    f.clock.advance(TimeDelta::days(30));
    assert!(telemetry::state(&f.ledger, &f.member).await.unwrap().shares());
    assert!(!is_asked(&f, &f.stranger, "h").await, "seven days are over");
    let over = telemetry::state(&f.ledger, &f.stranger).await.unwrap();
    assert_eq!(over.opt_in.enabled, Some(false), "no answer is a no");
    f.done().await;
}

async fn an_answer_is_that_of_the_workspace_and_a_no_stays(f: Fixture) {
    assert!(matches!(telemetry::answer(&f.ledger, &f.member, true).await, Err(Error::Forbidden { .. })));
    telemetry::answer(&f.ledger, &f.admin, false).await.unwrap();
    assert!(!is_asked(&f, &f.admin, "a").await);
    let token = Scope { caller: f.worker.caller, token_scope: None, ..f.admin };
    let refused = telemetry::answer(&f.ledger, &token, true).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    let shared = telemetry::share_by_operator(&f.ledger, "acme", None).await.unwrap();
    assert!(shared.sessions.is_empty() && shared.next.is_none());
    assert!(telemetry::answer(&f.ledger, &f.admin, true).await.unwrap().shares(), "a person may");
    assert!(telemetry::state_by_operator(&f.ledger, "acme").await.unwrap().shares());
    telemetry::answer_by_operator(&f.ledger, "acme", false).await.unwrap();
    assert!(!telemetry::state(&f.ledger, &f.member).await.unwrap().shares());
    let nowhere = telemetry::state_by_operator(&f.ledger, "nowhere").await;
    assert!(matches!(nowhere, Err(Error::NotFound(_))), "{nowhere:?}");
    f.assert_verified().await;
    f.done().await;
}

async fn an_operator_of_the_installation_can_forbid_it(mut f: Fixture) {
    telemetry::answer(&f.ledger, &f.admin, true).await.unwrap();
    let relevance = Settings { telemetry: false, ..Settings::default() };
    f.restart_with_settings(ledger::Settings { relevance, ..ledger::Settings::default() }).await;
    let state = telemetry::state(&f.ledger, &f.member).await.unwrap();
    assert!(state.is_forbidden && !state.shares());
    assert!(!is_asked(&f, &f.stranger, "a").await);
    let refused = telemetry::answer(&f.ledger, &f.admin, true).await;
    assert!(matches!(refused, Err(Error::Invalid(_))), "{refused:?}");
    telemetry::answer(&f.ledger, &f.admin, false).await.unwrap();
    f.done().await;
}
