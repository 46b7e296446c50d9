//! Spans of the store: a use case, a write in its lane, a statement.
//!
//! They hold names, counts and times, never a value of a statement or a text of an event. All have the target
//! [`SPAN_TARGET`] and the level DEBUG, so that they cost one atomic load each while nothing subscribes to them.

use std::{fmt, panic::Location, time::Instant};
use tracing::{Span, field::Empty};

/// Target of the spans of this crate.
pub const SPAN_TARGET: &str = "shiftbook::span";

/// The path of the module in a source file: `crates/ledger/src/session/cancel.rs` is `ledger::session::cancel`.
struct Module(&'static str);

impl fmt::Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.0.strip_suffix(".rs").unwrap_or(self.0);
        let parts: Vec<&str> = path.split(['/', '\\']).collect();
        // The folder above `src` has the name of the crate.
        let above_src = parts.iter().rposition(|part| *part == "src").unwrap_or_default().saturating_sub(1);
        let named = parts[above_src..].iter().filter(|part| !matches!(**part, "src" | "mod" | "lib" | "main"));
        for (at, part) in named.enumerate() {
            if at > 0 {
                f.write_str("::")?;
            }
            f.write_str(part)?;
        }
        Ok(())
    }
}

/// The span of a use case, named by the module that called the store at `place`.
pub(crate) fn use_case_span(place: &'static Location<'static>) -> Span {
    let name = Module(place.file());
    tracing::debug_span!(target: SPAN_TARGET, "use_case", otel.name = %name, use_case = %name)
}

/// The span of a statement with this name.
pub(crate) fn statement_span(name: &'static str) -> Span {
    tracing::debug_span!(
        target: SPAN_TARGET,
        "statement",
        otel.name = name,
        otel.status_code = Empty,
        statement = name,
        rows = Empty
    )
}

/// Records how a statement ended: the number of its rows, or that it failed.
pub(crate) fn record_rows<E>(span: &Span, rows: Result<u64, &E>) {
    match rows {
        Ok(rows) => span.record("rows", rows),
        Err(_) => span.record("otel.status_code", "ERROR"),
    };
}

/// The span of a write in its lane: from the moment that it is queued until its answer.
pub(crate) struct LaneSpan {
    span: Span,
    /// `None` if nothing subscribes to the span.
    queued_at: Option<Instant>,
}

impl LaneSpan {
    /// Begins in the task that queues the write, below its use case.
    pub(crate) fn queued() -> Self {
        let span = tracing::debug_span!(target: SPAN_TARGET, "lane", wait_us = Empty, items = Empty);
        let queued_at = (!span.is_disabled()).then(Instant::now);
        Self { span, queued_at }
    }

    /// Records the wait in the queue, and the number of writes that are taken together.
    pub(crate) fn taken(&self, items: usize) {
        if let Some(queued_at) = self.queued_at {
            self.span.record("wait_us", u64::try_from(queued_at.elapsed().as_micros()).unwrap_or(u64::MAX));
            self.span.record("items", items as u64);
        }
    }

    /// The span for what runs on behalf of the write.
    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_case_is_named_by_the_module_of_its_file() {
        for (file, name) in [
            ("crates/ledger/src/session/cancel.rs", "ledger::session::cancel"),
            ("/build/shiftbook/crates/ledger/src/session/claim/mod.rs", "ledger::session::claim"),
            ("crates\\ledger\\src\\audit\\list.rs", "ledger::audit::list"),
            ("server/src/main.rs", "server"),
            ("build.rs", "build"),
        ] {
            assert_eq!(Module(file).to_string(), name);
        }
    }
}
