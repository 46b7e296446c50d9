//! What a run did, for the progress lines and the table at its end.

use crate::history::{Answer, Op, Operation, Outcome};
use std::{
    collections::HashMap,
    fmt,
    sync::atomic::{AtomicU64, Ordering},
};

/// A counter that only grows.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    /// Adds `count`.
    pub fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    /// The current value.
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Raises the counter to `value` if it is lower.
    pub fn max(&self, value: u64) {
        self.0.fetch_max(value, Ordering::Relaxed);
    }
}

macro_rules! counters {
    ($($name:ident = $label:literal),+ $(,)?) => {
        /// Everything that is counted.
        #[derive(Debug, Default)]
        pub struct Counters { $(#[doc = $label] pub $name: Counter),+ }

        impl Counters {
            /// Label and value, in the order of the table.
            pub fn rows(&self) -> Vec<(&'static str, u64)> {
                vec![$(($label, self.$name.get())),+]
            }
        }
    };
}

counters! {
    rounds = "rounds checked",
    operations = "operations in histories",
    appends_acked = "appends acknowledged",
    events_acked = "events acknowledged",
    appends_unknown = "appends of unknown outcome, retried",
    conflicts_refused = "same id, other body: refused",
    contradictions_refused = "same id twice in a request, other body: refused",
    reads = "pages read",
    stream_events = "events streamed",
    reconnects = "stream reconnects",
    claims = "claims",
    completions = "completions",
    races = "two workers racing to complete",
    stale_refused = "stale writes refused",
    kills = "server kills (-9)",
    power_cuts = "power cuts",
    server_stops = "server SIGSTOPs",
    worker_stops = "worker SIGSTOPs (2 leases)",
    worker_kills = "worker kills (-9)",
    connection_cuts = "connections cut after delivery",
    restart_ms_max = "slowest restart, ms",
}

impl Counters {
    /// Counts what a round's history holds.
    pub fn tally(&self, operations: &[Operation]) {
        self.operations.add(operations.len() as u64);
        let mut completions: HashMap<_, u32> = HashMap::new();
        for operation in operations {
            match (&operation.op, &operation.outcome) {
                (Op::Append { .. }, Outcome::Ok(Answer::Appended { events, .. })) => {
                    self.appends_acked.add(1);
                    self.events_acked.add(events.len() as u64);
                }
                (Op::Append { .. }, Outcome::Info { .. }) => self.appends_unknown.add(1),
                (Op::Conflict { .. }, Outcome::Fail { code }) if code == "id_conflict" => self.conflicts_refused.add(1),
                (Op::Conflict { .. }, Outcome::Fail { code }) if code == "invalid_request" => {
                    self.contradictions_refused.add(1);
                }
                (Op::Read { .. }, Outcome::Ok(_)) => self.reads.add(1),
                (Op::Stream { .. }, Outcome::Ok(Answer::Delivered { events, .. })) => {
                    self.stream_events.add(events.len() as u64);
                }
                (Op::Claim { .. }, Outcome::Ok(Answer::Claimed { sessions })) => self.claims.add(sessions.len() as u64),
                (Op::Complete { session, attempt, .. }, Outcome::Ok(_)) => {
                    *completions.entry((*session, *attempt)).or_default() += 1;
                }
                _ => {}
            }
            if let (
                Op::Append { .. } | Op::Heartbeat { .. } | Op::Complete { .. } | Op::Release { .. },
                Outcome::Fail { code },
            ) = (&operation.op, &operation.outcome)
                && matches!(code.as_str(), "stale_attempt" | "wrong_status" | "already_final")
            {
                self.stale_refused.add(1);
            }
        }
        self.completions.add(completions.len() as u64);
        self.races.add(completions.values().filter(|count| **count > 1).count() as u64);
    }
}

impl fmt::Display for Counters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} appends acked ({} events), {} kills, {} power cuts, {} stops, {} cut connections, {} reconnects, {} claims",
            self.appends_acked.get(),
            self.events_acked.get(),
            self.kills.get(),
            self.power_cuts.get(),
            self.server_stops.get() + self.worker_stops.get(),
            self.connection_cuts.get(),
            self.reconnects.get(),
            self.claims.get(),
        )
    }
}
