//! Scores of sessions by a model after their end: they are a term of the labels, come once, go with their session, and
//! nothing waits for them.

use crate::{
    hook::{payload, send},
    memory_writer_model::writer,
    relevance::{CODER, answer, ask, newest, only_memory, rate, remember_launch},
    retention::key,
};
use chrono::TimeDelta;
use domain::{
    id::SessionId,
    limit::{CONTINUITY_DAYS, CONTINUITY_SESSIONS_PER_DAY_MAX},
    relevance::Row,
};
use ledger::{
    Error,
    memory_writer::{WriterTerms, take},
    relevance::{Place, lease_scoring, next_unscored, rows_by_operator, save_score},
    retention,
};
use runner::memory_writer::{ContinuityScorer, Scored};
use serde_json::json;
use testkit::{
    Fixture,
    model::{ScriptedModel, ScriptedReply},
    on_both_engines,
};

on_both_engines!(
    an_ended_session_is_scored_once_and_the_score_is_a_term_of_its_labels,
    sessions_that_run_are_old_or_have_no_rated_memory_are_not_scored,
    a_model_that_gives_no_number_leaves_a_session_without_a_score,
    a_session_whose_model_always_fails_does_not_hold_up_the_others,
    a_session_that_failed_before_gets_its_score_when_the_model_answers,
    a_model_that_is_away_is_asked_about_few_sessions_at_a_time,
    a_score_goes_with_the_content_of_its_session,
    only_so_many_sessions_are_scored_in_a_day,
    tokens_of_scores_count_towards_those_of_the_writer,
);

/// More tokens than the scores of a test use.
const TOKENS: u64 = 1_000;

fn scorer(f: &Fixture, model: &ScriptedModel) -> ContinuityScorer {
    let terms = WriterTerms::default();
    let tokens_per_day = terms.tokens_per_day;
    let writer_model = writer(f, model, terms).writer_model;
    ContinuityScorer { tenant_id: f.admin.tenant_id, agent: CODER.into(), tokens_per_day, writer_model }
}

/// A session of a coding agent whose memory was rated with 0.8. It has not ended.
async fn rated(f: &Fixture, session: &str) -> SessionId {
    // Sessions of one moment have no order.
    f.clock.advance(TimeDelta::seconds(1));
    let memory = only_memory(&ask(f, session).await.unwrap());
    answer(f, session, "It is then, I believe.").await;
    let id = newest(f).await;
    rate(f, &f.member, id, &json!({ &memory: 0.8 })).await.unwrap();
    id
}

async fn end(f: &Fixture, session: &str) {
    send(f, &f.member, payload("SessionEnd", json!({ "session_id": session, "reason": "other" }))).await.unwrap();
}

async fn rows(f: &Fixture) -> Vec<Row> {
    rows_by_operator(&f.ledger, "acme", Place::default(), 100).await.unwrap().0
}

async fn next(f: &Fixture) -> Option<SessionId> {
    let of = (f.admin.tenant_id, CODER);
    next_unscored(&f.ledger, of, TOKENS).await.unwrap().map(|next| next.session_id)
}

async fn an_ended_session_is_scored_once_and_the_score_is_a_term_of_its_labels(f: Fixture) {
    remember_launch(&f).await;
    let id = rated(&f, "s-1").await;
    end(&f, "s-1").await;
    let [before] = &rows(&f).await[..] else { panic!("one row") };
    assert_eq!(before.continuity, None);
    assert!((before.label.unwrap() - 0.8).abs() < 1e-9, "{before:?}");
    assert!(lease_scoring(&f.ledger).await.unwrap());
    let model = ScriptedModel::start([ScriptedReply::Text("{\"score\": 1.0}")]).await;
    let scorer = scorer(&f, &model);
    assert_eq!(next(&f).await, Some(id));
    assert_eq!(scorer.score_next(&f.ledger).await.unwrap(), Scored::Done);
    assert_eq!(scorer.score_next(&f.ledger).await.unwrap(), Scored::Nothing, "once");
    let asked = model.requests()[0].body.to_string();
    assert!(asked.contains("When is the launch?") && asked.contains("It is then, I believe."), "{asked}");
    let [after] = &rows(&f).await[..] else { panic!("one row") };
    let label = (0.7 * 0.8 + 0.1 * 1.0) / 0.8;
    assert_eq!(after.continuity, Some(1.0));
    assert!((after.label.unwrap() - label).abs() < 1e-9, "{after:?}");
    f.assert_verified().await;
    f.done().await;
}

