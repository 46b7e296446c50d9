//! The turns that the lines of a proposal come from: links to them, and their text.

use crate::{session::turn_href, text::shorten::one_line};
use domain::{count::counted, gate::MemoryProposal, id::SessionId, memory_writer::turn::Taint};
use leptos::prelude::*;
use wire::history::HistoryTurn;

/// Turns that are quoted below a line at once. The text of the others is shown on request.
const QUOTES_OPEN: usize = 3;
/// Longest name of a speaker or of a tool, characters.
const NAME_CHARS_MAX: usize = 80;
/// Longest quote, characters.
const QUOTE_CHARS_MAX: usize = 200;

/// A turn as it is shown beside a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Its address.
    pub href: String,
    /// Its number, with that of its session if the proposal comes from several.
    pub name: String,
    /// Its author and text. `None` if the log does not have it any more.
    pub said: Option<(String, String)>,
}

/// The turns of a proposal.
pub struct Turns {
    body: String,
    /// Number and words of each new line of the proposed body, with a turn that it comes from.
    lines: Vec<(u32, String, Turn)>,
    /// Turns of the change as a whole.
    of_change: Vec<Turn>,
}

impl Turns {
    /// Returns the turns that a proposal names, with what the log has of them.
    pub fn new(proposal: &MemoryProposal, said: &[HistoryTurn]) -> Self {
        let sessions = sessions_of(proposal);
        let turn = |session: SessionId, sequence: u64| {
            let of = sessions.iter().position(|known| *known == session).filter(|_| sessions.len() > 1);
            let of = of.map(|at| format!("session {}, ", at + 1)).unwrap_or_default();
            let said = said.iter().find(|turn| turn.session_id == session && turn.sequence == sequence);
            Turn {
                href: turn_href(session, sequence),
                name: format!("{of}turn {sequence}"),
                said: said.map(|turn| (who(turn), one_line(&turn.text, QUOTE_CHARS_MAX))),
            }
        };
        let body = proposal.body();
        let lines = proposal.evidence.iter().map(|one| {
            let words = line_of(&body, one.line).unwrap_or_default().to_owned();
            (one.line, words, turn(one.session, one.sequence))
        });
        let lines = lines.collect();
        let of_change = proposal.turns.iter().map(|one| turn(one.session, one.sequence)).collect();
        Self { body, lines, of_change }
    }

    /// Turns of lines that the change removes: those that no new line comes from. If there are none, all of them.
    pub fn of_removed(&self) -> Vec<Turn> {
        let is_of_line = |turn: &Turn| self.lines.iter().any(|(_, _, of)| of == turn);
        let others: Vec<Turn> = self.of_change.iter().filter(|turn| !is_of_line(turn)).cloned().collect();
        if others.is_empty() { self.of_change.clone() } else { others }
    }

    /// The turns of a line of a text. If the text is not the proposed one, a line that is proposed too has its turns.
    pub fn of_line(&self, text: &str, number: u32) -> Vec<Turn> {
        let is_as_proposed = text == self.body;
        let words = line_of(text, number).filter(|words| !words.trim().is_empty());
        let mut found = Vec::new();
        for (proposed, of, turn) in &self.lines {
            let is_it = if is_as_proposed { *proposed == number } else { words == Some(of.as_str()) };
            if is_it && !found.contains(turn) {
                found.push(turn.clone());
            }
        }
        found
    }
}

/// The sessions that a proposal comes from, in the order in which it names them. With more than one, each turn is shown
/// with the number of its session.
fn sessions_of(proposal: &MemoryProposal) -> Vec<SessionId> {
    let mut all = Vec::new();
    let turns = proposal.turns.iter().map(|turn| turn.session);
    for session in turns.chain(proposal.evidence.iter().map(|line| line.session)) {
        if !all.contains(&session) {
            all.push(session);
        }
    }
    all
}

/// A line of a text, by its number from 1.
fn line_of(text: &str, number: u32) -> Option<&str> {
    text.lines().nth(usize::try_from(number).ok()?.checked_sub(1)?)
}

