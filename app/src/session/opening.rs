//! The first rows of a log, from its creation until a worker has started it, as one line that opens.

use super::{
    row::{write_head, write_row},
    value_text::Titles,
    view_model::Entry,
};
use crate::text::{duration, html::Html, number};
use domain::{
    event::{Body, Group, Known},
    session::Status,
};
use wire::event::Event;

/// Fewest rows that are shown as one line.
const ROWS_MIN: usize = 3;
/// Most rows that are shown as one line.
const ROWS_MAX: usize = 8;

/// The status that an event changed the session to.
fn changed_to(event: &Event) -> Option<Status> {
    match event.body() {
        Body::SessionStatusChange(change) => Some(change.to),
        _ => None,
    }
}

/// The number of rows at the start of a log until it runs; 0 if the page does not begin with them.
pub fn opening_len(entries: &[Entry<'_>]) -> usize {
    let begins = entries
        .first()
        .is_some_and(|first| first.event.sequence == 1 && first.event.known() == Some(Known::SessionCreated));
    let is_opening = |entry: &&Entry<'_>| {
        matches!(entry.event.known(), Some(Known::SessionCreated | Known::SessionClaimed | Known::SessionStatusChange))
    };
    let same = entries.iter().take(ROWS_MAX).take_while(is_opening);
    let running = same.map(|entry| changed_to(entry.event)).position(|to| to == Some(Status::Running));
    match running {
        Some(at) if begins && at + 1 >= ROWS_MIN => at + 1,
        _ => 0,
    }
}

/// Writes the rows as one.
pub fn write_opening(html: &mut Html, session_id: &str, entries: &[Entry<'_>], titles: &Titles) {
    let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return };
    write_head(html, first.event, Group::State, "opening", last.event.sequence);
    html.raw("<details class=\"fold\"><summary><span dir=\"auto\">").text(&words(entries));
    html.raw("</span> <span class=\"fold-more\">").text(&number::counted(entries.len() as u64, "event"));
    html.raw("</span></summary><ol>");
    entries.iter().for_each(|entry| write_row(html, session_id, entry, titles));
    html.raw("</ol></details></div></li>");
}

/// How long the session was queued, and who started it.
fn words(entries: &[Entry<'_>]) -> String {
    let queued = entries.iter().find(|entry| changed_to(entry.event) == Some(Status::Pending)).map(|entry| entry.event);
    let started = entries.last().map(|entry| entry.event);
    let waited = match (queued, started) {
        (Some(queued), Some(started)) => u64::try_from((started.at - queued.at).num_milliseconds()).ok(),
        _ => None,
    };
    let bodies = || entries.iter().map(|entry| entry.event.body());
    let retries = bodies().any(|body| matches!(body, Body::SessionCreated(created) if created.is_retry()));
    let by = bodies().find_map(|body| match body {
        Body::SessionClaimed(claimed) => Some(format!(" by {}", claimed.by())),
        _ => None,
    });
    let again = if retries { "Runs an earlier session again. " } else { "" };
    let by = by.unwrap_or_default();
    match waited {
        Some(ms) => format!("{again}Queued {}, started{by}", duration::words(ms)),
        None => format!("{again}Started{by}"),
    }
}

#[cfg(test)]
mod tests {
    use crate::session::{Titles, fixture::event, rows_fragment};
    use wire::event::Event;

    fn log() -> Vec<Event> {
        let change = |sequence, from: &str, to: &str| {
            event(sequence, "session.status_change", "[]", &format!(r#"{{"from":"{from}","to":"{to}","reason":"r"}}"#))
        };
        vec![
            event(1, "session.created", "[]", r#"{"sessionType":"agent"}"#),
            change(2, "draft", "pending"),
            event(3, "session.claimed", "[]", r#"{"attempt":1,"worker":"worker <1>","leaseSeconds":60}"#),
            change(4, "pending", "running"),
            event(5, "agent.message", r#"[{"type":"text","text":"hello"}]"#, "{}"),
        ]
    }

    #[test]
    fn the_start_of_a_log_is_one_row_that_holds_the_others() {
        let html = rows_fragment("s", &log(), &Titles::new());
        assert!(html.contains("Queued 2.0 s, started by worker &lt;1&gt;"), "{html}");
        assert!(html.contains("data-sequence=\"4\" data-group=\"state\" data-kind=\"opening\""), "{html}");
        assert_eq!(html.matches("<li").count(), 6);
        for sequence in 1..=5 {
            assert_eq!(html.matches(&format!("id=\"seq-{sequence}\"")).count(), 1, "{sequence}: {html}");
        }
    }

    #[test]
    fn a_page_that_begins_elsewhere_or_a_log_that_has_not_started_is_shown_row_by_row() {
        let opening = |events: &[Event]| rows_fragment("s", events, &Titles::new()).contains("data-kind=\"opening\"");
        let log = log();
        assert!(opening(&log) && opening(&log[..4]));
        assert!(!opening(&log[..3]) && !opening(&log[1..]) && !opening(&[]));
    }
}
