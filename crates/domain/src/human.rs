//! Working sessions of a person: what starting a task does, and the time per task of a day.

use crate::{Timestamp, id::ActionId};

/// The `source` of working sessions. Each person has at most one running working session in a workspace.
pub const SOURCE: &str = "human-session-bridge";

/// The effect of starting a task on the person's working session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// No session runs, so one begins.
    Begin,
    /// A session of this task runs already, so nothing changes.
    Keep,
    /// A session of another task runs. It ends as completed with reason superseded, and a new session begins.
    Supersede,
}

/// Returns the effect of starting the task `wanted`. `running` is the task of the running session, if one runs.
/// The task of a running session never changes, so that its log is about one task.
pub fn switch(running: Option<Option<ActionId>>, wanted: ActionId) -> Switch {
    match running {
        None => Switch::Begin,
        Some(task) if task == Some(wanted) => Switch::Keep,
        Some(_) => Switch::Supersede,
    }
}

/// An interval of work on one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkInterval {
    /// Action that the person worked on.
    pub task_id: ActionId,
    /// Title of the task.
    pub title: String,
    /// Start of the interval (UTC).
    pub from: Timestamp,
    /// End of the interval (UTC); `None` while it continues.
    pub to: Option<Timestamp>,
}

/// The time that was spent on one task within a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskTime {
    /// Action that the person worked on.
    pub task_id: ActionId,
    /// Title of the task in its newest interval.
    pub title: String,
    /// Time within the day, milliseconds.
    pub duration_ms: u64,
    /// Number of intervals.
    pub stretches: u32,
}

/// Sums intervals by task. The intervals come newest first, and only their time between `midnight` and `now`
/// counts. Returns the task with the longest time first.
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
