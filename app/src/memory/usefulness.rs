//! The view of a document that says how useful its lines were to agents, and in which sessions.

use crate::{
    render::static_html,
    session::turn_href,
    text::{
        number::counted,
        shorten::{head, one_line},
    },
    ui::time::moment,
};
use domain::{Timestamp, id::SessionId, limit::MEMORY_LINE_FIGURES_MAX, relevance::Worth};
use leptos::prelude::*;

/// Longest text of a passage in the list, bytes.
const TEXT_BYTES_MAX: usize = 400;

/// The figures of a document.
#[derive(Debug, Clone)]
pub struct Usefulness {
    /// Its passages, in the order of the text.
    pub passages: Vec<PassageFigure>,
    /// Prompts with which agents were given texts that the document no longer has.
    pub earlier: u64,
    /// Whether only the newest memories are counted.
    pub is_cut: bool,
}

/// The figures of one passage, which is one memory.
#[derive(Debug, Clone)]
pub struct PassageFigure {
    /// Headings above it, joined by ` > `.
    pub headings: String,
    /// Its text without headings.
    pub text: String,
    /// Number of its first line in the whole text, from 1.
    pub line: usize,
    /// Prompts with which agents were given it.
    pub given: Figure,
    /// Those of them for which it was used.
    pub used: Figure,
    /// Its ratings.
    pub rated: Figure,
    /// Mean of the ratings, from -1 to 1; `None` if there are none.
    pub mean: Option<f64>,
    /// What these figures say.
    pub worth: Worth,
}

/// A number, and the sessions that it counts.
#[derive(Debug, Clone, Default)]
pub struct Figure {
    /// The number of prompts, or of ratings.
    pub count: u64,
    /// Number of their sessions.
    pub sessions: u64,
    /// The newest prompt of each of the newest sessions, the newest first.
    pub newest: Vec<Prompt>,
}

/// A prompt with which an agent was given memories.
#[derive(Debug, Clone, Copy)]
pub struct Prompt {
    /// The session whose agent got the prompt.
    pub session_id: SessionId,
    /// Sequence of the event that recorded the memories.
    pub turn: u64,
    /// Its time (UTC).
    pub at: Timestamp,
}

/// The words for what figures say.
const fn worth_words(worth: Worth) -> &'static str {
    match worth {
        Worth::NotGiven => "Not given yet",
        Worth::Helpful => "Helps",
        Worth::Unused => "Never used",
        Worth::Harmful => "Harms",
        Worth::Unknown => "Too few figures to tell",
    }
}

/// The passages of a document with their figures.
pub(super) fn usefulness(of: Option<&Usefulness>) -> impl IntoView + use<> {
    let Some(Usefulness { passages, earlier, is_cut }) = of.filter(|of| !of.passages.is_empty() || of.earlier > 0)
    else {
        return view! { <p class="meta">"There are no lines."</p> }.into_any();
    };
    let newest = counted(u64::from(MEMORY_LINE_FIGURES_MAX), "memory");
    let cut =
        is_cut.then(|| view! { <p class="meta">{format!("Figures of the newest {newest} of this document.")}</p> });
    let gone = (*earlier > 0).then(|| {
        let prompts = counted(*earlier, "prompt");
        view! { <p class="meta">{format!("With {prompts} agents were given lines that have since changed or gone.")}</p> }
    });
    let items = passages.iter().map(passage).collect::<Vec<_>>();
    view! {
        {cut}
        <ol class="history" role="list" aria-label="Lines and how useful they were">{items}</ol>
        {gone}
    }
    .into_any()
}

fn passage(of: &PassageFigure) -> impl IntoView + use<> {
    let PassageFigure { given, used, rated, mean, line, .. } = of;
    let place = if of.headings.is_empty() { String::new() } else { one_line(&of.headings, 120) };
    let text = head(of.text.trim(), TEXT_BYTES_MAX);
    let text = [text, if text.len() < of.text.trim().len() { "…" } else { "" }].concat();
    let (about, is_given) = (format!("line {line}"), given.count > 0);
    let given_words = format!("Given with {}", of_sessions(given, "prompt"));
    let used_words = match used.count {
        0 => "Not used".to_owned(),
        _ => format!("Used for {}", of_sessions(used, "prompt")),
    };
    let rated_words = match mean {
        Some(mean) => format!("{}: {mean:.2} on average", of_sessions(rated, "rating")),
        None => "Not rated".to_owned(),
    };
    let figures = is_given.then(|| {
        [(given_words, given), (used_words, used), (rated_words, rated)]
            .into_iter()
            .map(|(words, figure)| static_html(sessions(words, figure, &about)))
            .collect::<Vec<_>>()
    });
    view! {
        <li class="history-item">
            <p class="history-head">
                <span class="history-version">"Line "{*line}</span>
                <span>{worth_words(of.worth)}</span>
                <span class="meta" dir="auto">{place}</span>
            </p>
            <p class="meta tool-about" dir="auto">{text}</p>
            {figures}
        </li>
    }
}

