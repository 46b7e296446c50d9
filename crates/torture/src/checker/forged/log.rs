//! C1 to C8.

use super::*;

#[test]
fn good_histories_pass() {
    assert_eq!(check(&good()), []);
    assert_eq!(check(&lost_lease()), []);
}

#[test]
fn c1_finds_a_lost_append_and_a_lost_session() {
    let mut evidence = good();
    evidence.sessions[0].rows.remove(8);
    renumber(&mut evidence.sessions[0]);
    finds(Check::C1, &evidence);
    evidence.sessions[0] = FinalSession::missing(SESSION);
    finds(Check::C1, &evidence);
}

#[test]
fn c2_finds_duplicates_resurrected_refusals_strangers_and_accepted_conflicts() {
    let mut evidence = good();
    let again = evidence.sessions[0].rows[4].clone();
    evidence.sessions[0].rows.insert(9, again);
    renumber(&mut evidence.sessions[0]);
    finds(Check::C2, &evidence);

    let mut evidence = good();
    for operation in &mut evidence.operations {
        if matches!(&operation.op, Op::Append { events, .. } if events[0].0 == id(9)) {
            operation.outcome = refused("not_sent");
        }
    }
    finds(Check::C2, &evidence);

    let mut evidence = good();
    evidence.sessions[0].rows[8].id = id(777);
    finds(Check::C2, &evidence);

    let mut evidence = good();
    outcome_of(&mut evidence, |op| matches!(op, Op::Conflict { .. })).outcome =
        Outcome::Ok(Answer::Appended { events: vec![(id(5), 5)], head: 9 });
    finds(Check::C2, &evidence);
}

#[test]
fn c3_finds_gaps_torn_batches_and_half_visible_ones() {
    let mut evidence = good();
    for row in &mut evidence.sessions[0].rows[8..] {
        row.sequence += 1;
    }
    evidence.sessions[0].head += 1;
    finds(Check::C3, &evidence);

    let mut evidence = good();
    evidence.sessions[0].head = 12;
    finds(Check::C3, &evidence);

    // The batch's outcome is unknown and half of it is stored.
    let mut evidence = good();
    evidence.sessions[0].rows.remove(7);
    renumber(&mut evidence.sessions[0]);
    outcome_of(&mut evidence, |op| matches!(op, Op::Append { events, .. } if events.len() == 3)).outcome =
        Outcome::Info { why: "reset".into() };
    finds(Check::C3, &evidence);

    // Another event in the middle of the batch.
    let mut evidence = good();
    evidence.sessions[0].rows.swap(6, 8);
    renumber(&mut evidence.sessions[0]);
    finds(Check::C3, &evidence);

    let mut evidence = good();
    evidence.operations.push(sighting((125, 126), "running", 1, 7));
    finds(Check::C3, &evidence);
}

#[test]
fn c4_finds_another_place_another_body_and_another_id() {
    let mut evidence = good();
    outcome_of(&mut evidence, |op| matches!(op, Op::Append { .. })).outcome =
        Outcome::Ok(Answer::Appended { events: vec![(id(5), 6)], head: 6 });
    finds(Check::C4, &evidence);

    let mut evidence = good();
    evidence.sessions[0].rows[4].digest += 1;
    finds(Check::C4, &evidence);

    let mut evidence = good();
    outcome_of(&mut evidence, |op| matches!(op, Op::Append { .. })).outcome =
        Outcome::Ok(Answer::Appended { events: vec![(id(6), 5)], head: 5 });
    finds(Check::C4, &evidence);

    let mut evidence = good();
    outcome_of(&mut evidence, |op| matches!(op, Op::Append { .. })).outcome =
        Outcome::Ok(Answer::Appended { events: vec![(id(5), 5)], head: 4 });
    finds(Check::C4, &evidence);
}

#[test]
fn c5_finds_an_order_against_real_time() {
    let mut evidence = good();
    // Event 9 was acknowledged before the batch 6..=8 was sent.
    for operation in &mut evidence.operations {
        if matches!(&operation.op, Op::Append { events, .. } if events[0].0 == id(9)) {
            (operation.invoked, operation.ended) = (116 * MILLISECOND, 118 * MILLISECOND);
        }
    }
    finds(Check::C5, &evidence);
}

#[test]
fn c6_finds_gaps_stale_reads_reads_of_the_future_and_false_ends() {
    let read_at = |evidence: &mut Evidence, at: (u64, u64)| {
        let read = outcome_of(evidence, |op| matches!(op, Op::Read { .. }));
        (read.invoked, read.ended) = (at.0 * MILLISECOND, at.1 * MILLISECOND);
    };
    let mut stale = good();
    read_at(&mut stale, (135, 136));
    finds(Check::C6, &stale);

    let mut future = good();
    read_at(&mut future, (60, 70));
    finds(Check::C6, &future);

    for forge in [
        (|events: &mut Vec<Seen>, _: &mut u64, _: &mut bool| _ = events.remove(2))
            as fn(&mut Vec<Seen>, &mut u64, &mut bool),
        |events, _, _| events[1].2 += 1,
        |_, head, _| *head = 4,
        |_, _, more| *more = true,
        |events, _, _| events.truncate(3),
    ] {
        let mut evidence = good();
        let read = outcome_of(&mut evidence, |op| matches!(op, Op::Read { .. }));
        if let Outcome::Ok(Answer::Page { events, head, more }) = &mut read.outcome {
            forge(events, head, more);
        }
        finds(Check::C6, &evidence);
    }

    // A later read that saw less than an earlier one.
    let mut backwards = good();
    backwards.operations.push(sighting((196, 197), "completed", 1, 11));
    backwards.operations.push(sighting((198, 199), "running", 1, 9));
    finds(Check::C6, &backwards);
}

#[test]
fn c7_finds_skips_repeats_wrong_resumption_early_ends_and_stalls() {
    for forge in [
        (|events: &mut Vec<Seen>, _: &mut u64, _: &mut bool| _ = events.remove(1))
            as fn(&mut Vec<Seen>, &mut u64, &mut bool),
        |events, _, _| events.insert(1, events[0]),
        |_, after, _| *after = 5,
        |events, _, end| {
            events.truncate(2);
            *end = true;
        },
    ] {
        let mut evidence = good();
        let second = outcome_of(&mut evidence, |op| matches!(op, Op::Stream { connection: 1, .. }));
        if let (Op::Stream { after, .. }, Outcome::Ok(Answer::Delivered { events, end })) =
            (&mut second.op, &mut second.outcome)
        {
            forge(events, after, end);
        }
        finds(Check::C7, &evidence);
    }
    let mut stalled = good();
    outcome_of(&mut stalled, |op| matches!(op, Op::StreamClosed { .. })).op =
        Op::StreamClosed { session: SESSION, after: 9 };
    finds(Check::C7, &stalled);
}

#[test]
fn c8_finds_rows_that_are_not_the_fold_of_their_events() {
    let forges: [fn(&mut FinalSession); 5] = [
        |log| log.status = Some(Status::Failed),
        |log| log.attempt = 2,
        |log| log.chain_fault = Some("broken".into()),
        |log| log.rows[10].kind = RowKind::StatusChange { from: Some(Status::Pending), to: Some(Status::Completed) },
        |log| log.rows[3].kind = RowKind::StatusChange { from: Some(Status::Pending), to: Some(Status::Completed) },
    ];
    for forge in forges {
        let mut evidence = good();
        forge(&mut evidence.sessions[0]);
        finds(Check::C8, &evidence);
    }
}
