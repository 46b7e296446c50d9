//! C1 to C6 against a brute-force search: on small random histories of one session they accept exactly those
//! for which some order of all operations, consistent with real time, explains every answer.
//!
//! The model is the sequential log itself; it knows nothing of the checks. proptest makes the histories,
//! because a log with positions needs no general tester such as stateright's.

use proptest::prelude::*;
use std::collections::HashSet;
use torture::{
    checker::{Check, Evidence, FinalSession, Row, RowKind, check},
    history::{Answer, Op, Operation, Outcome, Sent},
};
use uuid::Uuid;

const SESSION: Uuid = Uuid::from_u128(1);

/// What a client does in a generated history.
#[derive(Debug, Clone)]
enum Step {
    /// A fresh batch.
    Write(u64),
    /// The same append as an earlier step once more.
    Again(usize),
    /// A page.
    Read { after: u64, limit: u32 },
}

/// One operation of a generated history: when it began, took effect and ended; what was known of it.
#[derive(Debug, Clone)]
struct Draft {
    step: Step,
    begin: u64,
    effect: u64,
    end: u64,
    /// 0 to 6 known, 7 and 8 unknown but done, 9 unknown and not done.
    fate: u8,
}

fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let step = prop_oneof![
        4 => (1_u64..4).prop_map(Step::Write),
        1 => (0_usize..4).prop_map(Step::Again),
        3 => (0_u64..6, 1_u32..5).prop_map(|(after, limit)| Step::Read { after, limit }),
    ];
    let draft = (step, 0_u64..60, 0_u64..12, 0_u64..12, 0_u8..10).prop_map(|(step, begin, wait, rest, fate)| {
        // Distinct instants keep "before" free of ties.
        let (begin, effect) = (begin * 100, (begin + wait) * 100 + 50);
        Draft { step, begin, effect, end: effect + rest * 100 + 25, fate }
    });
    prop::collection::vec(draft, 1..7)
}

/// How a correct history is falsified.
#[derive(Debug, Clone, Copy)]
struct Lie {
    kind: u8,
    at: usize,
    by: u64,
}

fn append(model: &mut Vec<Sent>, events: &[Sent]) -> Vec<(Uuid, u64)> {
    let place = |model: &[Sent], id: Uuid| model.iter().position(|known| known.0 == id).map(|index| index as u64 + 1);
    if place(model, events[0].0).is_none() {
        model.extend_from_slice(events);
    }
    events.iter().map(|sent| (sent.0, place(model, sent.0).unwrap_or(0))).collect()
}

fn page(model: &[Sent], after: u64, limit: u32) -> Answer {
    let numbered = (1_u64..).zip(model).map(|(sequence, sent)| (sequence, sent.0, sent.1));
    let events: Vec<_> = numbered.filter(|event| event.0 > after).take(limit as usize).collect();
    let head = model.len() as u64;
    let more = events.last().is_some_and(|event| event.0 < head);
    Answer::Page { events, head, more }
}

/// A history that a correct server produces.
fn play(drafts: &[Draft]) -> Evidence {
    let batch = |number: usize, size: u64| -> Vec<Sent> {
        (0..size)
            .map(|n| (Uuid::from_u128(((number as u128) << 32) + u128::from(n) + 1), number as u64 * 100 + n))
            .collect()
    };
    let batches: Vec<Option<Vec<Sent>>> = drafts
        .iter()
        .enumerate()
        .map(|(number, draft)| if let Step::Write(size) = draft.step { Some(batch(number, size)) } else { None })
        .collect();
    let mut order: Vec<usize> = (0..drafts.len()).collect();
    order.sort_by_key(|index| (drafts[*index].effect, *index));
    let mut model = Vec::new();
    let mut answers = vec![None; drafts.len()];
    for index in order {
        let draft = &drafts[index];
        let done = draft.fate < 9;
        answers[index] = match &draft.step {
            Step::Read { after, limit } => Some(page(&model, *after, *limit)),
            Step::Write(_) | Step::Again(_) if done => events_of(&draft.step, index, &batches).map(|events| {
                let acked = append(&mut model, events);
                Answer::Appended { events: acked, head: model.len() as u64 }
            }),
            Step::Write(_) | Step::Again(_) => None,
        };
    }
    let mut operations = Vec::new();
    for (index, draft) in drafts.iter().enumerate() {
        let op = match &draft.step {
            Step::Read { after, limit } => Op::Read { session: SESSION, after: *after, limit: *limit },
            step => match events_of(step, index, &batches) {
                Some(events) => Op::Append { session: SESSION, attempt: 1, events: events.clone() },
                None => continue,
            },
        };
        let known = draft.fate < 7;
        let (outcome, ended) = match answers[index].clone() {
            Some(answer) if known => (Outcome::Ok(answer), draft.end),
            _ => (Outcome::Info { why: "?".into() }, u64::MAX),
        };
        operations.push(Operation { process: index as u32, op, invoked: draft.begin, ended, outcome });
    }
    let rows = (1_u64..).zip(&model).map(|(sequence, sent)| Row {
        sequence,
        id: sent.0,
        digest: sent.1,
        attempt: None,
        kind: RowKind::Worker,
    });
    let log =
        FinalSession { found: true, rows: rows.collect(), head: model.len() as u64, ..FinalSession::missing(SESSION) };
    Evidence { operations, sessions: vec![log] }
}

