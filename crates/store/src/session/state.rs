//! Conversion of the columns that describe a session's status into a [`State`].

use crate::engine::{Error, Result};
use domain::{
    Timestamp,
    session::{End, EndReason, Ended, Lease, State, Status, WaitsFor},
};

/// The columns that describe the status, each converted by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) status: Status,
    pub(super) attempt: u32,
    pub(super) lease_seconds: Option<u32>,
    pub(super) lease_expires_at: Option<Timestamp>,
    pub(super) deadline_at: Option<Timestamp>,
    pub(super) waits_for: Option<WaitsFor>,
    pub(super) end_reason: Option<EndReason>,
    pub(super) completed_at: Option<Timestamp>,
    pub(super) outcome: Outcome,
}

/// What the column `result` has in the place of a result of more than
/// [`DOCUMENT_BYTES_MAX`](domain::limit::DOCUMENT_BYTES_MAX), which is a row of `session_results`. No JSON is empty.
pub(super) const ELSEWHERE: &str = "";

/// The result or error of a session.
#[derive(Clone, Default, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) result: Option<String>,
    pub(super) error_message: Option<String>,
    pub(super) error_code: Option<String>,
}

/// Shows which values are present, but not the values, because the text goes into errors and logs.
impl std::fmt::Debug for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outcome")
            .field("result", &self.result.is_some())
            .field("error_message", &self.error_message.is_some())
            .field("error_code", &self.error_code.is_some())
            .finish()
    }
}

/// The state that the columns describe.
///
/// # Errors
/// [`Error::Inconsistent`] for a combination of columns that no session can have.
pub(super) fn state(mut columns: Columns) -> Result<State> {
    let lease = match (columns.lease_seconds, columns.lease_expires_at) {
        (Some(seconds), Some(expires_at)) => Some(Lease { seconds, expires_at }),
        (None, None) => None,
        (Some(_), None) | (None, Some(_)) => return Err(impossible(&columns)),
    };
    let ending = match (columns.end_reason, columns.completed_at) {
        (Some(reason), Some(at)) => Some((reason, at)),
        (None, None) if columns.outcome == Outcome::default() => None,
        (None, None) | (Some(_), None) | (None, Some(_)) => return Err(impossible(&columns)),
    };
    let deadline_at = columns.deadline_at;
    let state = match (columns.status, lease, columns.waits_for, ending) {
        (Status::Draft, None, waits_for @ (None | Some(WaitsFor::Dependencies)), None)
            if columns.attempt == 0 && deadline_at.is_none() =>
        {
            Some(State::Draft { waits_for_dependencies: waits_for.is_some() })
        }
        (Status::Pending, None, None, None) => Some(State::Pending { deadline_at }),
        // A claimed session holds a lease while it runs.
        (Status::Running, lease, None, None) if lease.is_some() == (columns.attempt > 0) => {
            Some(State::Running { lease, deadline_at })
        }
        (Status::WaitingHuman, None, None, None) => Some(State::WaitingHuman { deadline_at }),
        (Status::AwaitingTool, None, None, None) => Some(State::AwaitingTool { deadline_at }),
        (Status::Idle, None, waits_for @ (None | Some(WaitsFor::Children)), None) => {
            Some(State::Idle { waits_for_children: waits_for.is_some(), deadline_at })
        }
        (
            status @ (Status::Completed | Status::Failed | Status::Abandoned | Status::Expired),
            None,
            None,
            Some((reason, at)),
        ) if deadline_at.is_none() => End::of(status, reason).map(|end| {
            let Outcome { result, error_message, error_code } = std::mem::take(&mut columns.outcome);
            let result_left_out = result.as_deref() == Some(ELSEWHERE);
            let result = result.filter(|_| !result_left_out);
            State::Ended(Ended { end, at, result, result_left_out, error_message, error_code })
        }),
        (
            Status::Draft
            | Status::Pending
            | Status::Running
            | Status::WaitingHuman
            | Status::AwaitingTool
            | Status::Idle
            | Status::Completed
            | Status::Failed
            | Status::Abandoned
            | Status::Expired,
            ..,
        ) => None,
    };
    state.ok_or_else(|| impossible(&columns))
}

