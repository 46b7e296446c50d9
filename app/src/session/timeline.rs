//! The timeline of a session: its statuses as segments, and its events as ticks, on a line of 1,000 units.

use super::part::{Part, parts};
use crate::text::{duration, number};
use domain::{
    Timestamp,
    event::{Body, Known},
    session::Status,
};
use wire::{event::Event, session::Session};

/// Length of the line, units.
pub const LENGTH: f64 = 1_000.0;
/// Positions of ticks of one kind; events at the same position share a tick.
const TICK_PLACES: usize = 120;
/// Most segments; later changes of status are not drawn.
const SEGMENTS_MAX: usize = 200;

/// A period in one status.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// Status of the session in this period.
    pub status: Status,
    /// Start, units.
    pub x: f64,
    /// Length, units.
    pub width: f64,
    /// Sequence of the event that began it.
    pub sequence: u64,
    /// Duration in milliseconds.
    pub duration_ms: u64,
}

/// The times of a session as places on the line.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    start: Timestamp,
    end: Timestamp,
}

impl Scale {
    /// The scale of a session's timeline. `events` are those that it shows.
    pub fn of(session: &Session, events: &[Event], now: Timestamp) -> Self {
        let start = session.created_at;
        let last = events.iter().map(|e| e.recorded_at).max().unwrap_or(start);
        let end =
            session.completed_at.unwrap_or(if session.status.is_final() { session.updated_at } else { now }).max(last);
        Self { start, end }
    }

    /// The place of a time, units.
    pub fn place(self, at: Timestamp) -> f64 {
        let total_ms = (self.end - self.start).num_milliseconds().max(1);
        let ms = (at - self.start).num_milliseconds().clamp(0, total_ms);
        LENGTH * ms as f64 / total_ms as f64
    }
}

/// One or more events at about the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Position, units.
    pub x: f64,
    /// Sequence of the first event.
    pub sequence: u64,
    /// Number of events.
    pub count: u64,
    /// Time of the first event.
    pub at: Timestamp,
}

/// A number of things in the log. The timeline draws the first of them only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Total {
    /// How many there are.
    pub count: u64,
    /// Whether there may be more: those that are not drawn are counted by event, and an event may make several calls.
    pub is_least: bool,
}

impl Total {
    /// The number in words, `at least 1,653 tool calls`; `None` for none.
    pub fn words(self, one: &str) -> Option<String> {
        let words = number::counted(self.count, one);
        (self.count > 0).then(|| if self.is_least { format!("at least {words}") } else { words })
    }

    /// Counts what is drawn in `events` events of the `all` that the log has.
    fn of(drawn: &[Tick], events: u64, all: u64) -> Self {
        let count: u64 = drawn.iter().map(|tick| tick.count).sum();
        let not_drawn = all.saturating_sub(events);
        Self { count: count + not_drawn, is_least: not_drawn > 0 && count > events }
    }
}

/// The whole timeline.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    /// Periods in order, without gaps.
    pub segments: Vec<Segment>,
    /// Ticks of tool calls.
    pub tools: Vec<Tick>,
    /// Ticks of errors.
    pub errors: Vec<Tick>,
    /// Number of tool calls of the whole log.
    pub calls: Total,
    /// Number of errors of the whole log.
    pub faults: Total,
    /// Time in each status in milliseconds, in the order of first appearance.
    pub totals: Vec<(Status, u64)>,
}

/// Kinds of events that call tools.
const CALLS: [&str; 2] = [Known::AgentToolCall.as_str(), Known::ToolInvocationStarted.as_str()];
/// Kinds of events that report errors.
const ERRORS: [&str; 2] = [Known::SessionError.as_str(), Known::ToolInvocationFailed.as_str()];

/// Builds the timeline from the first events of a session that are relevant to it. `kind_counts` are the numbers of
/// events of each kind in its whole log.
pub fn timeline(session: &Session, events: &[Event], kind_counts: &[(String, u64)], now: Timestamp) -> Timeline {
    let scale = Scale::of(session, events, now);
    let changes: Vec<(Option<Status>, Status, &Event)> = events
        .iter()
        .filter(|e| e.known() == Some(Known::SessionStatusChange))
        .filter_map(|e| match e.body() {
            Body::SessionStatusChange(change) => Some((change.from, change.to, e)),
            _ => None,
        })
        .take(SEGMENTS_MAX)
        .collect();

    let mut line = Timeline::default();
    let first = changes.first().and_then(|(from, ..)| *from).unwrap_or(if changes.is_empty() {
        session.status
    } else {
        Status::Draft
    });
    let mut open = (first, scale.start, 1);
    let mut close = |open: &(Status, Timestamp, u64), until: Timestamp| {
        let (x, to) = (scale.place(open.1), scale.place(until));
        let duration_ms = u64::try_from((until - open.1).num_milliseconds()).unwrap_or_default();
        if duration_ms > 0 && !open.0.is_final() {
            line.segments.push(Segment { status: open.0, x, width: to - x, sequence: open.2, duration_ms });
        }
    };
    for (_, to, event) in &changes {
        close(&open, event.recorded_at);
        open = (*to, event.recorded_at, event.sequence);
    }
    close(&open, scale.end);
    for segment in &line.segments {
        match line.totals.iter_mut().find(|(status, _)| *status == segment.status) {
            Some((_, ms)) => *ms += segment.duration_ms,
            None => line.totals.push((segment.status, segment.duration_ms)),
        }
    }
    for event in events {
        let x = scale.place(event.recorded_at);
        let tick = Tick { x, sequence: event.sequence, count: 1, at: event.at };
        match event.kind.as_str() {
            kind if ERRORS.contains(&kind) => gather(&mut line.errors, tick),
            kind if CALLS.contains(&kind) => {
                let count = parts(event).iter().filter(|part| matches!(part, Part::Call(_))).count().max(1) as u64;
                gather(&mut line.tools, Tick { count, ..tick });
            }
            _ => {}
        }
    }
    let given = |kinds: [&str; 2]| events.iter().filter(|event| kinds.contains(&event.kind.as_str())).count() as u64;
    let all = |kinds: [&str; 2]| {
        kind_counts.iter().filter(|(kind, _)| kinds.contains(&kind.as_str())).map(|(_, count)| count).sum::<u64>()
    };
    line.calls = Total::of(&line.tools, given(CALLS), all(CALLS));
    line.faults = Total::of(&line.errors, given(ERRORS), all(ERRORS));
    line
}