fn events_of<'a>(step: &Step, index: usize, batches: &'a [Option<Vec<Sent>>]) -> Option<&'a Vec<Sent>> {
    match step {
        Step::Write(_) => batches[index].as_ref(),
        Step::Again(other) => batches.get(*other)?.as_ref(),
        Step::Read { .. } => None,
    }
}

fn falsify(evidence: &mut Evidence, lie: Lie) {
    let rows = &mut evidence.sessions[0].rows;
    let count = rows.len().max(1);
    match lie.kind {
        // A row vanishes; two change places; a body changes; a row comes twice.
        0 if !rows.is_empty() => drop(rows.remove(lie.at % count)),
        1 if rows.len() > 1 => rows.swap(lie.at % count, lie.by as usize % count),
        2 if !rows.is_empty() => rows[lie.at % count].digest ^= 1,
        3 if !rows.is_empty() => rows.push(rows[lie.at % count].clone()),
        // An operation was earlier, later or longer than it says; an answer is off by a little.
        4..=7 if !evidence.operations.is_empty() => {
            let at = lie.at % evidence.operations.len();
            let operation = &mut evidence.operations[at];
            let shift = (1 + lie.by % 20) * 100;
            match (lie.kind, &mut operation.outcome) {
                (4, _) => operation.invoked = operation.invoked.saturating_sub(shift),
                (5, Outcome::Ok(_)) => {
                    (operation.invoked, operation.ended) = (operation.invoked + shift, operation.ended + shift)
                }
                (6, Outcome::Ok(Answer::Page { head, .. })) => *head += lie.by % 3,
                (6, Outcome::Ok(Answer::Appended { events, .. })) => events[0].1 += lie.by % 3,
                (7, Outcome::Ok(Answer::Page { events, .. })) if !events.is_empty() => drop(events.pop()),
                _ => {}
            }
        }
        _ => {}
    }
    let log = &mut evidence.sessions[0];
    for (row, sequence) in log.rows.iter_mut().zip(1..) {
        row.sequence = sequence;
    }
    log.head = log.rows.len() as u64;
}

/// The search: is there an order of all operations that explains everything?
struct Search<'a> {
    operations: &'a [Operation],
    goal: Vec<Sent>,
    seen: HashSet<(u32, Vec<Sent>)>,
}

impl Search<'_> {
    fn explains(&mut self, done: u32, model: &[Sent]) -> bool {
        // A log only grows: what is not a prefix of the goal never becomes it.
        if !self.goal.starts_with(model) || !self.seen.insert((done, model.to_vec())) {
            return false;
        }
        let open = |index: usize| done & (1 << index) == 0;
        let must_end = |operation: &Operation| matches!(operation.outcome, Outcome::Ok(_));
        if self.goal == model && self.operations.iter().enumerate().all(|(i, o)| !open(i) || !must_end(o)) {
            return true;
        }
        // Only what began before everything still open had ended can come next.
        let horizon = self.operations.iter().enumerate().filter(|(i, _)| open(*i)).map(|(_, o)| o.ended).min();
        for index in 0..self.operations.len() {
            let operation = &self.operations[index];
            if !open(index) || horizon.is_some_and(|end| operation.invoked > end) {
                continue;
            }
            let mut next = model.to_vec();
            let fits = match (&operation.op, &operation.outcome) {
                (Op::Append { events, .. }, outcome) => {
                    let acked = append(&mut next, events);
                    !matches!(outcome, Outcome::Ok(Answer::Appended { events, .. }) if *events != acked)
                }
                (Op::Read { after, limit, .. }, Outcome::Ok(answer)) => {
                    *answer == page(model, *after, filled(answer, *limit))
                }
                _ => continue,
            };
            if fits && self.explains(done | 1 << index, &next) {
                return true;
            }
        }
        false
    }
}

/// A page may be shorter than its limit (a server may bound its bytes), as long as it says that there is more.
fn filled(answer: &Answer, limit: u32) -> u32 {
    match answer {
        Answer::Page { events, .. } if !events.is_empty() => limit.min(events.len() as u32),
        _ => limit,
    }
}

fn is_linearizable(evidence: &Evidence) -> bool {
    let goal = evidence.sessions[0].rows.iter().map(|row| (row.id, row.digest)).collect();
    Search { operations: &evidence.operations, goal, seen: HashSet::new() }.explains(0, &[])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_checks_agree_with_a_search_over_all_orders(
        drafts in drafts(),
        lie in prop::option::weighted(0.7, (0_u8..8, 0_usize..50, 0_u64..50)),
    ) {
        let mut evidence = play(&drafts);
        prop_assert!(is_linearizable(&evidence), "the generator makes correct histories");
        if let Some((kind, at, by)) = lie {
            falsify(&mut evidence, Lie { kind, at, by });
        }
        let found: Vec<_> = check(&evidence).into_iter().filter(|violation| violation.check <= Check::C6).collect();
        let expected = is_linearizable(&evidence);
        prop_assert_eq!(found.is_empty(), expected, "{:#?}\n{:#?}", found, evidence);
    }
}