/// A figure in words: `4 prompts in 2 sessions`.
fn of_sessions(figure: &Figure, what: &str) -> String {
    format!("{} in {}", counted(figure.count, what), counted(figure.sessions, "session"))
}

/// A figure that unfolds the links to its sessions. `about` names the line for screen readers.
fn sessions(words: String, figure: &Figure, about: &str) -> impl IntoView + use<> {
    if figure.newest.is_empty() {
        return view! { <p class="meta">{words}</p> }.into_any();
    }
    let links = figure.newest.iter().map(|Prompt { session_id, turn, at }| {
        let href = turn_href(*session_id, *turn);
        let hidden = format!(", turn {turn}, {about}");
        view! { <li><a class="quiet" href=href>{moment(*at)}<span class="hidden-text">{hidden}</span></a></li> }
    });
    let links = links.collect::<Vec<_>>();
    let more = figure.sessions.saturating_sub(links.len() as u64);
    let more = (more > 0).then(|| view! { <li>{format!("and {} before", counted(more, "session"))}</li> });
    view! {
        <details>
            <summary class="meta">{words}<span class="hidden-text">{format!(", {about}")}</span></summary>
            <ul class="meta">{links}{more}</ul>
        </details>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    fn figure(count: u64, sessions: u64) -> Figure {
        let prompt = |n: u64| {
            let id = format!("0193b0a0-0000-7000-8000-{n:012}");
            Prompt { session_id: id.parse().unwrap(), turn: n, at: Timestamp::UNIX_EPOCH }
        };
        Figure { count, sessions, newest: (0..sessions.min(20)).map(prompt).collect() }
    }

    fn listed(given: Figure, rated: Figure, mean: Option<f64>, worth: Worth) -> String {
        let (headings, text) = ("Launch > <b>When</b>".to_owned(), "On <i>Friday</i>".to_owned());
        let passage = PassageFigure { headings, text, line: 3, given, used: Figure::default(), rated, mean, worth };
        to_html(usefulness(Some(&Usefulness { passages: vec![passage], earlier: 0, is_cut: false })))
    }

    #[test]
    fn each_figure_links_to_its_newest_sessions() {
        for sessions in [1, 2, 7, 40] {
            let html = listed(figure(sessions, sessions), Figure::default(), None, Worth::Unused);
            let links = html.matches("href=\"/sessions/").count() as u64;
            assert_eq!(links, sessions.min(20), "{html}");
            assert_eq!(html.contains("and 20 sessions before"), sessions == 40, "{html}");
        }
        let html = listed(figure(1, 1), figure(2, 1), Some(-0.5), Worth::Unknown);
        for words in ["Given with 1 prompt in 1 session", "2 ratings in 1 session: -0.50 on average", "Not used"] {
            assert!(html.contains(words), "{words}: {html}");
        }
        assert!(html.contains("Too few figures to tell") && html.contains("Line"), "{html}");
        assert_eq!(html.matches("href=\"/sessions/").count(), 2, "the prompts and the ratings: {html}");
        assert!(!html.contains("<i>") && !html.contains("<b>"), "texts are text: {html}");
    }

    #[test]
    fn lines_that_were_not_given_have_no_figures() {
        let html = listed(Figure::default(), Figure::default(), None, Worth::NotGiven);
        assert!(html.contains("Not given yet") && !html.contains("rated") && !html.contains("<details"), "{html}");
        let html = to_html(usefulness(None));
        assert!(html.contains("There are no lines."), "{html}");
        let gone = Usefulness { passages: Vec::new(), earlier: 1, is_cut: true };
        let html = to_html(usefulness(Some(&gone)));
        assert!(html.contains("With 1 prompt agents were given lines") && html.contains("2,000 memories"), "{html}");
    }
}
