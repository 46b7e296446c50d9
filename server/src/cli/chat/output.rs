//! Writes to the person: the conversation on standard output, notes on standard error.

use super::text;
use crate::cli::common::Failure;
use std::io::{IsTerminal as _, Write as _};

/// Prints a note on standard error: it is not part of the conversation.
pub(super) fn note(text: &str) {
    let mut stderr = std::io::stderr();
    let (dim, plain) = if stderr.is_terminal() { ("\x1b[2m", "\x1b[0m") } else { ("", "") };
    // A failure to write to standard error is ignored.
    let _ = writeln!(stderr, "{dim}{}{plain}", text::without_controls(text));
}

/// Writes to standard output and flushes it. Control characters are replaced on a terminal, because most of the text
/// comes from agents and models.
pub(super) fn print(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    let text = if out.is_terminal() { text::without_controls(text) } else { text.to_owned() };
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(Failure::io("cannot write to stdout"))
}
