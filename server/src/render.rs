//! Renders events as JSON directly from the stored text.
//!
//! Content and metadata are stored as the JSON text that was sent. serde would parse and print each
//! of them again, and transcripts are the largest responses of this server. A test checks that the
//! output equals that of serde.

use bytes::Bytes;
use chrono::{Datelike, Timelike};
use domain::{Timestamp, chain::Digest, event::Event};
use ledger::{event::Slice, rendering::Format};
use serde::Serialize;

/// Events as server-sent events. Each format has a slot of its own.
pub const FRAMES: Format = Format::new(0, render_frame);
/// Events as JSON Lines.
pub const LINES: Format = Format::new(1, render_line);

/// Longest end of a page (see [`render_page_end`]), in bytes.
pub const PAGE_END_BYTES_MAX: usize = 64;
/// Estimated bytes of an event without its content and metadata. Buffers are reserved with it, so
/// they rarely grow.
const ENVELOPE_BYTES: usize = 400;

/// Appends the JSON of one [`wire::event::Event`].
pub fn render_event(event: &Event, out: &mut Vec<u8>) {
    out.reserve(event.content.len() + event.metadata.len() + ENVELOPE_BYTES);
    out.extend_from_slice(b"{\"id\":\"");
    text(&event.id, out);
    out.extend_from_slice(b"\",\"sequence\":");
    text(&event.sequence, out);
    out.extend_from_slice(b",\"type\":");
    json(&event.kind, out);
    out.extend_from_slice(b",\"role\":");
    json(&event.role, out);
    out.extend_from_slice(b",\"content\":");
    out.extend_from_slice(event.content.as_bytes());
    out.extend_from_slice(b",\"metadata\":");
    out.extend_from_slice(event.metadata.as_bytes());
    if let Some(thread_id) = &event.thread_id {
        out.extend_from_slice(b",\"threadId\":");
        json(thread_id, out);
    }
    if let Some(external) = &event.external_event_id {
        out.extend_from_slice(b",\"externalEventId\":");
        json(external, out);
    }
    if let Some(attempt) = event.attempt {
        out.extend_from_slice(b",\"attempt\":");
        text(&attempt, out);
    }
    out.extend_from_slice(b",\"actor\":");
    json(&event.actor, out);
    out.extend_from_slice(b",\"at\":");
    time(event.at, out);
    out.extend_from_slice(b",\"recordedAt\":");
    time(event.recorded_at, out);
    out.extend_from_slice(b",\"digest\":\"");
    hex(&event.digest, out);
    out.extend_from_slice(b"\"}");
}

/// Returns the JSON of a [`wire::event::Events`] page.
pub fn render_slice(slice: &Slice) -> Bytes {
    let mut out = render_page_start(slice);
    render_page_end(slice.head_sequence, slice.has_more, &mut out);
    out.into()
}

/// Returns the start of a page, up to its last event. This part does not change any more once the
/// page is full.
pub fn render_page_start(slice: &Slice) -> Vec<u8> {
    let bodies: usize = slice.events.iter().map(|e| e.content.len() + e.metadata.len() + ENVELOPE_BYTES).sum();
    let mut out = Vec::with_capacity(bodies + ENVELOPE_BYTES);
    out.extend_from_slice(b"{\"events\":[");
    for (index, event) in slice.events.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        render_event(event, &mut out);
    }
    out
}

/// Appends the rest of a page: the current head of the log and whether more events follow.
pub fn render_page_end(head_sequence: u64, has_more: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(b"],\"headSequence\":");
    text(&head_sequence, out);
    out.extend_from_slice(b",\"hasMore\":");
    text(&has_more, out);
    out.push(b'}');
}

/// Appends one event as a frame of `text/event-stream`. The data of a frame is one line, so that
/// simple clients can parse it.
fn render_frame(event: &Event, out: &mut Vec<u8>) {
    out.extend_from_slice(b"id: ");
    text(&event.sequence, out);
    out.extend_from_slice(b"\ndata: ");
    render_line(event, out);
    out.push(b'\n');
}

