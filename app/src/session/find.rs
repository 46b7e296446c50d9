//! The search in a log: the line above the transcript, and its marks on the timeline.

use super::{
    timeline::{Scale, share_a_tick},
    transcript::BEYOND_TARGET,
};
use crate::{
    text::{
        escape::query,
        number::{counted, grouped},
    },
    ui::{
        button::{Button, ButtonLink, Look},
        icon::{Icon, icon},
    },
};
use domain::{Timestamp, limit::FIND_PHRASE_CHARS_MAX, search::Phrase};
use leptos::prelude::*;
use wire::search::SnippetPiece;

/// What is looked for in a log, and where it is.
#[derive(Debug, Clone, Default)]
pub struct Find {
    /// `?find=` as typed, without white space around it; empty if nothing is looked for.
    pub typed: String,
    /// Why it cannot be looked for.
    pub problem: Option<String>,
    /// The events that have it, oldest first.
    pub places: Vec<Place>,
    /// Whether these are all of them.
    pub is_exact: bool,
    /// Which of them the page is around, from 1; absent on a page of other events.
    pub number: Option<usize>,
    /// Whether the search has just begun: the address names none of them yet.
    pub is_new: bool,
    /// The text of that event around the first place of what was found.
    pub snippet: Vec<SnippetPiece>,
}

/// An event that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Its sequence in the log.
    pub sequence: u64,
    /// When it was recorded.
    pub recorded_at: Timestamp,
}

/// A mark on the timeline: one or more events at about the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundTick {
    /// Position, units.
    pub x: f64,
    /// Number of events.
    pub count: u64,
    /// When the first of them was recorded.
    pub at: Timestamp,
    /// Address of the first of them.
    pub href: String,
}

impl Find {
    /// What is marked in the rows.
    pub fn phrase(&self) -> Option<Phrase> {
        Phrase::parse(&self.typed).ok()
    }

    /// Sequence of the event that the page is around.
    pub fn sequence(&self) -> Option<u64> {
        let index = self.number?.checked_sub(1)?;
        self.places.get(index).map(|place| place.sequence)
    }

    /// The search as a parameter of an address.
    pub fn pair(&self) -> Option<String> {
        (!self.typed.is_empty()).then(|| format!("find={}", query(&self.typed)))
    }

    /// The address of an event that was found. `index` counts from 0.
    pub fn href(&self, id: &str, kinds: &str, index: usize, sequence: u64) -> String {
        let find = query(&self.typed);
        format!("/sessions/{id}?find={find}&match={}{}#seq-{sequence}", index + 1, kinds_pair(kinds))
    }

    /// The marks on a timeline.
    pub fn ticks(&self, id: &str, kinds: &str, scale: Scale) -> Vec<FoundTick> {
        let mut ticks: Vec<FoundTick> = Vec::new();
        for (index, place) in self.places.iter().enumerate() {
            let x = scale.place(place.recorded_at);
            match ticks.last_mut() {
                Some(last) if share_a_tick(last.x, x) => last.count += 1,
                _ => {
                    let href = self.href(id, kinds, index, place.sequence);
                    ticks.push(FoundTick { x, count: 1, at: place.recorded_at, href });
                }
            }
        }
        ticks
    }

    /// The indexes of the events before and after the one that the page is around, or before and after the beginning of
    /// the page, `first`. The first one follows the last one. `None` if nothing was found.
    fn neighbours(&self, first: u64) -> Option<(usize, usize)> {
        let count = self.places.len();
        if count == 0 {
            return None;
        }
        let (at, next) = match self.number {
            Some(number) => (number.saturating_sub(1), number),
            None => {
                let before = self.places.partition_point(|place| place.sequence < first);
                (before, before)
            }
        };
        Some(((at + count - 1) % count, next % count))
    }

    /// How many were found, and which of them the page is around: `12 of 4,968`.
    fn count_words(&self) -> String {
        let total = self.places.len() as u64;
        let more = if self.is_exact { "" } else { "+" };
        match self.number {
            Some(number) => format!("{} of {}{more}", grouped(number as u64), grouped(total)),
            None if self.is_exact => counted(total, "event"),
            None => format!("{}+ events", grouped(total)),
        }
    }
}

fn kinds_pair(kinds: &str) -> String {
    if kinds.is_empty() { String::new() } else { format!("&kinds={}", query(kinds)) }
}

/// The line: the field, what was found, and the way through it. `first` is the first sequence on the page.
pub fn find_line(id: &str, kinds: &str, find: &Find, first: u64) -> impl IntoView + use<> {
    let found = (!find.typed.is_empty()).then(|| result(id, kinds, find, first));
    let kinds = (!kinds.is_empty()).then(|| kinds.to_owned());
    let kinds_field = kinds.map(|kinds| view! { <input type="hidden" name="kinds" value=kinds/> });
    let invalid = find.problem.is_some().then_some("true");
    view! {
        <form class="find" method="get" action=format!("/sessions/{id}") role="search" aria-label="This log" data-typed=find.typed.clone()>
            {kinds_field}
            <input
                class="input" type="search" name="find" value=find.typed.clone() maxlength=FIND_PHRASE_CHARS_MAX.to_string()
                placeholder="Find in this log" aria-label="Find in this log" title="Find in this log (f)" autocomplete="off"
                aria-invalid=invalid aria-describedby=invalid.map(|_| "find-error")
            />
            <Button small=true>"Find"</Button>
        </form>
        {found}
    }
}