async fn sessions_that_run_are_old_or_have_no_rated_memory_are_not_scored(f: Fixture) {
    remember_launch(&f).await;
    ask(&f, "s-1").await.unwrap();
    end(&f, "s-1").await;
    assert_eq!(next(&f).await, None, "no memory of it was rated or used");
    let id = rated(&f, "s-2").await;
    assert_eq!(next(&f).await, None, "it goes on");
    end(&f, "s-2").await;
    assert_eq!(next(&f).await, Some(id));
    let theirs = next_unscored(&f.ledger, (f.stranger.tenant_id, CODER), TOKENS).await.unwrap();
    assert_eq!(theirs, None, "it is of another workspace");
    f.clock.advance(TimeDelta::days(CONTINUITY_DAYS) + TimeDelta::hours(1));
    assert_eq!(next(&f).await, None, "it is old");
    f.done().await;
}

async fn a_model_that_gives_no_number_leaves_a_session_without_a_score(f: Fixture) {
    remember_launch(&f).await;
    let id = rated(&f, "s-1").await;
    end(&f, "s-1").await;
    let odd = ScriptedModel::start([ScriptedReply::Text("very good")]).await;
    assert_eq!(next(&f).await, Some(id));
    assert_eq!(scorer(&f, &odd).score_next(&f.ledger).await.unwrap(), Scored::Done);
    assert_eq!(next(&f).await, None, "an answer without a score is final");
    let [row] = &rows(&f).await[..] else { panic!("one row") };
    assert_eq!(row.continuity, None);
    assert!((row.label.unwrap() - 0.8).abs() < 1e-9, "the label has the other terms: {row:?}");
    f.done().await;
}

const AWAY: ScriptedReply = ScriptedReply::Status(503, None, "away");

async fn a_session_whose_model_always_fails_does_not_hold_up_the_others(f: Fixture) {
    remember_launch(&f).await;
    let failing = rated(&f, "s-1").await;
    rated(&f, "s-2").await;
    end(&f, "s-1").await;
    end(&f, "s-2").await;
    let model = ScriptedModel::start([AWAY, ScriptedReply::Text("{\"score\": 0.5}")]).await;
    scorer(&f, &model).score_all(&f.ledger).await.unwrap();
    let scored: Vec<_> = rows(&f).await.iter().map(|row| row.continuity).collect();
    assert_eq!((scored, model.received()), (vec![None, Some(0.5)], 2), "the second session was scored");
    // It is asked again after a while, each time a longer one, and at last no more.
    for (attempts, minutes) in [(2, 1), (3, 4), (4, 16), (5, 64), (6, 256), (7, 1_024)] {
        f.clock.advance(TimeDelta::minutes(minutes) - TimeDelta::seconds(1));
        assert_eq!(next(&f).await, None, "attempt {attempts} is not due yet");
        f.clock.advance(TimeDelta::seconds(1));
        assert_eq!(next(&f).await, Some(failing), "attempt {attempts}");
        model.then([AWAY]);
        let tried = scorer(&f, &model).score_next(&f.ledger).await.unwrap();
        assert!(matches!(tried, Scored::Postponed(_)), "{tried:?}");
    }
    f.clock.advance(TimeDelta::hours(20));
    assert_eq!(next(&f).await, None, "after the last attempt nothing more is asked");
    assert_eq!(f.engine.raw().await.number("SELECT MAX(attempts) FROM session_continuity").await, 7);
    f.done().await;
}

async fn a_session_that_failed_before_gets_its_score_when_the_model_answers(f: Fixture) {
    remember_launch(&f).await;
    rated(&f, "s-1").await;
    end(&f, "s-1").await;
    let model = ScriptedModel::start([AWAY, ScriptedReply::Text("{\"score\": -1.0}")]).await;
    let scorer = scorer(&f, &model);
    scorer.score_all(&f.ledger).await.unwrap();
    assert_eq!(rows(&f).await[0].continuity, None);
    f.clock.advance(TimeDelta::minutes(2));
    scorer.score_all(&f.ledger).await.unwrap();
    assert_eq!((rows(&f).await[0].continuity, model.received()), (Some(-1.0), 2));
    f.done().await;
}