fn gather(ticks: &mut Vec<Tick>, tick: Tick) {
    match ticks.last_mut() {
        Some(last) if share_a_tick(last.x, tick.x) => last.count += tick.count,
        _ => ticks.push(tick),
    }
}

/// Whether two places, in units, are so near that they share a tick.
pub fn share_a_tick(x: f64, other: f64) -> bool {
    let width = LENGTH / TICK_PLACES as f64;
    (x / width) as usize == (other / width) as usize
}

impl Timeline {
    /// The timeline as text, for screen readers.
    pub fn words(&self) -> String {
        let mut said: Vec<String> = self
            .totals
            .iter()
            .map(|(status, ms)| format!("{} {}", crate::ui::badge::word(*status), duration::words(*ms)))
            .collect();
        said.extend(self.calls.words("tool call"));
        said.extend(self.faults.words("error"));
        said.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::fixture::{call, event, session};

    fn change(sequence: u64, from: &str, to: &str) -> Event {
        event(sequence, "session.status_change", "[]", &format!(r#"{{"from":"{from}","to":"{to}","reason":"r"}}"#))
    }

    #[test]
    fn segments_follow_each_other_to_the_end() {
        let mut session = session();
        session.completed_at = Some("2026-11-21T07:00:10Z".parse().unwrap());
        let events = [
            change(2, "pending", "running"),
            call(3, "a", "t"),
            call(4, "b", "t"),
            change(6, "running", "waiting_human"),
            change(8, "waiting_human", "running"),
            change(10, "running", "completed"),
        ];
        let line = timeline(&session, &events, &[], session.updated_at);
        let drawn: Vec<_> = line.segments.iter().map(|s| (s.status.as_str(), s.x, s.width, s.sequence)).collect();
        assert_eq!(
            drawn,
            [
                ("pending", 0.0, 200.0, 1),
                ("running", 200.0, 400.0, 2),
                ("waiting_human", 600.0, 200.0, 6),
                ("running", 800.0, 200.0, 8)
            ]
        );
        assert_eq!(line.tools.iter().map(|t| (t.x, t.count)).collect::<Vec<_>>(), [(300.0, 1), (400.0, 1)]);
        assert_eq!(line.words(), "Pending 2.0 s, Running 6.0 s, Needs a person 2.0 s, 2 tool calls");
    }

    #[test]
    fn many_calls_share_ticks() {
        let events: Vec<_> = (1..=1_000).map(|n| call(n, "a", "t")).collect();
        let line = timeline(&session(), &events, &[], session().updated_at);
        assert!(line.tools.len() <= TICK_PLACES + 1);
        assert_eq!(line.tools.iter().map(|t| t.count).sum::<u64>(), 1_000);
    }

    #[test]
    fn calls_that_are_not_drawn_are_counted() {
        let counts = [("agent.tool_call".to_owned(), 1_653), ("session.error".to_owned(), 2)];
        let events: Vec<_> = (1..=998).map(|n| call(n, "a", "t")).collect();
        let words = |events: &[Event]| {
            let line = timeline(&session(), events, &counts, session().updated_at);
            (line.calls.words("tool call").unwrap(), line.faults.words("error").unwrap())
        };
        assert_eq!(words(&events), ("1,653 tool calls".to_owned(), "2 errors".to_owned()));
        let two = r#"[{"type":"tool-call","toolCallId":"a"},{"type":"tool-call","toolCallId":"b"}]"#;
        let both = [event(1, "agent.tool_call", two, "{}")];
        assert_eq!(words(&both).0, "at least 1,654 tool calls");
        assert_eq!(timeline(&session(), &[], &[], session().updated_at).calls.words("tool call"), None);
    }

    #[test]
    fn a_session_without_duration_has_a_timeline() {
        assert!(timeline(&session(), &[], &[], session().updated_at).segments.is_empty());
    }
}
