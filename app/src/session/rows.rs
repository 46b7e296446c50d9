//! A part of a log as the rows of a transcript.

use super::{
    mark::marked,
    opening::{opening_len, write_opening},
    rate_memory::write_ratings,
    row::{write_row, write_row_with},
    value_text::Titles,
    view_model::entries,
};
use crate::text::html::Html;
use domain::{id::SessionId, search::Phrase};
use wire::event::Event;

/// Typical size of a row's HTML, bytes; used to size the buffer.
const ROW_BYTES: usize = 1_400;

/// The rows of these events, oldest first, as HTML. The caller applies `?kinds=`. Records and people that are not in
/// `titles` are shown by id.
pub fn rows_fragment(session_id: &str, events: &[Event], titles: &Titles) -> String {
    rows(session_id, events, titles, |_, _| {})
}

/// The same with forms that rate the memories in their rows.
pub fn rateable_rows(session: SessionId, events: &[Event], titles: &Titles) -> String {
    rows(&session.to_string(), events, titles, |html, event| write_ratings(html, session, event))
}

fn rows(session_id: &str, events: &[Event], titles: &Titles, below: impl Fn(&mut Html, &Event)) -> String {
    let mut html = Html::with_capacity(events.len() * ROW_BYTES);
    let entries = entries(events);
    let (opening, rest) = entries.split_at(opening_len(&entries));
    write_opening(&mut html, session_id, opening, titles);
    for entry in rest {
        write_row_with(&mut html, session_id, entry, titles, &below);
    }
    html.finish()
}

/// The same with a phrase marked in the rows. The row of the event `shown` is unfolded.
pub fn found_rows(session_id: &str, events: &[Event], titles: &Titles, phrase: &Phrase, shown: Option<u64>) -> String {
    let mut rows = String::with_capacity(events.len() * ROW_BYTES);
    let mut add = |write: &dyn Fn(&mut Html)| {
        let mut html = Html::with_capacity(ROW_BYTES);
        write(&mut html);
        rows.push_str(&marked(&html.finish(), phrase, shown));
    };
    let entries = entries(events);
    let (opening, rest) = entries.split_at(opening_len(&entries));
    add(&|html: &mut Html| write_opening(html, session_id, opening, titles));
    for entry in rest {
        add(&|html: &mut Html| write_row(html, session_id, entry, titles));
    }
    rows
}