fn impossible(columns: &Columns) -> Error {
    Error::Inconsistent(format!(
        "sessions.status is {:?}, which other columns contradict: {columns:?}",
        columns.status.as_str()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::clock::from_micros;
    use proptest::prelude::*;

    fn columns(status: Status) -> Columns {
        Columns {
            status,
            attempt: 0,
            lease_seconds: None,
            lease_expires_at: None,
            deadline_at: None,
            waits_for: None,
            end_reason: None,
            completed_at: None,
            outcome: Outcome::default(),
        }
    }

    fn at(micros: i64) -> Option<Timestamp> {
        Some(from_micros(micros))
    }

    /// The columns of a state, as `store::session::save` writes them.
    fn written(state: &State, attempt: u32) -> Columns {
        let ended = state.ended();
        Columns {
            status: state.status(),
            attempt,
            lease_seconds: state.lease().map(|lease| lease.seconds),
            lease_expires_at: state.lease().map(|lease| lease.expires_at),
            deadline_at: state.deadline_at(),
            waits_for: state.waits_for(),
            end_reason: ended.map(|ended| ended.end.reason()),
            completed_at: ended.map(|ended| ended.at),
            outcome: ended.map_or_else(Outcome::default, |ended| Outcome {
                result: if ended.result_left_out { Some(ELSEWHERE.to_owned()) } else { ended.result.clone() },
                error_message: ended.error_message.clone(),
                error_code: ended.error_code.clone(),
            }),
        }
    }

    fn refused(columns: &Columns) -> bool {
        match state(columns.clone()) {
            Err(Error::Inconsistent(message)) => {
                let named = format!("sessions.status is {:?}", columns.status.as_str());
                assert!(message.contains(&named) && !message.contains("secret"), "{message}");
                true
            }
            Err(other) => panic!("{other}"),
            Ok(_) => false,
        }
    }

    #[test]
    fn each_status_refuses_the_columns_that_contradict_it() {
        use Status::{
            Abandoned, AwaitingTool, Completed, Draft, Expired, Failed, Idle, Pending, Running, WaitingHuman,
        };
        let leased = |c: Columns| Columns { lease_seconds: Some(60), lease_expires_at: at(5), ..c };
        let ended = |c: Columns| Columns { end_reason: Some(EndReason::Done), completed_at: at(5), ..c };
        let secret = || Some("secret".to_owned());
        for status in [Draft, Pending, Running, WaitingHuman, AwaitingTool, Idle] {
            let open = columns(status);
            assert!(!refused(&open), "{status}");
            for wrong in [
                ended(open.clone()),
                Columns { end_reason: Some(EndReason::Error), ..open.clone() },
                Columns { completed_at: at(5), ..open.clone() },
                Columns { outcome: Outcome { result: secret(), ..Outcome::default() }, ..open.clone() },
                Columns { outcome: Outcome { error_message: secret(), ..Outcome::default() }, ..open.clone() },
                Columns { outcome: Outcome { error_code: secret(), ..Outcome::default() }, ..open.clone() },
                Columns { lease_seconds: Some(60), ..open.clone() },
                Columns { lease_expires_at: at(5), ..open.clone() },
                leased(open.clone()),
            ] {
                assert!(refused(&wrong), "{wrong:?}");
            }
            for (waits_for, waiting) in [(WaitsFor::Dependencies, Draft), (WaitsFor::Children, Idle)] {
                assert_eq!(refused(&Columns { waits_for: Some(waits_for), ..open.clone() }), status != waiting);
            }
            assert_eq!(refused(&Columns { deadline_at: at(5), ..open.clone() }), status == Draft);
            // A claimed session runs under a lease, and a draft was never claimed.
            let claimed = Columns { attempt: 1, ..open };
            assert_eq!(refused(&claimed), matches!(status, Draft | Running), "{status}");
            assert_eq!(refused(&leased(claimed)), status != Running, "{status}");
        }
        for status in [Completed, Failed, Abandoned, Expired] {
            for reason in EndReason::ALL {
                let right = Columns { end_reason: Some(reason), completed_at: at(5), ..columns(status) };
                assert_eq!(refused(&right), End::of(status, reason).is_none(), "{status} {reason}");
                for wrong in [
                    Columns { end_reason: None, ..right.clone() },
                    Columns { completed_at: None, ..right.clone() },
                    Columns { deadline_at: at(5), ..right.clone() },
                    Columns { waits_for: Some(WaitsFor::Children), ..right.clone() },
                    Columns { waits_for: Some(WaitsFor::Dependencies), ..right.clone() },
                    leased(Columns { attempt: 1, ..right }),
                ] {
                    assert!(refused(&wrong), "{wrong:?}");
                }
            }
        }
    }

    fn any_columns() -> impl Strategy<Value = Columns> {
        let micros = || prop::option::of((0..3_i64).prop_map(from_micros));
        let text = || prop::option::of("[a-c]{0,2}");
        let known = (0..Status::ALL.len(), 0..3_u32, prop::option::of(0..3_u32), micros(), micros());
        let ends = (prop::option::of(0..EndReason::ALL.len()), micros(), text(), text(), text());
        (known, prop::option::of(any::<bool>()), ends).prop_map(
            |((status, attempt, lease_seconds, lease_expires_at, deadline_at), waits_for, ends)| {
                let (end_reason, completed_at, result, error_message, error_code) = ends;
                Columns {
                    status: Status::ALL[status],
                    attempt,
                    lease_seconds,
                    lease_expires_at,
                    deadline_at,
                    waits_for: waits_for.map(|c| if c { WaitsFor::Children } else { WaitsFor::Dependencies }),
                    end_reason: end_reason.map(|at| EndReason::ALL[at]),
                    completed_at,
                    outcome: Outcome { result, error_message, error_code },
                }
            },
        )
    }

    fn any_state() -> impl Strategy<Value = (State, u32)> {
        let deadline = || prop::option::of((0..9_i64).prop_map(from_micros));
        let lease = (1..9_u32, 0..9_i64).prop_map(|(seconds, at)| Lease { seconds, expires_at: from_micros(at) });
        let text = || prop::option::of("[a-c]{0,2}");
        prop_oneof![
            any::<bool>().prop_map(|waits| (State::Draft { waits_for_dependencies: waits }, 0)),
            (deadline(), 0..4_u32).prop_map(|(deadline_at, attempt)| (State::Pending { deadline_at }, attempt)),
            deadline().prop_map(|deadline_at| (State::Running { lease: None, deadline_at }, 0)),
            (lease, deadline(), 1..4_u32)
                .prop_map(|(lease, deadline_at, n)| (State::Running { lease: Some(lease), deadline_at }, n)),
            (deadline(), 0..4_u32).prop_map(|(deadline_at, attempt)| (State::WaitingHuman { deadline_at }, attempt)),
            (deadline(), 0..4_u32).prop_map(|(deadline_at, attempt)| (State::AwaitingTool { deadline_at }, attempt)),
            (any::<bool>(), deadline(), 0..4_u32)
                .prop_map(|(waits_for_children, deadline_at, n)| (State::Idle { waits_for_children, deadline_at }, n)),
            (0..End::ALL.len(), 0..9_i64, (text(), text(), text()), 0..4_u32).prop_map(|(end, at, texts, attempt)| {
                let (result, error_message, error_code) = texts;
                let at = from_micros(at);
                let result_left_out = result.as_deref() == Some(ELSEWHERE);
                let result = result.filter(|_| !result_left_out);
                let end = End::ALL[end];
                (State::Ended(Ended { end, at, result, result_left_out, error_message, error_code }), attempt)
            }),
        ]
    }

    proptest! {
        #[test]
        fn every_state_is_read_as_it_was_written((written_state, attempt) in any_state()) {
            prop_assert_eq!(state(written(&written_state, attempt)).unwrap(), written_state);
        }

        #[test]
        fn columns_that_are_accepted_are_written_back_unchanged(columns in any_columns()) {
            if let Ok(state) = state(columns.clone()) {
                prop_assert_eq!(written(&state, columns.attempt), columns);
            }
        }
    }
}
