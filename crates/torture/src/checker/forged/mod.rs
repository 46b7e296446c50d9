//! Every check finds its violation in a forged history, and nothing in a good one.

mod holder;
mod log;

use super::{Check, Evidence, FinalSession, Row, RowKind, check, undisturbed_writes_are_answered};
use crate::{
    history::{Answer, Fault, Op, Operation, Outcome, Seen},
    time::MILLISECOND,
};
use domain::session::Status;
use uuid::Uuid;

const SESSION: Uuid = Uuid::from_u128(0xACE);
const HOLDER: u32 = 101;
const RIVAL: u32 = 102;

fn id(number: u64) -> Uuid {
    Uuid::from_u128(0x1000 + u128::from(number))
}

/// The body of event `number`.
const fn digest(number: u64) -> u64 {
    number * 7_919
}

fn operation(process: u32, (from, to): (u64, u64), op: Op, outcome: Outcome) -> Operation {
    Operation { process, op, invoked: from * MILLISECOND, ended: to * MILLISECOND, outcome }
}

fn append(process: u32, at: (u64, u64), attempt: u32, placed: &[(u64, u64)], head: u64) -> Operation {
    let events = placed.iter().map(|(event, _)| (id(*event), digest(*event))).collect();
    let acked = placed.iter().map(|(event, sequence)| (id(*event), *sequence)).collect();
    operation(
        process,
        at,
        Op::Append { session: SESSION, attempt, events },
        Outcome::Ok(Answer::Appended { events: acked, head }),
    )
}

fn refused(code: &str) -> Outcome {
    Outcome::Fail { code: code.into() }
}

fn claim(process: u32, at: (u64, u64), attempt: u32, lease_ms: u64) -> Operation {
    let op = Op::Claim { agent: "a".into(), lease_ms };
    operation(process, at, op, Outcome::Ok(Answer::Claimed { sessions: vec![(SESSION, attempt)] }))
}

fn complete(process: u32, at: (u64, u64), attempt: u32, token: u64, answered: u64) -> Operation {
    let op = Op::Complete { session: SESSION, attempt, token };
    operation(process, at, op, Outcome::Ok(Answer::Completed { token: Some(answered) }))
}

fn sighting(at: (u64, u64), status: &str, attempt: u32, head: u64) -> Operation {
    operation(6, at, Op::Status { session: SESSION }, Outcome::Ok(Answer::Row { status: status.into(), attempt, head }))
}

fn rows(kinds: &[(RowKind, Option<u32>)]) -> Vec<Row> {
    let numbered = (1_u64..).zip(kinds);
    numbered
        .map(|(n, (kind, attempt))| Row { sequence: n, id: id(n), digest: digest(n), attempt: *attempt, kind: *kind })
        .collect()
}

fn change(from: Option<Status>, to: Status) -> (RowKind, Option<u32>) {
    (RowKind::StatusChange { from, to: Some(to) }, None)
}

const fn worker(attempt: u32) -> (RowKind, Option<u32>) {
    (RowKind::Worker, Some(attempt))
}

/// A session that ran: 1 created, 2 queued, 3 and 4 claimed, 5 one event, 6 to 8 a batch, 9 one event,
/// 10 and 11 completed. Event ids follow sequences.
fn good() -> Evidence {
    let rows = rows(&[
        (RowKind::Server, None),
        change(None, Status::Pending),
        (RowKind::Claimed, None),
        change(Some(Status::Pending), Status::Running),
        worker(1),
        worker(1),
        worker(1),
        worker(1),
        worker(1),
        (RowKind::Server, None),
        change(Some(Status::Running), Status::Completed),
    ]);
    let seen = |range: std::ops::RangeInclusive<u64>| -> Vec<Seen> { range.map(|n| (n, id(n), digest(n))).collect() };
    let read = |at, after, limit, events, head, more| {
        let op = Op::Read { session: SESSION, after, limit };
        operation(200, at, op, Outcome::Ok(Answer::Page { events, head, more }))
    };
    let stretch = |at, after, connection, events, end| {
        let op = Op::Stream { session: SESSION, after, connection };
        operation(300, at, op, Outcome::Ok(Answer::Delivered { events, end }))
    };
    let conflict = Op::Conflict { session: SESSION, attempt: 1, event: (id(5), 1) };
    let operations = vec![
        claim(HOLDER, (20, 30), 1, 3_600_000),
        sighting((50, 51), "running", 1, 4),
        append(HOLDER, (100, 110), 1, &[(5, 5)], 5),
        read((112, 115), 0, 1_000, seen(1..=5), 5, false),
        append(HOLDER, (120, 130), 1, &[(6, 6), (7, 7), (8, 8)], 8),
        append(RIVAL, (140, 150), 1, &[(9, 9)], 9),
        append(RIVAL, (152, 154), 1, &[(9, 9)], 9),
        operation(HOLDER, (155, 156), conflict, refused("id_conflict")),
        read((160, 170), 4, 3, seen(5..=7), 9, true),
        complete(HOLDER, (180, 190), 1, 42, 42),
        complete(RIVAL, (185, 195), 1, 43, 42),
        stretch((10, 125), 0, 0, seen(1..=6), false),
        stretch((130, 200), 6, 1, seen(7..=11), true),
        operation(300, (201, 202), Op::StreamClosed { session: SESSION, after: 11 }, Outcome::Ok(Answer::Done)),
    ];
    let log = FinalSession {
        found: true,
        rows,
        status: Some(Status::Completed),
        attempt: 1,
        head: 11,
        token: Some(42),
        ..FinalSession::missing(SESSION)
    };
    Evidence { operations, sessions: vec![log] }
}

