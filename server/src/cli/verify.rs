//! `shiftbook verify`: checks the log and the database.

use super::{
    common::{Failure, open, print_line},
    instance_key::{self, KeyFlags},
};
use domain::count::counted;
use ledger::{Mode, verify::Verified};
use std::io::{IsTerminal, Write};

/// Options of `verify`.
#[derive(Debug, clap::Args)]
pub struct VerifyArgs {
    #[command(flatten)]
    flags: KeyFlags,
}

/// Shows the counts so far, on terminals only.
fn show_progress(so_far: &Verified) {
    let mut terminal = std::io::stderr();
    if terminal.is_terminal() {
        let Verified { sessions, events, .. } = so_far;
        // A terminal that went away does not stop the check.
        let _gone = write!(terminal, "\r{}, {} …", counted(*sessions, "session"), counted(*events, "event"));
    }
}

/// Checks the database file, every chain and every row. Changes nothing.
///
/// # Errors
/// The first session that is wrong, or the problems of the file.
pub async fn run(args: VerifyArgs) -> Result<(), Failure> {
    let settings = args.flags.settings()?;
    let ledger = open(&settings, Mode::Reader).await?;
    let keys = instance_key::find_all(&settings)?;
    let verified = ledger::verify::all(&ledger, &keys, show_progress).await;
    ledger.close().await;
    let verified = verified?;
    if !verified.problems.is_empty() {
        return Err(Failure::Failed(verified.problems.join("\n")));
    }
    match verified.bad {
        None => {
            let erased = match (verified.erased, verified.is_unsealed) {
                (0, _) => String::new(),
                (erased, false) => format!("; retention erased the content of {}", counted(erased, "event")),
                (erased, true) => {
                    let events = counted(erased, "event");
                    format!(
                        "; the content of {events} was erased; who erased it is not checked: no instance key is set"
                    )
                }
            };
            let other_seals = match verified.other_seals {
                0 => String::new(),
                count => format!(
                    "; the erasures of {} were sealed with instance.key of the data directory, not with the key that \
                     the settings name",
                    counted(count, "session")
                ),
            };
            let unbound = match verified.unbound {
                0 => String::new(),
                count => format!(
                    "; the rows of {} that ended under an earlier version are not bound by their logs",
                    counted(count, "session")
                ),
            };
            let unbound_open = match verified.unbound_open {
                0 => String::new(),
                count => format!(
                    "; created by an earlier version, and what they were created with is not bound until they end: {}",
                    counted(count, "session")
                ),
            };
            let unrolled = match verified.sessions.saturating_sub(verified.rolled) {
                0 => String::new(),
                count => format!("; not yet in the roll of their workspace: {}", counted(count, "session")),
            };
            let pages =
                if verified.has_checked_pages { "" } else { "; PostgreSQL's pages are not checked here (amcheck)" };
            let (sessions, events) = (counted(verified.sessions, "session"), counted(verified.events, "event"));
            print_line(&format!(
                "{sessions}, {events}: every link holds{erased}{other_seals}{unbound}{unbound_open}{unrolled}{pages}"
            ))
        }
        Some((session, sequence, reason)) => {
            Err(Failure::Failed(format!("session {session}, sequence {sequence}: {reason}")))
        }
    }
}
