//! Failures: records of sessions that ended badly, with advice on what to do.

pub mod cause;

use crate::{names::names, session::EndReason};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether someone has acknowledged a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureState {
    /// No one has acknowledged it.
    Open,
    /// Someone has acknowledged it.
    Acknowledged,
}

names!(FailureState { Open = "open", Acknowledged = "acknowledged" });

/// Error code of a session whose time limit passed.
pub const TIMED_OUT: &str = "timed_out";

/// Error code of a session that was never started, because a session that it depends on did not complete.
pub const DEPENDENCY_FAILED: &str = "dependency_failed";

/// Error code of a session that its workers released too often.
pub const RELEASED_TOO_OFTEN: &str = "released_too_often";

/// Error codes that the product sets, each with the advice that pages show.
pub const REMEDIATIONS: [(&str, &str); 13] = [
    (
        "output_invalid",
        "Compare the refused results in the log with the task's output contract. Correct the instructions or relax the contract, then run the session again.",
    ),
    (
        "lease_exhausted",
        "Every worker that took the session stopped responding. Check whether the worker crashes, is killed, or blocks without heartbeats, then run the session again.",
    ),
    (
        RELEASED_TOO_OFTEN,
        "Every worker that took the session gave it back unfinished. Check why the workers stop or refuse it, then run the session again.",
    ),
    (
        TIMED_OUT,
        "Nothing happened for longer than the task allows. Check whether a worker for the agent is running and who was asked. Raise the task's time limit if the work needs longer, then run the session again.",
    ),
    (
        "hard_block",
        "A safety rule stopped the output before anyone was asked. Read which option blocked it. Change the input or the instructions. Change the rule only if it is wrong.",
    ),
    (
        "rejected",
        "Reviewers denied the output too many times. Read their reasons, add them to the instructions, then run the session again.",
    ),
    (
        "result_refused",
        "The command's result could not be recorded. The message says why. Make the command print a smaller or a correct result, then run the session again.",
    ),
    (
        "append_refused",
        "The command wrote something that cannot be recorded. The message says what. Correct the command, then run the session again.",
    ),
    (
        "spawn_failed",
        "The worker could not start its command. Check that the program is installed where the worker runs and that it is executable.",
    ),
    (
        "wait_failed",
        "The worker could not wait for its command. Check the machine that the worker runs on, then run the session again.",
    ),
    (
        DEPENDENCY_FAILED,
        "A session that it depends on did not complete, so this session never started. Fix that session and run it again first, then run this session again.",
    ),
    (
        "nobody_answered",
        "No one answered the agent's question in time. Check who was asked and how, then run the session again.",
    ),
    (
        "approval_expired",
        "No one decided in time. Check who was asked and whether they can still decide, then run the session again.",
    ),
];

/// Advice for a command that ended with an exit code or a signal.
const BY_COMMAND: &str = "The command ended with an error. Its last lines, in the message and in the log, say why. Correct the cause, then run the session again.";
/// Advice for an agent that used up a budget. The code names the budget.
const BY_BUDGET: &str = "The session used up its budget of steps, tokens, time or money. Make the task smaller or the budget larger, then run the session again.";
const BY_DEFAULT: &str = "Correct the cause, then run the session again.";

/// Returns the code of a failure whose session has no error code.
pub const fn code_of(end_reason: EndReason) -> &'static str {
    match end_reason {
        EndReason::TimedOut => TIMED_OUT,
        EndReason::LeaseExhausted => "lease_exhausted",
        EndReason::HardBlock => "hard_block",
        EndReason::Rejected => "rejected",
        EndReason::Cancelled => "cancelled",
        EndReason::DependencyFailed => DEPENDENCY_FAILED,
        EndReason::Done | EndReason::Superseded | EndReason::Error => "error",
    }
}

/// Returns the advice for a failure with this code. An unknown code gets general advice.
pub fn remediation(code: &str) -> &'static str {
    let known = REMEDIATIONS.iter().find(|(known, _)| *known == code);
    match known {
        Some((_, text)) => text,
        None if code.starts_with("exit_") || code.starts_with("signal_") => BY_COMMAND,
        None if code.starts_with("budget_") => BY_BUDGET,
        None => BY_DEFAULT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_told_what_helps_in_whole_sentences() {
        let codes = REMEDIATIONS.map(|(code, _)| code);
        for code in codes.into_iter().chain(["exit_1", "signal_9", "budget_steps", "error", "anything"]) {
            let text = remediation(code);
            assert!(text.ends_with('.') && text.starts_with(char::is_uppercase), "{code}: {text}");
        }
        assert_eq!(remediation("exit_1"), remediation("signal_9"));
        assert_ne!(remediation("exit_1"), remediation("error"));
        let mut unique = codes.to_vec();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), codes.len());
    }

    #[test]
    fn what_the_product_ends_by_itself_has_its_own_words() {
        use EndReason::{DependencyFailed, Error, HardBlock, LeaseExhausted, Rejected, TimedOut};
        for reason in [TimedOut, LeaseExhausted, HardBlock, Rejected, DependencyFailed] {
            assert_ne!(remediation(code_of(reason)), remediation(code_of(Error)), "{reason}");
        }
    }
}
