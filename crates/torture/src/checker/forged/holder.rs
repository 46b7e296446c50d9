//! C9 and P-14.

use super::*;

#[test]
fn c9_finds_double_early_and_lost_claims() {
    let mut double = good();
    double.operations.push(claim(RIVAL, (21, 31), 1, 3_600_000));
    finds(Check::C9, &double);

    let mut early = lost_lease();
    let second = early.operations.iter_mut().filter(|o| matches!(o.op, Op::Claim { .. })).nth(1).unwrap();
    (second.invoked, second.ended) = (500 * MILLISECOND, 510 * MILLISECOND);
    finds(Check::C9, &early);

    let mut lost = good();
    lost.operations.push(claim(RIVAL, (300, 301), 2, 1_000));
    finds(Check::C9, &lost);
}

#[test]
fn c9_finds_accepted_stale_writes_and_refused_holders() {
    let mut accepted = lost_lease();
    let heartbeat = Op::Heartbeat { session: SESSION, attempt: 1 };
    accepted.operations.push(operation(HOLDER, (1_620, 1_630), heartbeat.clone(), Outcome::Ok(Answer::Done)));
    finds(Check::C9, &accepted);

    let mut stored = lost_lease();
    stored.sessions[0].rows[7].attempt = Some(1);
    finds(Check::C9, &stored);

    let mut paused = lost_lease();
    paused.sessions[0].rows[4].kind = RowKind::Worker;
    paused.sessions[0].rows[3].kind = RowKind::StatusChange { from: None, to: Some(Status::Pending) };
    finds(Check::C9, &paused);

    let mut robbed = lost_lease();
    robbed.operations.push(operation(HOLDER, (40, 50), heartbeat, refused("wrong_status")));
    finds(Check::C9, &robbed);
}

#[test]
fn c9_allows_a_repeat_of_an_append_that_was_sent_before_the_lease_was_lost() {
    let mut repeat = lost_lease();
    repeat.operations.push(append(HOLDER, (1_620, 1_630), 1, &[(4, 4)], 8));
    assert_eq!(check(&repeat), []);
}

#[test]
fn c9_finds_two_outcomes_and_an_unanswered_repeat() {
    let mut two = good();
    two.operations.push(complete(RIVAL, (191, 196), 1, 43, 43));
    finds(Check::C9, &two);

    let mut undone = good();
    undone.sessions[0].status = Some(Status::Running);
    finds(Check::C9, &undone);

    let mut unanswered = good();
    let repeat = Op::Complete { session: SESSION, attempt: 1, token: 44 };
    unanswered.operations.push(operation(RIVAL, (200, 210), repeat, refused("already_final")));
    finds(Check::C9, &unanswered);
}

#[test]
fn p14_finds_a_lease_that_never_runs_out_unless_a_fault_explains_it() {
    let mut immortal = good();
    immortal.operations.retain(|o| !matches!(o.op, Op::Complete { .. } | Op::Claim { .. }));
    immortal.operations.push(claim(HOLDER, (20, 30), 1, 1_000));
    immortal.operations.push(sighting((4_100, 4_110), "running", 1, 9));
    finds(Check::Lease, &immortal);

    let fault = Op::Fault { fault: Fault::Kill };
    immortal.operations.push(operation(0, (500, 700), fault, Outcome::Ok(Answer::Done)));
    assert!(check(&immortal).iter().all(|violation| violation.check != Check::Lease));
}