/// What was found, or why nothing was looked for.
fn result(id: &str, kinds: &str, find: &Find, first: u64) -> AnyView {
    if let Some(problem) = find.problem.clone() {
        return view! { <p class="field-error find-text" id="find-error">{icon(Icon::Alert)}<span>{problem}</span></p> }
            .into_any();
    }
    let clear = view! {
        <ButtonLink small=true look=Look::Quiet href=clear_href(id, kinds, find) title="Clear the search (Esc)" attr:data-find="clear">
            "Clear"
        </ButtonLink>
    };
    let Some((previous, next)) = find.neighbours(first) else {
        return view! { {clear}<p class="find-text">{none_words(kinds, find)}</p> }.into_any();
    };
    let href = |index: usize| {
        let sequence = find.places.get(index).map_or(0, |place| place.sequence);
        find.href(id, kinds, index, sequence)
    };
    let pieces = find.snippet.iter().map(|piece| {
        let text = piece.text.clone();
        if piece.is_marked { view! { <mark>{text}</mark> }.into_any() } else { text.into_any() }
    });
    let pieces = pieces.collect::<Vec<_>>();
    let snippet = (!pieces.is_empty()).then(|| view! { <p class="find-text" dir="auto">{pieces}</p> });
    let of_kinds = (!kinds.is_empty()).then(|| view! { <span class="meta">"of these kinds"</span> });
    view! {
        <p class="find-way">
            <span class="find-count">{find.count_words()}</span>
            {of_kinds}
            <ButtonLink small=true href=href(previous) title="Previous match (N)" attr:data-find="previous">"Previous"</ButtonLink>
            <ButtonLink small=true href=href(next) title="Next match (n)" attr:data-find="next">"Next"</ButtonLink>
            {clear}
        </p>
        {snippet}
    }
    .into_any()
}

/// Says that nothing was found.
fn none_words(kinds: &str, find: &Find) -> impl IntoView + use<> {
    let typed = find.typed.clone();
    let of = match (find.is_exact, kinds.is_empty()) {
        (true, true) => "No event of this session contains",
        (true, false) => "No event of these kinds contains",
        (false, _) => "Only the beginning of this long log was read. No event there contains",
    };
    view! { {format!("{of} “")}<bdi>{typed}</bdi>"”." }
}

/// The page without the search, around the same event.
fn clear_href(id: &str, kinds: &str, find: &Find) -> String {
    let kinds = kinds_pair(kinds);
    match find.sequence() {
        Some(sequence) => {
            format!("/sessions/{id}?before={}{kinds}#seq-{sequence}", sequence.saturating_add(BEYOND_TARGET))
        }
        None => format!("/sessions/{id}{}", kinds.replacen('&', "?", 1)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    fn at(seconds: i64) -> Timestamp {
        "2026-11-21T07:00:00Z".parse::<Timestamp>().unwrap() + chrono::TimeDelta::seconds(seconds)
    }

    fn found(sequences: &[u64], number: Option<usize>) -> Find {
        let place = |sequence: &u64| Place { sequence: *sequence, recorded_at: at(*sequence as i64) };
        Find {
            typed: "a & b".into(),
            places: sequences.iter().map(place).collect(),
            is_exact: true,
            number,
            ..Find::default()
        }
    }

    #[test]
    fn the_line_leads_to_the_matches_around_the_shown_one() {
        let line = |find: &Find, first: u64| to_html(find_line("s", "", find, first));
        let html = line(&found(&[3, 70, 900], Some(2)), 1);
        for part in [
            "2 of 3<",
            "href=\"/sessions/s?find=a%20%26%20b&amp;match=1#seq-3\"",
            "href=\"/sessions/s?find=a%20%26%20b&amp;match=3#seq-900\"",
            "href=\"/sessions/s?before=170#seq-70\"",
            "value=\"a &amp; b\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        // After the last one comes the first one, and on a page of other events the next one after its beginning.
        assert_eq!(found(&[3, 70, 900], Some(3)).neighbours(1), Some((1, 0)));
        assert_eq!(found(&[3, 70, 900], Some(1)).neighbours(1), Some((2, 1)));
        assert_eq!(found(&[3, 70, 900], None).neighbours(71), Some((1, 2)));
        assert_eq!(found(&[3], Some(1)).neighbours(1), Some((0, 0)));
        assert!(line(&found(&[3, 70], None), 1).contains("2 events<"));
        assert!(line(&Find { is_exact: false, ..found(&[3, 70], Some(1)) }, 1).contains("1 of 2+<"));
    }

    #[test]
    fn a_search_without_matches_says_what_was_looked_for() {
        let html = to_html(find_line("s", "", &found(&[], None), 1));
        assert!(html.contains("No event of this session contains “<bdi>a &amp; b</bdi>”."), "{html}");
        let html = to_html(find_line("s", "tools", &found(&[], None), 1));
        assert!(html.contains("No event of these kinds contains"), "{html}");
        assert!(html.contains("href=\"/sessions/s?kinds=tools\""), "{html}");
        let bad = Find { problem: Some("at most 200 characters".into()), ..found(&[], None) };
        let html = to_html(find_line("s", "", &bad, 1));
        assert!(html.contains("aria-invalid=\"true\"") && html.contains("at most 200 characters"), "{html}");
        assert!(!to_html(find_line("s", "", &Find::default(), 1)).contains("find-text"));
    }

    #[test]
    fn marks_share_a_place_on_the_line() {
        let mut session = crate::session::fixture::session();
        session.completed_at = Some(at(5_000));
        let scale = Scale::of(&session, &[], at(1_000));
        let many: Vec<u64> = (0..5_000).collect();
        let ticks = found(&many, None).ticks("s", "", scale);
        assert!((100..=200).contains(&ticks.len()), "{}", ticks.len());
        assert_eq!(ticks.iter().map(|tick| tick.count).sum::<u64>(), 5_000);
    }
}
