//! Sessions that wait for other sessions: what they wait for, and what they do when one of those ends.

use super::{EndReason, Status};
use crate::names::names;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The sessions that a session waits for. While it waits no worker can claim it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitsFor {
    /// The sessions it depends on. It remains a draft until they have ended.
    Dependencies,
    /// The sessions it started. It remains idle until they have ended.
    Children,
}

names!(WaitsFor { Dependencies = "dependencies", Children = "children" });

/// What a session does when a session that it depends on ends with another status than completed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IfDependencyFails {
    /// The session is abandoned with end reason `dependency_failed`.
    #[default]
    Abandon,
    /// The session starts nevertheless, when all sessions that it depends on have ended.
    RunAnyway,
}

names!(IfDependencyFails { Abandon = "abandon", RunAnyway = "run_anyway" });

/// What a session that depends on others does now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readiness {
    /// It continues to wait.
    Wait,
    /// It is queued for a worker.
    Start,
    /// It is abandoned because of the dependency at this index.
    Skip(usize),
}

/// Returns what a session does, given the policy and the status of each dependency. A failed dependency with
/// [`IfDependencyFails::Abandon`] counts at once, even while other dependencies are not final.
pub fn readiness(dependencies: &[(IfDependencyFails, Status)]) -> Readiness {
    let spoilt = |(policy, status): &(IfDependencyFails, Status)| {
        *policy == IfDependencyFails::Abandon && status.is_final() && *status != Status::Completed
    };
    match dependencies.iter().position(spoilt) {
        Some(at) => Readiness::Skip(at),
        None if dependencies.iter().all(|(_, status)| status.is_final()) => Readiness::Start,
        None => Readiness::Wait,
    }
}

/// Whether the sessions that a session started are cancelled when it ends like this. They are if it was
/// cancelled or never began.
pub const fn cancels_children(end: EndReason) -> bool {
    match end {
        EndReason::Cancelled | EndReason::DependencyFailed => true,
        EndReason::Done
        | EndReason::Superseded
        | EndReason::TimedOut
        | EndReason::LeaseExhausted
        | EndReason::HardBlock
        | EndReason::Rejected
        | EndReason::Error => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dependent_starts_once_everything_it_depends_on_has_completed() {
        use IfDependencyFails::{Abandon, RunAnyway};
        use Status::{Abandoned, Completed, Draft, Expired, Failed, Running};
        for (dependencies, verdict) in [
            (vec![], Readiness::Start),
            (vec![(Abandon, Completed)], Readiness::Start),
            (vec![(Abandon, Completed), (Abandon, Running)], Readiness::Wait),
            (vec![(Abandon, Draft)], Readiness::Wait),
            (vec![(Abandon, Running), (Abandon, Failed)], Readiness::Skip(1)),
            (vec![(Abandon, Abandoned), (Abandon, Expired)], Readiness::Skip(0)),
            (vec![(RunAnyway, Failed), (RunAnyway, Running)], Readiness::Wait),
            (vec![(RunAnyway, Failed), (RunAnyway, Expired)], Readiness::Start),
            (vec![(RunAnyway, Failed), (Abandon, Expired)], Readiness::Skip(1)),
        ] {
            assert_eq!(readiness(&dependencies), verdict, "{dependencies:?}");
        }
    }

    #[test]
    fn only_what_was_stopped_or_never_began_takes_its_children_along() {
        let taken: Vec<_> = EndReason::ALL.into_iter().filter(|end| cancels_children(*end)).collect();
        assert_eq!(taken, [EndReason::Cancelled, EndReason::DependencyFailed]);
    }
}
