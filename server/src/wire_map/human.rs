//! Human sessions.

use super::{action, session};
use ledger::human;

/// Converts the running human session of a person, if there is one.
pub fn active_human(active: Option<human::Active>) -> wire::human::ActiveHuman {
    let (session, task) = active.map(|active| (session(active.session), action(active.task))).unzip();
    wire::human::ActiveHuman { session, task }
}

/// Converts the result of starting to work on a task.
pub fn started_human(started: human::Started) -> wire::human::StartedHuman {
    wire::human::StartedHuman {
        session: session(started.session),
        task: action(started.task),
        superseded: started.superseded,
    }
}

/// Converts the work that a person recorded today.
pub fn human_today(today: human::Today) -> wire::human::HumanToday {
    let time = |task: domain::human::TaskTime| wire::human::TaskTime {
        task_id: task.task_id,
        title: task.title,
        duration_ms: task.duration_ms,
        sessions: task.stretches,
    };
    wire::human::HumanToday {
        tasks: today.tasks.into_iter().map(time).collect(),
        sessions: today.sessions.into_iter().map(session).collect(),
    }
}

/// Converts the recent activity that an agent may receive.
pub fn recent_activity(
    block: Option<human::recent_activity::Block>,
    at: domain::Timestamp,
) -> wire::human::RecentActivity {
    match block {
        None => wire::human::RecentActivity { text: None, session_id: None, at },
        Some(block) => {
            wire::human::RecentActivity { text: Some(block.text), session_id: Some(block.session_id), at: block.at }
        }
    }
}
