//! How far a call is, as an MCP server reports it while the call goes on.

use rmcp::{
    ClientHandler, RoleClient,
    model::{ClientCapabilities, ClientConfig, Implementation, ProgressNotificationParam},
    service::{MaybeSendFuture, NotificationContext},
};
use std::{
    convert::Infallible,
    future::{Future, pending, ready},
};
use tokio::sync::watch;
use wire::worker::Progress;

/// Largest number of steps that is reported: larger ones are not exact in JSON.
const STEPS_MAX: f64 = 9_007_199_254_740_991.0;
/// Number of steps of a report with parts of steps.
const PERCENT: f64 = 100.0;

/// The newest report of a server, if there was one.
pub(super) type Newest = watch::Receiver<Option<ProgressNotificationParam>>;

/// The client's side of a session: it takes no requests of the server, and keeps its newest report.
pub(super) struct Handler(watch::Sender<Option<ProgressNotificationParam>>);

impl Handler {
    /// A handler, and what it keeps.
    pub fn new() -> (Self, Newest) {
        let (newest, received) = watch::channel(None);
        (Self(newest), received)
    }
}

impl ClientHandler for Handler {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("shiftbook", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), name)
    }

    fn on_progress(
        &self,
        report: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) -> impl Future<Output = ()> + MaybeSendFuture + '_ {
        // Reports are handled side by side, so an earlier one can come after a later one.
        self.0.send_if_modified(|newest| {
            let is_later = newest.as_ref().is_none_or(|known| known.progress <= report.progress);
            if is_later {
                *newest = Some(report);
            }
            is_later
        });
        ready(())
    }
}

/// Passes on each report, as long as it is polled. Of several at once it passes on the newest.
pub(super) async fn pass_on(newest: &mut Newest, take: impl Fn(Progress)) -> Infallible {
    while newest.changed().await.is_ok() {
        let report = newest.borrow_and_update().clone();
        if let Some(report) = report {
            take(progress(&report));
        }
    }
    // The session is over.
    pending().await
}

/// A report in whole steps: in percent if the server counts parts of steps. The attempt is that of no one. The note is
/// as the server sent it.
fn progress(report: &ProgressNotificationParam) -> Progress {
    let (done, total) = (report.progress, report.total.filter(|total| *total >= report.progress && *total > 0.0));
    let (done, total) = match total {
        Some(total) if done.fract() != 0.0 || total.fract() != 0.0 => (done / total * PERCENT, Some(PERCENT)),
        _ => (done, total),
    };
    Progress { attempt: 0, done: steps(done), total: total.map(steps), note: report.message.clone() }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped; what is no number becomes 0")]
fn steps(count: f64) -> u64 {
    count.clamp(0.0, STEPS_MAX) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn of(report: Value) -> (u64, Option<u64>) {
        let mut params = report;
        params["progressToken"] = 1.into();
        let found = progress(&serde_json::from_value(params).unwrap());
        (found.done, found.total)
    }

    #[test]
    fn a_report_is_in_whole_steps() {
        for (report, expected) in [
            (json!({ "progress": 3, "total": 10 }), (3, Some(10))),
            (json!({ "progress": 3 }), (3, None)),
            (json!({ "progress": 0.25, "total": 1 }), (25, Some(100))),
            (json!({ "progress": 1, "total": 2.5 }), (40, Some(100))),
            (json!({ "progress": 3.7 }), (3, None)),
            (json!({ "progress": 11, "total": 10 }), (11, None)),
            (json!({ "progress": 0, "total": 0 }), (0, None)),
            (json!({ "progress": -1, "total": 1e300 }), (0, Some(9_007_199_254_740_991))),
        ] {
            assert_eq!(of(report.clone()), expected, "{report}");
        }
    }

    #[tokio::test]
    async fn the_newest_report_is_passed_on() {
        let (handler, mut newest) = Handler::new();
        let report = |done: u64| serde_json::from_value(json!({ "progressToken": 1, "progress": done })).unwrap();
        handler.0.send_replace(Some(report(1)));
        handler.0.send_replace(Some(report(2)));
        let (taken, mut received) = tokio::sync::mpsc::unbounded_channel();
        let passing = pass_on(&mut newest, |progress| taken.send(progress.done).unwrap());
        let first = tokio::select! {
            biased;
            never = passing => match never {},
            done = received.recv() => done,
        };
        assert_eq!(first, Some(2));
    }
}
