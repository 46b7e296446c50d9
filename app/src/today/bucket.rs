//! The five buckets in words. Names only, so that the browser needs no domain types.

/// One bucket as people see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bucket {
    /// Name in addresses and ids.
    pub name: &'static str,
    /// Member of the counts' JSON.
    pub count: &'static str,
    /// Heading.
    pub label: &'static str,
    /// What it means.
    pub about: &'static str,
    /// What its empty list says.
    pub empty: &'static str,
}

/// What the first bucket is called where everybody's work is shown.
const NEEDS_SOMEBODY: &str = "Needs someone";

impl Bucket {
    /// The heading, of the reader's work or of everybody's.
    pub fn heading(&self, everybody: bool) -> &'static str {
        if everybody && self.count == "needsMe" { NEEDS_SOMEBODY } else { self.label }
    }
}

/// All five, in the order of the strip.
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
        label: "Can be delegated",
        about: "an agent is ready",
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

/// The address of the page with a bucket picked, or of all of them where that is empty.
pub fn address(everybody: bool, picked: &str) -> String {
    let of = if everybody { "all" } else { "me" };
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
