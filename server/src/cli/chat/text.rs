//! Texts of the chat, and the parsing of typed lines.

use domain::{count::counted, session_feedback::Label};
use wire::{
    insight::RatingsMissing,
    thread::{MemoryStatus, ThreadSummary},
};

/// Asks for the rating when a conversation ends.
pub const RATING_QUESTION: &str = "Quick check — did today feel helpful? [y/n/s] (or Enter to skip without recording)";
/// Asks for a summary on `/exit`.
pub const SUMMARY_QUESTION: &str = "Save a summary of this conversation? [Y/n]";
/// The last line of the chat.
pub const FAREWELL: &str = "Goodbye.";
/// The lines and keys that a person can type, for `--help` and `/help`.
pub const TYPING: &str = "\
You can type:
  any line          a message to the agent
  /end              rate the conversation, see its summary, and leave
  /exit             end the conversation; asks first whether to save a summary, and asks for a rating only then
  /memory status    what is recorded of the conversation
  /help             this list
  Ctrl-C            stop this turn while the agent works; the conversation stays open
  Ctrl-D            leave; the conversation stays open, continue it with --thread";

/// A typed line.
#[derive(Debug, PartialEq, Eq)]
pub enum Typed<'a> {
    Nothing,
    Message(&'a str),
    End,
    Exit,
    MemoryStatus,
    Help,
    Unknown(&'a str),
}

impl<'a> Typed<'a> {
    /// Parses a line.
    pub fn of(line: &'a str) -> Self {
        let line = line.trim();
        let words: Vec<_> = line.split_whitespace().collect();
        match words.as_slice() {
            [] => Self::Nothing,
            ["/end"] => Self::End,
            ["/exit" | "/quit"] => Self::Exit,
            ["/memory", "status"] => Self::MemoryStatus,
            ["/help" | "/?"] => Self::Help,
            [first, ..] if first.starts_with('/') => Self::Unknown(line),
            _ => Self::Message(line),
        }
    }
}

/// Parses the answer to [`RATING_QUESTION`]: `Some(None)` for no rating, `None` if the answer is not understood.
pub fn label(answer: &str) -> Option<Option<Label>> {
    match answer.trim().to_lowercase().as_str() {
        "" => Some(None),
        "y" | "yes" => Some(Some(Label::Positive)),
        "n" | "no" => Some(Some(Label::Negative)),
        "s" | "skip" => Some(Some(Label::Skip)),
        _ => None,
    }
}

/// Parses the answer to [`SUMMARY_QUESTION`]; `None` if it is not understood.
pub fn wants_summary(answer: &str) -> Option<bool> {
    match answer.trim().to_lowercase().as_str() {
        "" | "y" | "yes" => Some(true),
        "n" | "no" => Some(false),
        _ => None,
    }
}

/// A conversation's summary in a few lines.
pub fn summary(summary: &ThreadSummary) -> String {
    let turns = counted(summary.turns, "turn");
    let mut lines = vec![format!("Summary: {}", summary.title), format!("  {turns} in {}", time(summary.duration_ms))];
    if let Some(closing) = &summary.closing {
        lines.extend(closing.lines().filter(|line| !line.trim().is_empty()).map(|line| format!("  {}", visible(line))));
        return lines.join("\n");
    }
    if let Some(why) = &summary.closing_missing {
        lines.push(format!("  Quoted from the log, because the agent gave no summary: {}", visible(why)));
    }
    for (name, quoted) in [("First request", &summary.first_request), ("Last reply", &summary.last_reply)] {
        if let Some(quoted) = quoted {
            lines.push(format!("  {name}: {}", quoted.split_whitespace().collect::<Vec<_>>().join(" ")));
        }
    }
    lines.join("\n")
}

/// A line whose control characters are replaced by spaces.
fn visible(line: &str) -> String {
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// A text whose control characters are replaced, except for line feeds and tabs. Carriage returns are removed.
pub(super) fn without_controls(text: &str) -> String {
    let kept = text.chars().filter(|c| *c != '\r');
    kept.map(|c| if c.is_control() && !matches!(c, '\n' | '\t') { '\u{fffd}' } else { c }).collect()
}

fn time(ms: u64) -> String {
    let seconds = ms / 1_000;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds} s"),
        (hours, minutes, _) => format!("{hours} h {minutes} min"),
    }
}

