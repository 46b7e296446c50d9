//! A part of a log as the rows of a transcript.

use super::{
    mark::marked,
    opening::{opening_len, write_opening},
    rate_memory::write_ratings,
    row::{write_row, write_row_with},
    value_text::Titles,
    view_model::{Entry, entries, mark_failing_step},
};
use crate::text::html::Html;
use domain::{id::SessionId, search::Phrase};
use wire::event::Event;

/// Typical size of a row's HTML, bytes; used to size the buffer.
const ROW_BYTES: usize = 1_400;

/// A part of a log, oldest first. The caller applies `?kinds=`.
#[derive(Debug, Clone, Copy)]
pub struct LogPart<'a> {
    /// Id of the session, for links.
    pub session_id: &'a str,
    /// Events of one page, oldest first.
    pub events: &'a [Event],
    /// Records and people that are not here are shown by id.
    pub titles: &'a Titles,
    /// Whether the last call of a tool is unfolded, if it failed: the step at which the session failed.
    pub opens_failing_step: bool,
}

impl<'a> LogPart<'a> {
    fn entries(&self) -> Vec<Entry<'a>> {
        let mut entries = entries(self.events);
        if self.opens_failing_step {
            mark_failing_step(&mut entries);
        }
        entries
    }

    /// The rows as HTML.
    pub fn rows(&self) -> String {
        self.rows_with(|_, _| {})
    }

    /// The rows with forms that rate the memories in them.
    pub fn rateable_rows(&self, session: SessionId) -> String {
        self.rows_with(|html, event| write_ratings(html, session, event))
    }

    fn rows_with(&self, below: impl Fn(&mut Html, &Event)) -> String {
        let mut html = Html::with_capacity(self.events.len() * ROW_BYTES);
        let entries = self.entries();
        let (opening, rest) = entries.split_at(opening_len(&entries));
        write_opening(&mut html, self.session_id, opening, self.titles);
        for entry in rest {
            write_row_with(&mut html, self.session_id, entry, self.titles, &below);
        }
        html.finish()
    }

    /// The rows with a phrase marked in them. The row of the event `shown` is unfolded.
    pub fn found_rows(&self, phrase: &Phrase, shown: Option<u64>) -> String {
        let mut rows = String::with_capacity(self.events.len() * ROW_BYTES);
        let mut add = |write: &dyn Fn(&mut Html)| {
            let mut html = Html::with_capacity(ROW_BYTES);
            write(&mut html);
            rows.push_str(&marked(&html.finish(), phrase, shown));
        };
        let entries = self.entries();
        let (opening, rest) = entries.split_at(opening_len(&entries));
        add(&|html: &mut Html| write_opening(html, self.session_id, opening, self.titles));
        for entry in rest {
            add(&|html: &mut Html| write_row(html, self.session_id, entry, self.titles));
        }
        rows
    }
}

/// The rows of these events as HTML.
pub fn rows_fragment(session_id: &str, events: &[Event], titles: &Titles) -> String {
    LogPart { session_id, events, titles, opens_failing_step: false }.rows()
}

/// The same with forms that rate the memories in their rows.
pub fn rateable_rows(session: SessionId, events: &[Event], titles: &Titles) -> String {
    let session_id = &session.to_string();
    LogPart { session_id, events, titles, opens_failing_step: false }.rateable_rows(session)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture::{answer, call, event};

    fn failed(sequence: u64, id: &str) -> Event {
        answer(sequence, id, r#"{"type":"error-text","value":"refused"}"#)
    }

    fn of(events: &[Event], opens_failing_step: bool) -> String {
        LogPart { session_id: "s", events, titles: &Titles::new(), opens_failing_step }.rows()
    }

    #[test]
    fn the_last_call_is_unfolded_if_it_failed() {
        let said = event(5, "agent.message", r#"[{"type":"text","text":"hm"}]"#, "{}");
        let log = [call(1, "a", "find"), failed(2, "a"), call(3, "b", "find"), failed(4, "b"), said];
        let html = of(&log, true);
        assert!(html.contains("<details class=\"tool\" open data-tool-call-id=\"b\""), "{html}");
        assert_eq!(html.matches("<details class=\"tool\" open").count(), 1, "{html}");
        assert!(!of(&log, false).contains("<details class=\"tool\" open"));
    }

    #[test]
    fn a_result_whose_call_is_on_an_earlier_page_is_unfolded_too() {
        let html = of(&[failed(4, "b")], true);
        assert!(html.contains("<details class=\"tool\" open data-answers=\"b\""), "{html}");
    }

    #[test]
    fn no_call_is_unfolded_if_what_failed_later_was_no_tool() {
        let done = [call(1, "a", "find"), failed(2, "a"), call(3, "b", "find"), answer(4, "b", "\"ok\"")];
        assert!(!of(&done, true).contains("<details class=\"tool\" open"));
        let waiting = [call(1, "a", "find"), failed(2, "a"), call(3, "b", "find")];
        assert!(!of(&waiting, true).contains("<details class=\"tool\" open"));
    }

    #[test]
    fn the_failing_step_is_unfolded_once_if_it_was_searched_for() {
        let log = [call(1, "a", "find"), failed(2, "a")];
        let part = LogPart { session_id: "s", events: &log, titles: &Titles::new(), opens_failing_step: true };
        let html = part.found_rows(&Phrase::parse("refused").unwrap(), Some(2));
        assert_eq!(html.matches("<details class=\"tool\" open data-tool-call-id").count(), 1, "{html}");
    }
}
