//! P-11: only the listed transitions happen, each with its event.

use chrono::TimeDelta;
use domain::{
    id::SessionId,
    session::{Actor, Command, Status, YieldTo, decide},
};
use ledger::session::{self, Completion, Failure};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    random_commands_do_what_the_table_says_and_the_log_folds_to_the_row,
    a_repeated_create_with_one_key_is_one_session,
    a_retry_is_a_new_session_and_the_old_one_stays,
    who_may_cancel_and_retry,
    the_log_has_the_reason_of_a_cancel,
    actions_of_one_name_get_numbered_slugs,
    any_number_of_actions_may_have_one_name,
);

/// Executes one command through the ledger. Returns whether it was accepted.
async fn give(f: &Fixture, id: SessionId, command: Command, attempt: u32) -> bool {
    let (l, w) = (&f.ledger, &f.worker);
    match command {
        Command::Claim => {
            let claimed = f.claim(1, 5).await;
            assert!(claimed.iter().all(|s| s.id == id));
            !claimed.is_empty()
        }
        Command::Heartbeat => session::heartbeat(l, w, id, attempt).await.is_ok(),
        Command::Append => f.append(id, attempt, vec![testkit::text("x")]).await.is_ok(),
        Command::Complete => {
            session::complete(l, w, id, Completion { attempt, result: None, usage: None }).await.is_ok()
        }
        Command::Fail => {
            session::fail(l, w, id, Failure { attempt, message: "x".into(), code: None, usage: None }).await.is_ok()
        }
        Command::Yield(to) => session::yield_to(l, w, id, session::YieldRequest::at(attempt, to)).await.is_ok(),
        Command::Release => session::release(l, w, id, attempt).await.is_ok(),
        Command::Cancel => session::cancel(l, &f.operator, id, None).await.is_ok(),
        Command::LoseLease => {
            f.clock.advance(TimeDelta::seconds(6));
            session::sweep(l).await.unwrap() != session::Swept::default()
        }
        other => unreachable!("{other:?} is no step of the walk; `status_table.rs` gives every command"),
    }
}

fn actor(command: Command, attempt: u32) -> Actor {
    match command {
        Command::Claim | Command::Cancel => Actor::Caller,
        Command::LoseLease => Actor::Server,
        _ => Actor::Worker { attempt },
    }
}

async fn random_commands_do_what_the_table_says_and_the_log_folds_to_the_row(f: Fixture) {
    let commands = [
        Command::Claim,
        Command::Heartbeat,
        Command::Append,
        Command::Complete,
        Command::Fail,
        Command::Yield(YieldTo::Idle),
        Command::Yield(YieldTo::WaitingHuman),
        Command::Yield(YieldTo::AwaitingTool),
        Command::Release,
        Command::Cancel,
        Command::LoseLease,
    ];
    let mut rng = fastrand::Rng::with_seed(7);
    for round in 0..25 {
        let session = f.pending().await;
        for _ in 0..14 {
            let row = session::get(&f.ledger, &f.admin, session.id).await.unwrap();
            // Mostly commands that continue the session, sometimes any command.
            let pick =
                if rng.u8(..10) < 8 { rng.choice([0, 0, 1, 2, 8, 10]).unwrap() } else { rng.usize(..commands.len()) };
            let command = commands[pick];
            let attempt = row.attempt.saturating_sub(u32::from(rng.u8(..6) == 0));
            let expected = decide(row.position(), actor(command, attempt), command);
            // A repeated report with the same attempt is answered instead of refused.
            let repeat = row.attempt == attempt
                && matches!(
                    (command, row.status()),
                    (Command::Complete, Status::Completed) | (Command::Fail, Status::Failed)
                );
            let accepted = give(&f, session.id, command, attempt).await;
            assert_eq!(accepted, expected.is_ok() || repeat, "round {round}: {command:?} in {row:?}");
            let after = session::get(&f.ledger, &f.admin, session.id).await.unwrap();
            match expected {
                Ok(t) => {
                    assert_eq!((after.status(), after.attempt, after.end_reason()), (t.to(), t.attempt, t.end_reason()))
                }
                Err(_) => assert_eq!((after.status(), after.attempt), (row.status(), row.attempt)),
            }
        }
        assert_folds(&f, session.id).await;
        if !session::get(&f.ledger, &f.admin, session.id).await.unwrap().status().is_final() {
            session::cancel(&f.ledger, &f.admin, session.id, None).await.unwrap();
        }
    }
    f.assert_verified().await;
    f.done().await;
}

/// Replays the log and compares it with the row.
pub async fn assert_folds(f: &Fixture, id: SessionId) {
    let row = session::get(&f.ledger, &f.admin, id).await.unwrap();
    let (mut status, mut attempt, mut head) = (Status::Draft, 0, 0);
    for event in f.log(id).await {
        head += 1;
        assert_eq!(event.sequence, head);
        let metadata: serde_json::Value = serde_json::from_str(&event.metadata).unwrap();
        match event.kind.as_str() {
            "session.claimed" => attempt = metadata["attempt"].as_u64().unwrap(),
            "session.status_change" => {
                assert_eq!(metadata["from"], status.as_str(), "{event:?}");
                status = Status::parse(metadata["to"].as_str().unwrap()).unwrap();
                assert!(!metadata["reason"].as_str().unwrap().is_empty());
            }
            _ => {}
        }
    }
    assert_eq!((status, attempt, head), (row.status(), u64::from(row.attempt), row.head_sequence));
    assert_eq!(row.status().is_final(), row.completed_at().is_some());
    assert_eq!(row.status().is_final(), row.end_reason().is_some());
}