async fn a_model_that_is_away_is_asked_about_few_sessions_at_a_time(f: Fixture) {
    remember_launch(&f).await;
    for session in ["s-1", "s-2", "s-3", "s-4", "s-5"] {
        rated(&f, session).await;
        end(&f, session).await;
    }
    let model = ScriptedModel::start([AWAY, AWAY, AWAY, AWAY, AWAY]).await;
    let failed = scorer(&f, &model).score_all(&f.ledger).await;
    assert!(matches!(failed, Err(Error::Unavailable(_))), "{failed:?}");
    assert_eq!(model.received(), 3);
    f.done().await;
}

async fn a_score_goes_with_the_content_of_its_session(f: Fixture) {
    remember_launch(&f).await;
    let id = rated(&f, "s-1").await;
    end(&f, "s-1").await;
    let save = async || {
        save_score(&f.ledger, f.admin.tenant_id, (id, CODER), (Some(-0.5), "small"), 0).await.unwrap();
        f.engine.raw().await.number("SELECT COUNT(*) FROM session_continuity").await
    };
    assert_eq!(save().await, 1);
    f.clock.advance(TimeDelta::days(40));
    let before = f.ledger.now() - TimeDelta::days(30);
    assert_eq!(retention::erase_by_operator(&f.ledger, &key(), before, |_| {}).await.unwrap().sessions, 1);
    assert_eq!(f.engine.raw().await.number("SELECT COUNT(*) FROM session_continuity").await, 0);
    assert_eq!(save().await, 0, "a score that comes late is not kept");
    f.assert_verified().await;
    f.done().await;
}

async fn only_so_many_sessions_are_scored_in_a_day(f: Fixture) {
    remember_launch(&f).await;
    let id = rated(&f, "s-1").await;
    end(&f, "s-1").await;
    // Scores of as many other sessions, written past the product.
    let first = rated(&f, "s-2").await;
    save_score(&f.ledger, f.admin.tenant_id, (first, CODER), (Some(0.5), "small"), 0).await.unwrap();
    let most = CONTINUITY_SESSIONS_PER_DAY_MAX;
    let mut raw = f.engine.raw().await;
    let count = "SELECT COUNT(*) FROM session_continuity";
    assert_eq!(raw.number(count).await, 1);
    for _ in 1..most {
        f.running().await;
    }
    let fill = format!(
        "INSERT INTO session_continuity (tenant_id, session_id, agent, score, model, scored_at) \
         SELECT c.tenant_id, s.id, c.agent, 0.5, 'small', c.scored_at FROM session_continuity c \
         JOIN sessions s ON s.tenant_id = c.tenant_id AND COALESCE(s.agent_slug, '') <> '{CODER}' LIMIT {}",
        most - 1
    );
    raw.execute(&fill).await.unwrap();
    assert_eq!(raw.number(count).await, most.cast_signed());
    drop(raw);
    assert_eq!(next(&f).await, None);
    f.clock.advance(TimeDelta::hours(25));
    assert_eq!(next(&f).await, Some(id));
    f.done().await;
}

async fn tokens_of_scores_count_towards_those_of_the_writer(f: Fixture) {
    remember_launch(&f).await;
    let first = rated(&f, "s-1").await;
    end(&f, "s-1").await;
    let id = rated(&f, "s-2").await;
    end(&f, "s-2").await;
    // The row of the writer, which it makes when it starts.
    let terms = WriterTerms::default();
    take(&f.ledger, f.admin.tenant_id, CODER, &terms, None).await.unwrap();
    let save = |tokens| save_score(&f.ledger, f.admin.tenant_id, (first, CODER), (Some(0.5), "small"), tokens);
    save(TOKENS - 1).await.unwrap();
    assert_eq!(next(&f).await, Some(id), "a token is left");
    save(1).await.unwrap();
    assert_eq!(next(&f).await, None, "the tokens of the day are used");
    f.clock.advance(TimeDelta::days(1));
    assert_eq!(next(&f).await, Some(id), "the next day has its own");
    f.done().await;
}
