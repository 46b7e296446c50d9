//! Paced runs: the list, the page of one, and the fields that choose a pace.

mod choice;
mod list_page;
mod page;

pub use choice::PaceChoice;
pub(crate) use choice::pace_fields;
pub use list_page::{ListProps, list_page};
pub use page::{page, progress_fragment};

use domain::paced_run::State;
use wire::paced_run::PacedRun;

/// Path of the list, and of the pages below it.
pub const PATH: &str = "/sessions/paced";

/// The name of a state.
const fn state_word(state: State) -> &'static str {
    match state {
        State::Open => "Under way",
        State::Done => "Done",
        State::Cancelled => "Cancelled",
    }
}

/// Number of sessions.
fn total(run: &PacedRun) -> u64 {
    run.waiting + begun(run) + run.cancelled
}

/// Number of sessions whose turn has come.
fn begun(run: &PacedRun) -> u64 {
    run.running + run.completed + run.failed + run.already + run.refused
}
