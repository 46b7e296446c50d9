//! What a run of a composite tool does next. The function is pure: the store keeps what was tried.

use super::mapping::needed;
use crate::{
    Timestamp,
    limit::TOOL_STEP_BACKOFF_SECONDS_MAX,
    names::names,
    tool::{Composite, OnFailure, Step},
};
use chrono::TimeDelta;
use std::fmt;

/// How far one try of a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StepState {
    /// Its pause before it begins is not over.
    Waiting,
    /// Its session has not ended.
    Started,
    /// Its session completed.
    Completed,
    /// It failed, and may be tried again.
    Failed,
    /// It failed in a way that another try would not change: it was cancelled or denied, or its input is not valid.
    Refused,
}

names!(StepState {
    Waiting = "waiting", Started = "started", Completed = "completed", Failed = "failed", Refused = "refused",
});

/// The last try of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tried {
    /// Number of the try; the first is 1.
    pub attempt: u32,
    /// How far it is.
    pub state: StepState,
    /// Time at which a waiting one begins (UTC).
    pub not_before: Option<Timestamp>,
}

/// What a run does next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// It begins these tries, and lets the others wait. Without any, it waits for what was started.
    Go {
        /// Index of each step that begins now, and the number of its try.
        start: Vec<(usize, u32)>,
        /// Index of each step that is tried again after a pause, the number of its try, and when it begins.
        wait: Vec<(usize, u32, Timestamp)>,
    },
    /// Every step has ended, so it completes.
    Complete,
    /// It fails because of the step at this index.
    Fail(usize),
}

/// The pause before a try.
pub fn pause(step: &Step, attempt: u32) -> TimeDelta {
    let doublings = attempt.saturating_sub(2).min(u32::BITS - 1);
    let seconds = u64::from(step.backoff_seconds) << doublings;
    TimeDelta::seconds(i64::try_from(seconds).unwrap_or(i64::MAX).min(TOOL_STEP_BACKOFF_SECONDS_MAX.into()))
}

/// Whether a step failed for good.
const fn has_failed(step: &Step, tried: Tried) -> bool {
    match tried.state {
        StepState::Refused => true,
        StepState::Failed => tried.attempt > step.retries,
        StepState::Waiting | StepState::Started | StepState::Completed => false,
    }
}

