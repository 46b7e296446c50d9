//! A part of a log as the rows of a transcript.

use super::{
    opening::{opening_len, write_opening},
    row::write_row,
    value_text::Titles,
    view_model::entries,
};
use crate::text::html::Html;
use wire::event::Event;

/// Typical size of a row's HTML, bytes; used to size the buffer.
const ROW_BYTES: usize = 1_400;

/// The rows of these events, oldest first, as HTML. The caller applies `?kinds=`. Records and people that are not in
/// `titles` are shown by id.
pub fn rows_fragment(session_id: &str, events: &[Event], titles: &Titles) -> String {
    let mut html = Html::with_capacity(events.len() * ROW_BYTES);
    let entries = entries(events);
    let (opening, rest) = entries.split_at(opening_len(&entries));
    write_opening(&mut html, session_id, opening, titles);
    for entry in rest {
        write_row(&mut html, session_id, entry, titles);
    }
    html.finish()
}
