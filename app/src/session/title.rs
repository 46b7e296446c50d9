//! The title and the duration of a session.

use crate::text::shorten::one_line;
use domain::{Timestamp, session::UNTITLED};
use wire::session::Session;

/// Longest title in a list, characters; the session's page shows all of it.
const TITLE_CHARS_MAX: usize = 160;

/// The title in a list; a session without one is named after its task or agent.
pub fn row_title(session: &Session) -> String {
    let title = one_line(&session.title, TITLE_CHARS_MAX);
    if !title.is_empty() && title != UNTITLED {
        return title;
    }
    match session.action_slug.as_ref().or(session.agent_slug.as_ref()) {
        Some(slug) => format!("Session of {slug}"),
        None => format!("{} session", session.session_type),
    }
}

/// Running time so far, or in total once it has ended, in milliseconds.
pub fn duration_ms(session: &Session, now: Timestamp) -> Option<u64> {
    if session.duration_ms.is_some() {
        return session.duration_ms;
    }
    let end = session.completed_at.unwrap_or(now);
    u64::try_from((end - session.started_at?).num_milliseconds()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture;

    #[test]
    fn a_session_without_a_title_is_named_after_what_it_executes() {
        let mut session = fixture::session();
        for title in [" ", UNTITLED] {
            session.title = title.into();
            assert_eq!(row_title(&session), "Session of review-inbox");
        }
        session.action_slug = None;
        assert_eq!(row_title(&session), "Session of scout");
        session.agent_slug = None;
        assert_eq!(row_title(&session), "agent session");
    }

    #[test]
    fn a_running_session_lasts_until_now() {
        let mut session = fixture::session();
        session.duration_ms = None;
        session.completed_at = None;
        session.started_at = Some("2026-11-21T07:00:00Z".parse().unwrap());
        assert_eq!(duration_ms(&session, "2026-11-21T07:00:05Z".parse().unwrap()), Some(5_000));
        session.started_at = None;
        assert_eq!(duration_ms(&session, "2026-11-21T07:00:05Z".parse().unwrap()), None);
    }
}