fn who(turn: &HistoryTurn) -> String {
    if let Some(name) = &turn.speaker {
        return one_line(name, NAME_CHARS_MAX);
    }
    let tool = one_line(turn.tool.as_deref().unwrap_or("a tool"), NAME_CHARS_MAX);
    match turn.taint {
        Taint::Person => "A person".to_owned(),
        Taint::Agent => "The agent".to_owned(),
        Taint::Tool => format!("Result of {tool}"),
        Taint::Web => format!("From outside, {tool}"),
    }
}

/// The turns of some lines. Those marked `true` with their text, the others as links.
pub fn evidence(turns: Vec<(Turn, bool)>) -> Option<impl IntoView + use<>> {
    if turns.is_empty() {
        return None;
    }
    let (quoted, linked): (Vec<_>, Vec<_>) = turns.into_iter().partition(|(_, is_quoted)| *is_quoted);
    let mut quotes = quoted.into_iter().map(|(turn, _)| quote(turn));
    let open = quotes.by_ref().take(QUOTES_OPEN).collect_view();
    let more: Vec<_> = quotes.collect();
    let more = (!more.is_empty()).then(|| {
        let summary = counted(u64::try_from(more.len()).unwrap_or(u64::MAX), "more turn");
        view! { <details><summary class="meta">{summary}</summary>{more}</details> }
    });
    let links: Vec<_> =
        linked.into_iter().map(|(Turn { href, name, .. }, _)| view! { <a href=href>{name}</a> }).collect();
    let links = (!links.is_empty()).then(|| view! { <p class="memory-links">{links}</p> });
    // The linked turns were quoted at a line above, so they are mostly the earlier ones.
    Some(view! { <div class="memory-turns">{links}{open}{more}</div> })
}