/// A lease of one second that was lost: attempt 1 at 0, attempt 2 at 1.5 s, a refused stale write.
fn lost_lease() -> Evidence {
    let rows = rows(&[
        change(None, Status::Pending),
        (RowKind::Claimed, None),
        change(Some(Status::Pending), Status::Running),
        worker(1),
        change(Some(Status::Running), Status::Pending),
        (RowKind::Claimed, None),
        change(Some(Status::Pending), Status::Running),
        worker(2),
    ]);
    let stale = Op::Append { session: SESSION, attempt: 1, events: vec![(id(99), 1)] };
    let operations = vec![
        claim(HOLDER, (1, 10), 1, 1_000),
        append(HOLDER, (20, 30), 1, &[(4, 4)], 4),
        claim(RIVAL, (1_500, 1_510), 2, 1_000),
        append(RIVAL, (1_520, 1_530), 2, &[(8, 8)], 8),
        operation(HOLDER, (1_600, 1_610), stale, refused("stale_attempt")),
        sighting((1_700, 1_701), "running", 2, 8),
    ];
    let log = FinalSession {
        found: true,
        rows,
        status: Some(Status::Running),
        attempt: 2,
        head: 8,
        ..FinalSession::missing(SESSION)
    };
    Evidence { operations, sessions: vec![log] }
}

#[track_caller]
fn finds(check_due: Check, evidence: &Evidence) {
    let violations = check(evidence);
    assert!(violations.iter().any(|v| v.check == check_due), "{check_due} found nothing; found: {violations:#?}");
}

/// Renumbers a log after rows were removed or added.
fn renumber(log: &mut FinalSession) {
    for (row, sequence) in log.rows.iter_mut().zip(1..) {
        row.sequence = sequence;
    }
    log.head = log.rows.len() as u64;
}

fn outcome_of(evidence: &mut Evidence, pick: impl Fn(&Op) -> bool) -> &mut Operation {
    evidence.operations.iter_mut().find(|operation| pick(&operation.op)).unwrap()
}

#[test]
fn an_error_of_the_server_is_found_unless_a_fault_explains_it() {
    let beat = |at, why: &str| {
        operation(HOLDER, at, Op::Heartbeat { session: SESSION, attempt: 1 }, Outcome::Info { why: why.into() })
    };
    let fault = operation(1, (100, 200), Op::Fault { fault: Fault::Kill }, Outcome::Ok(Answer::Done));
    let found = |beat: Operation| {
        let mut evidence = good();
        evidence.operations.extend([fault.clone(), beat]);
        undisturbed_writes_are_answered(&evidence).len()
    };
    assert_eq!(found(beat((10, 20), "503 unavailable")), 1, "before the fault");
    assert_eq!(found(beat((10, 150), "503 unavailable")), 0, "into the fault");
    assert_eq!(found(beat((1_500, 1_510), "503 unavailable")), 0, "soon after it");
    assert_eq!(found(beat((4_000, 4_010), "500 internal")), 1, "long after it");
    assert_eq!(found(beat((4_000, 4_010), "the connection was reset")), 0, "cut by the proxy");
}