/// Returns what a run does next. `tried` has the last try of each step; `None` for one that has not begun.
pub fn next(composite: &Composite, tried: &[Option<Tried>], now: Timestamp) -> Next {
    let of = |index: usize| tried.get(index).copied().flatten();
    let steps = || composite.steps.iter().enumerate();
    let has_ended = |index: usize| {
        let (step, tried) = (composite.steps.get(index), of(index));
        step.zip(tried).is_some_and(|(step, tried)| tried.state == StepState::Completed || has_failed(step, tried))
    };
    let stops = |(index, step): &(usize, &Step)| {
        step.on_failure == OnFailure::Stop && of(*index).is_some_and(|tried| has_failed(step, tried))
    };
    if let Some((index, _)) = steps().find(stops) {
        return Next::Fail(index);
    }
    if steps().all(|(index, _)| has_ended(index)) {
        return Next::Complete;
    }
    let (mut start, mut wait) = (Vec::new(), Vec::new());
    for (index, step) in steps().filter(|(index, _)| !has_ended(*index)) {
        match of(index) {
            None if needed(composite, index).into_iter().all(has_ended) => start.push((index, 1)),
            Some(Tried { state: StepState::Waiting, attempt, not_before }) if not_before.is_none_or(|at| at <= now) => {
                start.push((index, attempt));
            }
            Some(Tried { state: StepState::Failed, attempt, .. }) => {
                let attempt = attempt.saturating_add(1);
                let pause = pause(step, attempt);
                if pause.is_zero() {
                    start.push((index, attempt));
                } else {
                    wait.push((index, attempt, now + pause));
                }
            }
            _ => {}
        }
    }
    Next::Go { start, wait }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::from_micros;
    use proptest::prelude::*;
    use serde_json::json;

    fn tried(attempt: u32, state: StepState) -> Option<Tried> {
        Some(Tried { attempt, state, not_before: None })
    }

    fn go(start: &[(usize, u32)]) -> Next {
        Next::Go { start: start.to_vec(), wait: Vec::new() }
    }

    /// `a` and `b` at once, then `c` with the result of `a`.
    fn fork(on_failure: &str, retries: u32, backoff: u32) -> Composite {
        let more = json!({ "onFailure": on_failure, "retries": retries, "backoffSeconds": backoff });
        let mut a = json!({ "name": "a", "tool": "t" });
        a.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let c = json!({ "name": "c", "tool": "t", "input": { "x": "{/steps/a}" } });
        serde_json::from_value(json!({ "steps": [a, { "name": "b", "tool": "t" }, c] })).unwrap()
    }

    #[test]
    fn steps_begin_at_once_or_after_what_they_use() {
        use StepState::{Completed, Started};
        let (steps, now) = (fork("stop", 0, 0), from_micros(0));
        assert_eq!(next(&steps, &[None, None, None], now), go(&[(0, 1), (1, 1)]));
        assert_eq!(next(&steps, &[tried(1, Started), tried(1, Completed), None], now), go(&[]));
        assert_eq!(next(&steps, &[tried(1, Completed), tried(1, Started), None], now), go(&[(2, 1)]));
        let done = [tried(1, Completed), tried(1, Completed), tried(1, Completed)];
        assert_eq!(next(&steps, &done, now), Next::Complete);
    }

    #[test]
    fn a_failed_step_stops_the_run_or_lets_it_go_on() {
        use StepState::{Completed, Failed, Refused, Started};
        let now = from_micros(0);
        for failed in [Failed, Refused] {
            let first = [tried(1, failed), tried(1, Started), None];
            assert_eq!(next(&fork("stop", 0, 0), &first, now), Next::Fail(0));
            assert_eq!(next(&fork("continue", 0, 0), &first, now), go(&[(2, 1)]));
            let all = [tried(1, failed), tried(1, Completed), tried(1, Completed)];
            assert_eq!(next(&fork("continue", 0, 0), &all, now), Next::Complete);
        }
    }

    #[test]
    fn a_failed_step_is_tried_again_after_growing_pauses() {
        use StepState::{Completed, Failed, Refused, Started, Waiting};
        let (steps, now) = (fork("stop", 2, 10), from_micros(5));
        let with = |a: Option<Tried>| next(&steps, &[a, tried(1, Started), None], now);
        let after = |seconds| now + TimeDelta::seconds(seconds);
        let wait = |attempt, seconds| Next::Go { start: vec![], wait: vec![(0, attempt, after(seconds))] };
        assert_eq!(with(tried(1, Failed)), wait(2, 10));
        assert_eq!(with(tried(2, Failed)), wait(3, 20));
        assert_eq!(with(tried(3, Failed)), Next::Fail(0));
        assert_eq!(with(tried(1, Refused)), Next::Fail(0));
        assert_eq!(with(tried(3, Completed)), go(&[(2, 1)]));
        let waiting = |until| Some(Tried { attempt: 2, state: Waiting, not_before: Some(until) });
        assert_eq!(with(waiting(after(1))), go(&[]));
        assert_eq!(with(waiting(now)), go(&[(0, 2)]));
        assert_eq!(next(&fork("stop", 1, 0), &[tried(1, Failed), tried(1, Started), None], now), go(&[(0, 2)]));
        let long = &fork("stop", 10, 3_600).steps[0];
        assert_eq!(pause(long, 11), TimeDelta::seconds(3_600));
    }

    proptest! {
        #[test]
        fn a_run_ends_after_each_step_was_tried_as_often_as_it_may(
            shape in prop::collection::vec((0..3_u32, any::<bool>(), 0..8_usize), 1..12),
            outcomes in prop::collection::vec(0..3_u8, 64),
        ) {
            let steps = shape.iter().enumerate().map(|(index, (retries, goes_on, on))| {
                let after = if *on < index { vec![format!("s{on}")] } else { vec![] };
                json!({
                    "name": format!("s{index}"), "tool": "t", "retries": retries, "after": after, "backoffSeconds": 1,
                    "onFailure": if *goes_on { "continue" } else { "stop" },
                })
            });
            let composite = json!({ "steps": steps.collect::<Vec<_>>() });
            let composite: Composite = serde_json::from_value(composite).unwrap();
            let mut now = from_micros(0);
            let mut tries: Vec<Option<Tried>> = vec![None; composite.steps.len()];
            let mut outcomes = outcomes.into_iter().cycle();
            let mut begun = 0_u32;
            loop {
                match next(&composite, &tries, now) {
                    Next::Complete => break,
                    Next::Fail(index) => {
                        prop_assert_eq!(composite.steps[index].on_failure, OnFailure::Stop);
                        break;
                    }
                    Next::Go { start, wait } => {
                        for (index, attempt, at) in &wait {
                            tries[*index] = Some(Tried { attempt: *attempt, state: StepState::Waiting, not_before: Some(*at) });
                        }
                        for (index, attempt) in &start {
                            begun += 1;
                            prop_assert!(*attempt <= composite.steps[*index].retries + 1);
                            tries[*index] = tried(*attempt, StepState::Started);
                        }
                        if start.is_empty() && wait.is_empty() {
                            now += TimeDelta::seconds(3_600);
                            // The oldest open one ends.
                            let open = tries.iter_mut().flatten().find(|tried| tried.state == StepState::Started);
                            if let Some(tried) = open {
                                tried.state = [StepState::Completed, StepState::Failed, StepState::Refused]
                                    [usize::from(outcomes.next().unwrap_or_default())];
                            }
                        }
                    }
                }
                prop_assert!(begun <= 12 * 3, "it does not end");
            }
        }
    }
}
