//! Failures: what somebody should know, and could do, about a session that ended badly.

use crate::{names::names, session::EndReason};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Whether anybody has taken note of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureState {
    /// Nobody has.
    Open,
    /// Somebody has.
    Acknowledged,
}

names!(FailureState { Open = "open", Acknowledged = "acknowledged" });

/// The code of a session that stood still for too long.
pub const TIMED_OUT: &str = "timed_out";

/// The code of a session that never began, because one that it depends on did not complete.
pub const DEPENDENCY_FAILED: &str = "dependency_failed";

/// The codes that the product itself gives, and what helps. The words are for people.
pub const REMEDIATIONS: [(&str, &str); 11] = [
    (
        "output_invalid",
        "Compare the refused results in the log with the task's output contract. Make the instructions say what is wanted, or the contract ask for less; then retry.",
    ),
    (
        "lease_exhausted",
        "Every worker that took it went silent. Look whether the worker crashes, is killed, or blocks without heartbeats; then retry.",
    ),
    (
        TIMED_OUT,
        "It stood still for longer than its task allows. Look whether a worker for its agent runs, and who was asked; raise the task's time limit if the work needs longer; then retry.",
    ),
    (
        "hard_block",
        "A safety rule stopped the output before anybody was asked. Read which option blocked it; change the input or the instructions, not the rule, unless the rule is wrong.",
    ),
    (
        "rejected",
        "Reviewers denied it as often as they may. Read their reasons, put them into the instructions, and retry.",
    ),
    (
        "result_refused",
        "The command's result could not be recorded. Its message says why; make the command print a smaller or a correct one, and retry.",
    ),
    (
        "append_refused",
        "The command wrote something that cannot be recorded. Its message says what; correct the command, and retry.",
    ),
    (
        "spawn_failed",
        "The worker could not start its command. Check that the program is installed where the worker runs, and may be executed.",
    ),
    ("wait_failed", "The worker lost sight of its command. Look at the machine that the worker runs on, and retry."),
    (
        DEPENDENCY_FAILED,
        "A session that it depends on did not complete, so it never began. Mend and retry that one first; then retry this one, which then begins with what there is.",
    ),
    ("approval_expired", "Nobody decided in time. Look who was asked, and whether they still do that; then retry."),
];

/// What helps against errors of a command or an agent, whose codes are its own.
const BY_COMMAND: &str =
    "The command ended with an error. Its last lines, in the message and in the log, say why; correct that, and retry.";
/// What helps when an agent used up something that it was given so much of; the codes say what.
const BY_BUDGET: &str = "It used up the steps, tokens, time or money that it was allowed. Make the task smaller or the budget larger; then retry.";
const BY_DEFAULT: &str = "Read the end of the log: it says what went wrong. Correct that, and retry.";

/// The code of a failure whose session names none.
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

/// What a person could do about a failure with this code.
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
