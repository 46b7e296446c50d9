//! The working session that a page shows as active.

use serde::{Deserialize, Serialize};

/// The active working session. `session_id` is empty until the server has confirmed it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Active {
    /// Id of the session: a UUIDv7 from the server, so a newer session has a greater id.
    pub session_id: String,
    /// Id of the action that the person works on.
    pub task_id: String,
    /// Name of the task.
    pub title: String,
    /// Start of the session, RFC 3339.
    pub started_at: String,
    /// Start of the session for readers, shown if scripts are off.
    pub started_words: String,
}

impl Active {
    /// Whether the server has confirmed the session.
    pub const fn is_confirmed(&self) -> bool {
        !self.session_id.is_empty()
    }

    /// Its members in one text, a line each. The name of the task is last, because it may have any characters.
    pub fn to_lines(&self) -> String {
        [self.session_id.as_str(), &self.task_id, &self.started_at, &self.started_words, &self.title].join("\n")
    }

    /// Reads what [`Self::to_lines`] has written; `None` if a line is missing.
    #[cfg(any(feature = "hydrate", test))]
    pub fn of_lines(text: &str) -> Option<Self> {
        let mut lines = text.splitn(5, '\n').map(str::to_owned);
        let mut next = || lines.next();
        let (session_id, task_id, started_at, started_words) = (next()?, next()?, next()?, next()?);
        Some(Self { session_id, task_id, title: next()?, started_at, started_words })
    }
}

/// A change of the active session in another tab.
#[cfg(any(feature = "hydrate", test))]
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ActiveChange {
    /// This session is active now.
    Started(Active),
    /// The session with this id has ended.
    Ended(String),
}

/// The active session after a message from another tab. Messages about sessions older than the shown one change
/// nothing, because messages of tabs that act at the same time can arrive in any order.
#[cfg(any(feature = "hydrate", test))]
pub fn after(shown: Option<Active>, change: ActiveChange) -> Option<Active> {
    match change {
        ActiveChange::Started(new) => match shown {
            Some(old) if old.is_confirmed() && old.session_id > new.session_id => Some(old),
            _ => Some(new),
        },
        ActiveChange::Ended(session_id) => shown.filter(|old| old.session_id != session_id),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn active(session_id: &str) -> Active {
        Active { session_id: session_id.to_owned(), ..Active::default() }
    }

    #[test]
    fn lines_keep_every_member_whatever_the_name_is() {
        let active = Active {
            session_id: "s".into(),
            task_id: "t".into(),
            title: "A\n\"name\"".into(),
            started_at: "2026-11-21T07:00:00Z".into(),
            started_words: "today".into(),
        };
        assert_eq!(Active::of_lines(&active.to_lines()), Some(active));
        assert_eq!(Active::of_lines("one\ntwo"), None);
    }

    #[test]
    fn the_newest_session_wins_in_any_order_of_messages() {
        let (old, new) =
            (active("01890a5d-0000-7000-8000-000000000001"), active("01890a5d-0000-7000-8000-000000000002"));
        for order in [[&old, &new], [&new, &old]] {
            let shown = order.into_iter().fold(None, |shown, next| after(shown, ActiveChange::Started(next.clone())));
            assert_eq!(shown.as_ref(), Some(&new));
        }
    }

    #[test]
    fn only_the_end_of_what_is_shown_ends_it() {
        let new = active("2");
        assert_eq!(after(Some(new.clone()), ActiveChange::Ended("1".to_owned())), Some(new.clone()));
        assert_eq!(after(Some(new), ActiveChange::Ended("2".to_owned())), None);
        assert_eq!(after(None, ActiveChange::Ended("2".to_owned())), None);
    }

    #[test]
    fn what_the_server_has_not_confirmed_gives_way() {
        let started = active("1");
        assert_eq!(after(Some(active("")), ActiveChange::Started(started.clone())), Some(started));
    }
}