/// A turn with its text.
fn quote(Turn { href, name, said }: Turn) -> impl IntoView {
    let (who, words) = said.unwrap_or_default();
    view! { <p class="memory-quote"><a href=href>{name}</a>" "<bdi>{who}</bdi>": "<q dir="auto">{words}</q></p> }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::{
        fixture::{memory, raw, turn},
        item_text::task,
    };
    use domain::gate::Task;
    use serde_json::json;

    fn proposal(change: impl Fn(&mut serde_json::Value)) -> MemoryProposal {
        let mut item = memory(1);
        let mut stored: serde_json::Value = serde_json::from_str(item.task.get()).unwrap();
        change(&mut stored);
        item.task = raw(&stored);
        let Some(Task::Memory(proposal)) = task(&item) else { panic!("not a proposal") };
        proposal
    }

    #[test]
    fn a_line_has_its_turn_in_the_proposed_text_and_in_others() {
        let turns = Turns::new(&proposal(|_| {}), &[turn(3, "I play\nchess.")]);
        let found = turns.of_line("# Alice\n\n- Plays chess\n", 3);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].href, "/sessions/0193b0a0-0000-7000-8000-000000000001?before=103#seq-3");
        assert_eq!(found[0].name, "turn 3");
        assert_eq!(found[0].said, Some(("Alice".to_owned(), "I play chess.".to_owned())));
        assert_eq!(turns.of_line("# Alice S.\n- Plays chess\n", 2), found);
        assert!(turns.of_line("# Alice S.\n- Plays go\n", 2).is_empty());
        assert!(turns.of_line("# Alice S.\n- Plays go\n", 9).is_empty());
    }

    #[test]
    fn turns_of_several_sessions_name_their_session() {
        let other = "0193b0a0-0000-7000-8000-000000000002";
        let proposal = proposal(|task| {
            task["turns"].as_array_mut().unwrap().push(json!({ "session": other, "sequence": 8 }));
            task["evidence"][0]["session"] = other.into();
        });
        let found = Turns::new(&proposal, &[]).of_line("# Alice\n\n- Plays chess\n", 3);
        assert_eq!((found[0].name.as_str(), &found[0].said), ("session 2, turn 3", &None));
        assert_eq!(found[0].href, format!("/sessions/{other}?before=103#seq-3"));
    }

    #[test]
    fn words_that_no_person_said_are_shown_as_what_they_are() {
        let said = |taint, tool: Option<&str>| {
            let tool = tool.map(str::to_owned);
            who(&HistoryTurn { taint, tool, speaker: None, ..turn(3, "x") })
        };
        assert_eq!(said(Taint::Agent, None), "The agent");
        assert_eq!(said(Taint::Tool, Some("note")), "Result of note");
        assert_eq!(said(Taint::Web, Some("web_search")), "From outside, web_search");
    }

    #[test]
    fn hostile_words_and_names_are_shown_as_text() {
        let shown = |said: HistoryTurn| {
            let found = Turns::new(&proposal(|_| {}), &[said]).of_line("# Alice\n\n- Plays chess\n", 3);
            crate::render::to_html(evidence(found.into_iter().map(|turn| (turn, true)).collect()))
        };
        let tags = |html: &str| html.matches('<').count();
        let harmless = tags(&shown(turn(3, "I play chess.")));
        for words in [
            "<script>ran()</script>",
            "<img src=x onerror='ran()'>",
            "</q></p></li><a href=\"javascript:ran()\">x</a>",
            "]]><!--",
            "&lt;b&gt; &amp; &#60;i&#62;",
            "[x](javascript:ran()) ![x](https://evil.test/x.png) **bold** `code`",
            "# Heading\n- [ ] a list\n> a quotation\n| a | table |",
            "\u{202e}drawkcab\u{2066}isolated",
            "a\u{0}b\u{7}c\u{1b}[31md\u{7f}e\r\nf\u{85}g\u{2028}h",
            "zero\u{200b}width\u{feff}",
        ] {
            let mut text = String::new();
            crate::text::escape::content(&mut text, &one_line(words, QUOTE_CHARS_MAX));
            let tool = |taint| HistoryTurn { taint, speaker: None, tool: Some(words.to_owned()), ..turn(3, words) };
            let speaker = HistoryTurn { speaker: Some(words.to_owned()), ..turn(3, words) };
            for said in [speaker, tool(Taint::Tool), tool(Taint::Web)] {
                let html = shown(said);
                assert_eq!(tags(&html), harmless, "{html}");
                // Each text has a direction of its own, so that its direction characters end with it.
                assert!(html.contains(&format!("<q dir=\"auto\">{text}</q>")), "{html}");
                let (_, name) = html.split_once("<bdi>").unwrap();
                let (name, _) = name.split_once("</bdi>").unwrap();
                assert!(!name.contains('<') && name.ends_with(&text), "{html}");
                assert!(!html.contains(char::is_control), "{html:?}");
            }
        }
        let html = shown(turn(3, &"<".repeat(QUOTE_CHARS_MAX + 1)));
        assert!(html.contains(&format!("<q dir=\"auto\">{}…</q>", "&lt;".repeat(QUOTE_CHARS_MAX))), "{html}");
    }

    #[test]
    fn all_turns_are_quoted_once_or_linked_however_many_there_are() {
        for count in [1_u64, 2, 7, 40] {
            let proposal = proposal(|task| {
                let line = task["evidence"][0].clone();
                let more = (4..count + 3).map(|sequence| {
                    let mut line = line.clone();
                    line["sequence"] = sequence.into();
                    line
                });
                task["evidence"].as_array_mut().unwrap().extend(more);
            });
            let said: Vec<_> = (3..count + 3).map(|sequence| turn(sequence, "<b>yes</b>")).collect();
            let found = Turns::new(&proposal, &said).of_line("# Alice\n\n- Plays chess\n", 3);
            let all = usize::try_from(count).unwrap();
            let html = crate::render::to_html(evidence(found.iter().map(|turn| (turn.clone(), true)).collect()));
            assert_eq!((html.matches("<a ").count(), html.matches("<q ").count()), (all, all), "{html}");
            let (open, more) = html.split_once("<details>").unwrap_or((&html, ""));
            assert_eq!(open.matches("<q ").count(), all.min(QUOTES_OPEN), "{html}");
            assert_eq!(more.is_empty(), all <= QUOTES_OPEN, "{html}");
            assert!(html.contains("<bdi>Alice</bdi>") && html.contains("&lt;b&gt;yes&lt;/b&gt;</q>"), "{html}");
            let html = crate::render::to_html(evidence(found.into_iter().map(|turn| (turn, false)).collect()));
            assert_eq!((html.matches("<a ").count(), html.matches("<q ").count()), (all, 0), "{html}");
        }
        assert!(evidence(Vec::new()).is_none());
    }
}
