//! A person's working sessions: what starting a task does, and how a day adds up.

use crate::{Timestamp, id::ActionId};

/// The `source` of working sessions. One of a person may run at a time in a workspace.
pub const SOURCE: &str = "human-session-bridge";

/// What starting a task does to the person's working session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Nothing runs: a session begins.
    Begin,
    /// It runs already: nothing changes.
    Keep,
    /// Another task runs: its session ends (completed, superseded) and a new one begins.
    Supersede,
}

/// Switching tasks never changes a running session's task: the log of one session is about one task.
pub fn switch(running: Option<Option<ActionId>>, wanted: ActionId) -> Switch {
    match running {
        None => Switch::Begin,
        Some(task) if task == Some(wanted) => Switch::Keep,
        Some(_) => Switch::Supersede,
    }
}

/// One stretch of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkInterval {
    /// The task.
    pub task_id: ActionId,
    /// Its name.
    pub title: String,
    /// When it began.
    pub from: Timestamp,
    /// When it ended; `None` while it goes on.
    pub to: Option<Timestamp>,
}

/// Time on one task within a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskTime {
    /// The task.
    pub task_id: ActionId,
    /// Its name, as its newest stretch has it.
    pub title: String,
    /// Milliseconds within the day.
    pub duration_ms: u64,
    /// Stretches that it was spread over.
    pub stretches: u32,
}

/// Adds up stretches, newest first, by task: only what lies between `midnight` and `now` counts. Longest first.
pub fn time_per_task(stretches: &[WorkInterval], midnight: Timestamp, now: Timestamp) -> Vec<TaskTime> {
    let mut tasks: Vec<TaskTime> = Vec::new();
    for stretch in stretches {
        let (from, to) = (stretch.from.max(midnight), stretch.to.unwrap_or(now).min(now));
        let ms = u64::try_from((to - from).num_milliseconds()).unwrap_or_default();
        match tasks.iter_mut().find(|task| task.task_id == stretch.task_id) {
            Some(task) => {
                task.duration_ms += ms;
                task.stretches += 1;
            }
            None => tasks.push(TaskTime {
                task_id: stretch.task_id,
                title: stretch.title.clone(),
                duration_ms: ms,
                stretches: 1,
            }),
        }
    }
    tasks.sort_by_key(|task| std::cmp::Reverse(task.duration_ms));
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const A: ActionId = ActionId(Uuid::from_u128(1));
    const B: ActionId = ActionId(Uuid::from_u128(2));

    fn at(time: &str) -> Timestamp {
        format!("2026-07-01T{time}:00Z").parse().unwrap()
    }

    fn stretch(task_id: ActionId, title: &str, from: &str, to: Option<&str>) -> WorkInterval {
        WorkInterval { task_id, title: title.into(), from: at(from), to: to.map(at) }
    }

    #[test]
    fn starting_a_task_begins_keeps_or_supersedes() {
        assert_eq!(switch(None, A), Switch::Begin);
        assert_eq!(switch(Some(Some(A)), A), Switch::Keep);
        assert_eq!(switch(Some(Some(B)), A), Switch::Supersede);
        assert_eq!(switch(Some(None), A), Switch::Supersede);
    }

    #[test]
    fn a_day_adds_up_by_task_and_counts_only_itself() {
        let stretches = [
            stretch(A, "Renamed", "11:00", None),
            stretch(B, "Review", "09:00", Some("10:30")),
            stretch(A, "Old name", "07:30", Some("08:15")),
        ];
        let tasks = time_per_task(&stretches, at("08:00"), at("11:20"));
        let minutes: Vec<_> = tasks.iter().map(|t| (t.title.as_str(), t.duration_ms / 60_000, t.stretches)).collect();
        assert_eq!(minutes, [("Review", 90, 1), ("Renamed", 35, 2)]);
    }

    #[test]
    fn a_clock_that_went_back_counts_nothing_rather_than_much() {
        let tasks = time_per_task(&[stretch(A, "x", "12:00", None)], at("00:00"), at("11:00"));
        assert_eq!(tasks[0].duration_ms, 0);
    }
}
