//! The texts of the five buckets. Plain strings, because the browser build does not link `domain`.

/// The texts of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Name in addresses and ids.
    pub name: &'static str,
    /// Member of the counts' JSON.
    pub count: &'static str,
    /// Heading.
    pub label: &'static str,
    /// Explanation of the bucket.
    pub about: &'static str,
    /// Text of an empty list.
    pub empty: &'static str,
}

/// Heading of the first bucket if everyone's work is shown.
const NEEDS_SOMEBODY: &str = "Needs someone";

impl Bucket {
    /// The heading, for the reader's work or everyone's.
    pub fn heading(&self, everyone: bool) -> &'static str {
        if everyone && self.counts_sessions_that_wait() { NEEDS_SOMEBODY } else { self.label }
    }
}

impl Bucket {
    /// Whether it counts sessions that wait for the reader. Open questions wait beside them.
    pub fn counts_sessions_that_wait(&self) -> bool {
        self.count == "needsMe"
    }
}

/// All five buckets, in the order of the strip.
pub const BUCKETS: [Bucket; 5] = [
    Bucket {
        name: "needs_me",
        count: "needsMe",
        label: "Needs me",
        about: "waiting for an answer",
        empty: "Nothing is waiting for an answer.",
    },
    Bucket {
        name: "running",
        count: "running",
        label: "Running",
        about: "queued or running",
        empty: "Nothing is running. Run a task to start a session.",
    },
    Bucket {
        name: "delegatable",
        count: "delegatable",
        label: "Ready to run",
        about: "tasks that name an agent",
        empty: "No task is ready to delegate. A task appears here when it names an agent.",
    },
    Bucket {
        name: "failed",
        count: "failed",
        label: "Failed",
        about: "in the last 24 hours",
        empty: "Nothing failed in the last 24 hours.",
    },
    Bucket {
        name: "done_today",
        count: "doneToday",
        label: "Done today",
        about: "since midnight",
        empty: "Nothing has been completed yet today.",
    },
];

/// The address of the page with a selected bucket; an empty name selects all.
pub fn address(everyone: bool, picked: &str) -> String {
    let of = if everyone { "all" } else { "me" };
    let bucket = if picked.is_empty() { "" } else { "&bucket=" };
    ["/today?assignedTo=", of, bucket, picked].concat()
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::BUCKETS;

    #[test]
    fn the_buckets_are_those_of_the_domain() {
        let names: Vec<_> = domain::work_queue::Bucket::ALL.into_iter().map(|b| b.as_str()).collect();
        assert_eq!(BUCKETS.map(|b| b.name).to_vec(), names);
    }
}