/// What is recorded of a conversation, as a table.
pub fn memory(status: &MemoryStatus) -> String {
    let count = |count: Option<u64>| match (count, status.ratings_missing) {
        (Some(count), _) => count.to_string(),
        (None, None) => "-".to_owned(),
        (None, Some(RatingsMissing::Unavailable)) => "? (their database is locked or cannot be reached)".to_owned(),
        (None, Some(RatingsMissing::Unreadable)) => "? (their database is damaged or cannot be opened)".to_owned(),
    };
    let rows = [
        ("messages", status.turn_count.to_string()),
        ("events in the log", status.event_count.to_string()),
        ("session feedback records", count(status.session_feedback_count)),
        ("sessions you rated", count(status.own_feedback_count)),
        ("feedback is kept in", status.feedback_backend.clone()),
        ("incognito", if status.incognito { "yes" } else { "no" }.to_owned()),
    ];
    rows.map(|(name, value)| format!("{name:<26}{value}")).join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_lines_are_distinguished() {
        for (line, expected) in [
            ("  ", Typed::Nothing),
            (" hello /end ", Typed::Message("hello /end")),
            ("/end", Typed::End),
            (" /exit ", Typed::Exit),
            ("/memory  status", Typed::MemoryStatus),
            ("/help", Typed::Help),
            ("/ending", Typed::Unknown("/ending")),
            ("/end now", Typed::Unknown("/end now")),
        ] {
            assert_eq!(Typed::of(line), expected, "{line}");
        }
    }

    #[test]
    fn control_characters_do_not_reach_a_terminal() {
        let said = "One\r\n\ttwo \u{1b}]0;title\u{7} \u{9b}2J é";
        assert_eq!(without_controls(said), "One\n\ttwo \u{fffd}]0;title\u{fffd} \u{fffd}2J é");
    }

    #[test]
    fn answers_are_read_and_others_are_asked_again() {
        assert_eq!(label(" Y "), Some(Some(Label::Positive)));
        assert_eq!(label("no"), Some(Some(Label::Negative)));
        assert_eq!(label("s"), Some(Some(Label::Skip)));
        assert_eq!((label(""), label("maybe")), (Some(None), None));
        assert_eq!((wants_summary(""), wants_summary("N"), wants_summary("x")), (Some(true), Some(false), None));
    }

    fn summary_of(first: &str) -> ThreadSummary {
        let first_request = Some(first.into());
        ThreadSummary { title: "Stage".into(), turns: 2, first_request, ..ThreadSummary::default() }
    }

    #[test]
    fn a_summary_is_a_few_lines() {
        let text = summary(&ThreadSummary {
            title: "Stage".into(),
            turns: 1,
            duration_ms: 3_725_000,
            first_request: Some("What\nnow?".into()),
            ..ThreadSummary::default()
        });
        assert_eq!(text, "Summary: Stage\n  1 turn in 1 h 2 min\n  First request: What now?");
        let quoted = ThreadSummary { closing_missing: Some("it was silent".into()), ..summary_of("What now?") };
        let text = summary(&quoted);
        assert!(
            text.contains("because the agent gave no summary: it was silent\n  First request: What now?"),
            "{text}"
        );
        let closing = Some("You asked.\n\nIt is \u{1b}[31mdone.".into());
        let text = summary(&ThreadSummary { closing, ..summary_of("What now?") });
        assert_eq!(text, "Summary: Stage\n  2 turns in 0 s\n  You asked.\n  It is  [31mdone.");
    }
}