async fn a_repeated_create_with_one_key_is_one_session(f: Fixture) {
    let new = |title: &str| session::NewSession {
        agent_slug: Some("scout".into()),
        title: Some(title.into()),
        idempotency_key: Some("order-7".into()),
        ..session::NewSession::of_type(domain::session::Type::Agent)
    };
    let made = futures_util::future::join_all((0..8).map(|_| session::create(&f.ledger, &f.operator, new("a")))).await;
    let ids: std::collections::HashSet<_> = made
        .into_iter()
        .filter_map(|made| match made {
            Ok(session) => Some(session.id),
            // On PostgreSQL a request that loses the race is asked to try again.
            Err(ledger::Error::Unavailable(_)) => None,
            Err(other) => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(ids.len(), 1);
    let again = session::create(&f.ledger, &f.operator, new("a")).await.unwrap();
    assert!(ids.contains(&again.id));
    let other = session::create(&f.ledger, &f.operator, new("b")).await;
    assert!(matches!(other, Err(ledger::Error::IdConflict { .. })), "{other:?}");
    let overrides = session::create(&f.ledger, &f.operator, new("paid\u{2066}")).await;
    let Err(ledger::Error::Invalid(wrong)) = overrides else { panic!("{overrides:?}") };
    assert!(wrong[0].field == "title" && wrong[0].message.ends_with("U+2066"), "{wrong:?}");
    let marked = session::NewSession { idempotency_key: None, ..new("נועה\u{200f}!") };
    session::create(&f.ledger, &f.operator, marked).await.unwrap();
    f.done().await;
}

async fn a_retry_is_a_new_session_and_the_old_one_stays(f: Fixture) {
    let session = f.running().await;
    let early = session::retry(&f.ledger, &f.operator, session.id).await;
    assert!(matches!(early, Err(ledger::Error::Refused(_))), "{early:?}");
    session::fail(
        &f.ledger,
        &f.worker,
        session.id,
        Failure { attempt: 1, message: "x".into(), code: None, usage: None },
    )
    .await
    .unwrap();
    let old = session::get(&f.ledger, &f.admin, session.id).await.unwrap();
    let new = session::retry(&f.ledger, &f.operator, session.id).await.unwrap();
    assert_eq!((new.retry_of, new.status(), &new.title), (Some(old.id), Status::Pending, &old.title));
    assert_eq!(session::get(&f.ledger, &f.admin, session.id).await.unwrap(), old);
    f.done().await;
}

async fn who_may_cancel_and_retry(f: Fixture) {
    let new = || session::NewSession {
        agent_slug: Some("scout".into()),
        ..session::NewSession::of_type(domain::session::Type::Agent)
    };
    for (starter, other, allowed) in [
        (f.member, f.member, true),
        (f.member, f.other_member, false),
        (f.member, f.operator, true),
        (f.operator, f.member, false),
    ] {
        let session = session::create(&f.ledger, &starter, new()).await.unwrap();
        let cancelled = session::cancel(&f.ledger, &other, session.id, None).await;
        assert_eq!(cancelled.is_ok(), allowed, "{other:?} cancelling {starter:?}'s session: {cancelled:?}");
        if cancelled.is_err() {
            assert!(matches!(cancelled, Err(ledger::Error::Forbidden(_))));
            session::cancel(&f.ledger, &starter, session.id, None).await.unwrap();
        }
        assert_eq!(session::retry(&f.ledger, &other, session.id).await.is_ok(), allowed);
    }
    f.done().await;
}

async fn the_log_has_the_reason_of_a_cancel(f: Fixture) {
    for (given, expected) in [(Some("not needed"), "not needed"), (Some(" "), "cancelled"), (None, "cancelled")] {
        let session = f.pending().await;
        session::cancel(&f.ledger, &f.operator, session.id, given.map(str::to_owned)).await.unwrap();
        let event = f.log(session.id).await.pop().unwrap();
        let metadata: serde_json::Value = serde_json::from_str(&event.metadata).unwrap();
        assert_eq!((event.kind.as_str(), &metadata["reason"]), ("session.status_change", &expected.into()));
    }
    f.done().await;
}

async fn actions_of_one_name_get_numbered_slugs(f: Fixture) {
    let new = |slug: Option<&str>| ledger::action::NewAction {
        name: "Weekly report".into(),
        slug: slug.map(str::to_owned),
        ..Default::default()
    };
    let mut slugs = Vec::new();
    for _ in 0..3 {
        slugs.push(ledger::action::create(&f.ledger, &f.operator, new(None)).await.unwrap().slug);
    }
    assert_eq!(slugs, ["weekly-report", "weekly-report-2", "weekly-report-3"]);
    let given = ledger::action::create(&f.ledger, &f.operator, new(Some("weekly-report"))).await;
    assert!(matches!(given, Err(ledger::Error::NameTaken(_))), "{given:?}");
    f.done().await;
}

async fn any_number_of_actions_may_have_one_name(f: Fixture) {
    // The longest slug that a name makes, so that what is appended replaces its end.
    let name = "follow up ".repeat(20);
    let mut slugs = std::collections::BTreeSet::new();
    for _ in 0..60 {
        let new = ledger::action::NewAction { name: name.trim().into(), ..Default::default() };
        let made = ledger::action::create(&f.ledger, &f.operator, new).await.unwrap();
        assert!(domain::slug::is_slug(&made.slug), "{}", made.slug);
        slugs.insert(made.slug);
    }
    assert_eq!(slugs.len(), 60);
    f.done().await;
}
