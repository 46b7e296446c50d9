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

/// All five, in the order of the strip.
pub const BUCKETS: [Bucket; 5] = [
    Bucket {
        name: "needs_me",
        count: "needsMe",
        label: "Needs me",
        about: "waits for your answer",
        empty: "Nothing waits for you.",
    },
    Bucket {
        name: "running",
        count: "running",
        label: "Running",
        about: "queued or at work",
        empty: "Nothing runs right now. Trigger an action to start something.",
    },
    Bucket {
        name: "delegatable",
        count: "delegatable",
        label: "Can be delegated",
        about: "an agent is ready",
        empty: "No action waits for an agent. Give an action an agent to see it here.",
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
        empty: "Nothing has been completed today yet.",
    },
];

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use super::BUCKETS;

    #[test]
    fn the_buckets_are_those_of_the_domain() {
        let names: Vec<_> = domain::work_queue::Bucket::ALL.into_iter().map(|b| b.as_str()).collect();
        assert_eq!(BUCKETS.map(|b| b.name).to_vec(), names);
    }
}
