//! Conversion of the columns that describe a gate's state into a [`State`].

use crate::engine::{Error, Result};
use domain::{
    Timestamp,
    gate::{GateState, State, Verdict},
};

/// The columns that describe the state, each converted by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) state: GateState,
    pub(super) outcome: Option<Verdict>,
    pub(super) held_until: Option<Timestamp>,
    pub(super) settled_at: Option<Timestamp>,
}

impl Columns {
    /// The columns of a state, as they are saved.
    pub(super) const fn of(state: State) -> Self {
        Self {
            state: state.name(),
            outcome: state.verdict(),
            held_until: state.held_until(),
            settled_at: state.settled_at(),
        }
    }
}

/// The state that the columns describe.
///
/// # Errors
/// [`Error::Inconsistent`] for a combination of columns that no gate can have.
pub(super) fn state(columns: Columns) -> Result<State> {
    let Columns { state, outcome, held_until, settled_at } = columns;
    match (state, outcome, held_until, settled_at) {
        (GateState::Open, None, None, None) => Ok(State::Open),
        (GateState::Held, Some(verdict), Some(until), None) => Ok(State::Held { verdict, until }),
        (GateState::Settled, Some(verdict), None, Some(at)) => Ok(State::Settled { verdict, at }),
        (GateState::Expired, verdict, None, Some(at)) => Ok(State::Expired { verdict, at }),
        (GateState::Withdrawn, verdict, None, Some(at)) => Ok(State::Withdrawn { verdict, at }),
        (GateState::Open | GateState::Held | GateState::Settled | GateState::Expired | GateState::Withdrawn, ..) => {
            let state = state.as_str();
            Err(Error::Inconsistent(format!("gates.state is {state:?}, which other columns contradict: {columns:?}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::clock::from_micros;
    use proptest::prelude::*;

    #[test]
    fn each_state_refuses_the_columns_that_contradict_it() {
        let (outcomes, times) = ([None, Some(Verdict::Deny)], [None, Some(from_micros(5))]);
        let mut accepted = Vec::new();
        for name in GateState::ALL {
            for outcome in outcomes {
                for held_until in times {
                    for settled_at in times {
                        match state(Columns { state: name, outcome, held_until, settled_at }) {
                            Ok(_) => accepted.push((
                                name,
                                [outcome.is_some(), held_until.is_some(), settled_at.is_some()].map(u8::from),
                            )),
                            Err(Error::Inconsistent(message)) => {
                                let named = format!("gates.state is {:?}", name.as_str());
                                assert!(message.starts_with(&named), "{message}");
                            }
                            Err(other) => panic!("{other}"),
                        }
                    }
                }
            }
        }
        assert_eq!(
            accepted,
            [
                (GateState::Open, [0, 0, 0]),
                (GateState::Held, [1, 1, 0]),
                (GateState::Settled, [1, 0, 1]),
                (GateState::Expired, [0, 0, 1]),
                (GateState::Expired, [1, 0, 1]),
                (GateState::Withdrawn, [0, 0, 1]),
                (GateState::Withdrawn, [1, 0, 1]),
            ]
        );
    }

    fn verdict() -> impl Strategy<Value = Verdict> {
        (0..Verdict::ALL.len()).prop_map(|at| Verdict::ALL[at])
    }

    fn time() -> impl Strategy<Value = Timestamp> {
        (0..9_i64).prop_map(from_micros)
    }

    fn any_columns() -> impl Strategy<Value = Columns> {
        let optional = || prop::option::of(time());
        (0..GateState::ALL.len(), prop::option::of(verdict()), optional(), optional()).prop_map(
            |(at, outcome, held_until, settled_at)| Columns {
                state: GateState::ALL[at],
                outcome,
                held_until,
                settled_at,
            },
        )
    }

    fn any_state() -> impl Strategy<Value = State> {
        let closed = || (prop::option::of(verdict()), time());
        prop_oneof![
            Just(State::Open),
            (verdict(), time()).prop_map(|(verdict, until)| State::Held { verdict, until }),
            (verdict(), time()).prop_map(|(verdict, at)| State::Settled { verdict, at }),
            closed().prop_map(|(verdict, at)| State::Expired { verdict, at }),
            closed().prop_map(|(verdict, at)| State::Withdrawn { verdict, at }),
        ]
    }

    proptest! {
        #[test]
        fn every_state_is_read_as_it_was_written(written in any_state()) {
            prop_assert_eq!(state(Columns::of(written)).unwrap(), written);
        }

        #[test]
        fn columns_that_are_accepted_are_written_back_unchanged(columns in any_columns()) {
            if let Ok(read) = state(columns) {
                prop_assert_eq!(Columns::of(read), columns);
            }
        }
    }
}