/// Appends one event as a line, with its line feed.
///
/// JSON allows line breaks only between tokens, so they are replaced by spaces. Clients that need
/// the exact bytes read the events by page.
fn render_line(event: &Event, out: &mut Vec<u8>) {
    let start = out.len();
    render_event(event, out);
    for byte in out.iter_mut().skip(start).filter(|byte| matches!(**byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
    out.push(b'\n');
}

/// Appends a value as JSON. Writing to memory cannot fail, and these types always serialize.
fn json(value: &impl Serialize, out: &mut Vec<u8>) {
    let written = serde_json::to_writer(out, value);
    debug_assert!(written.is_ok(), "{written:?}");
}

fn text(value: &impl std::fmt::Display, out: &mut Vec<u8>) {
    use std::io::Write;
    let written = write!(out, "{value}");
    debug_assert!(written.is_ok(), "{written:?}");
}

fn hex(digest: &Digest, out: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for byte in digest.0 {
        out.push(DIGITS[usize::from(byte >> 4)]);
        out.push(DIGITS[usize::from(byte & 15)]);
    }
}

/// RFC 3339 in UTC as chrono's serde writes it: no fraction, or 3 or 6 digits.
fn time(at: Timestamp, out: &mut Vec<u8>) {
    let nanos = at.nanosecond();
    let plain = (0..=9999).contains(&at.year()) && nanos < 1_000_000_000 && nanos.is_multiple_of(1_000);
    let Some(year) = u32::try_from(at.year()).ok().filter(|_| plain) else {
        return json(&at, out);
    };
    out.push(b'"');
    digits::<4>(year, out);
    out.push(b'-');
    digits::<2>(at.month(), out);
    out.push(b'-');
    digits::<2>(at.day(), out);
    out.push(b'T');
    digits::<2>(at.hour(), out);
    out.push(b':');
    digits::<2>(at.minute(), out);
    out.push(b':');
    digits::<2>(at.second(), out);
    if !nanos.is_multiple_of(1_000_000) {
        out.push(b'.');
        digits::<6>(nanos / 1_000, out);
    } else if nanos != 0 {
        out.push(b'.');
        digits::<3>(nanos / 1_000_000, out);
    }
    out.extend_from_slice(b"Z\"");
}

fn digits<const N: usize>(mut value: u32, out: &mut Vec<u8>) {
    let mut buffer = [b'0'; N];
    for digit in buffer.iter_mut().rev() {
        *digit = b'0' + u8::try_from(value % 10).unwrap_or_default();
        value /= 10;
    }
    out.extend_from_slice(&buffer);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire_map;
    use domain::{
        event::EventRole,
        id::{EventId, SessionId},
        session::Status,
    };
    use proptest::prelude::*;

    prop_compose! {
        fn events()(
            id in any::<u128>(),
            sequence in any::<u64>(),
            texts in prop::array::uniform4(".*"),
            optional in any::<[bool; 3]>(),
            attempt in any::<u32>(),
            role in prop::sample::select(vec![EventRole::User, EventRole::Agent, EventRole::System]),
            micros in prop_oneof![any::<i32>().prop_map(|s| i64::from(s) * 1_000_000), -3_000_000_000_000_000..9_000_000_000_000_000_i64],
            millis in any::<i32>(),
            digest in any::<[u8; 32]>(),
        ) -> Event {
            let [kind, thread, external, actor] = texts;
            Event {
                id: EventId(uuid::Uuid::from_u128(id)),
                session_id: SessionId(uuid::Uuid::from_u128(1)),
                sequence,
                content: format!("[ {{\"type\":\"text\",\r\n\t\"text\":{}}} ]", serde_json::to_string(&kind).unwrap()),
                metadata: format!("{{\"n\": 1.50e3, \"x\":{}}}", serde_json::to_string(&actor).unwrap()),
                kind,
                role,
                thread_id: optional[0].then_some(thread),
                external_event_id: optional[1].then_some(external),
                attempt: optional[2].then_some(attempt),
                actor,
                at: domain::clock::from_micros(micros),
                recorded_at: domain::clock::from_micros(i64::from(millis) * 1_000),
                body: Digest(digest),
                digest: Digest(digest),
            }
        }
    }

    proptest! {
        #[test]
        fn an_event_is_rendered_as_serde_would(event in events()) {
            let mut rendered = Vec::new();
            render_event(&event, &mut rendered);
            let serdes = serde_json::to_vec(&wire_map::event(event)).unwrap();
            prop_assert_eq!(String::from_utf8(rendered).unwrap(), String::from_utf8(serdes).unwrap());
        }

        #[test]
        fn a_page_is_rendered_as_serde_would(records in prop::collection::vec(events(), 0..4), head in any::<u64>(), has_more: bool) {
            let slice = Slice { events: records, head_sequence: head, has_more, status: Status::Running };
            let rendered = render_slice(&slice);
            let events = slice.events.into_iter().map(wire_map::event).collect();
            let page = wire::event::Events { events, head_sequence: head, has_more };
            prop_assert_eq!(&rendered[..], serde_json::to_vec(&page).unwrap());
        }

        #[test]
        fn a_frame_is_an_id_and_one_line_of_the_same_json(event in events()) {
            let mut frame = Vec::new();
            render_frame(&event, &mut frame);
            let frame = String::from_utf8(frame).unwrap();
            let lines: Vec<_> = frame.split('\n').collect();
            prop_assert_eq!(lines.len(), 4);
            prop_assert!(!frame.contains('\r'));
            prop_assert_eq!(lines[0], format!("id: {}", event.sequence));
            let read: wire::event::Event = serde_json::from_str(lines[1].strip_prefix("data: ").unwrap()).unwrap();
            prop_assert_eq!(read.kind, event.kind);
            prop_assert_eq!((lines[2], lines[3]), ("", ""));
        }

        #[test]
        fn a_line_is_the_same_json_and_ends_with_its_only_line_break(event in events()) {
            let mut line = Vec::new();
            render_line(&event, &mut line);
            let line = String::from_utf8(line).unwrap();
            prop_assert_eq!(line.find(['\n', '\r']), Some(line.len() - 1));
            prop_assert!(line.ends_with('\n'));
            let read: serde_json::Value = serde_json::from_str(&line).unwrap();
            prop_assert_eq!(read, serde_json::to_value(wire_map::event(event)).unwrap());
        }
    }
}
