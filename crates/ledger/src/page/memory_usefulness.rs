//! The figures of a document's lines: how often agents were given them, used them and rated them, and in which
//! sessions.

use crate::{MemoryDocumentRecord, Result, memory::identified};
use domain::{
    Timestamp,
    id::{SessionId, TenantId},
    limit::MEMORY_LINE_FIGURES_MAX,
    memory::Document,
    memory_writer::select::passages,
    relevance::{Worth, worth},
};
use std::collections::{HashMap, HashSet};
use store::{Conn, memory_figure::GivenMemory};

/// Most sessions that one figure names: the newest.
const SESSIONS_NAMED: usize = 20;

/// The figures of a document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Usefulness {
    /// Its passages, in the order of the text.
    pub passages: Vec<PassageFigure>,
    /// Prompts with which agents were given texts that the document no longer has.
    pub earlier: u64,
    /// Whether agents were given memories of it more often than is counted: only the newest are.
    pub is_cut: bool,
}

/// The figures of one passage, which is one memory.
#[derive(Debug, Clone, PartialEq)]
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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Figure {
    /// The number of prompts, or of ratings.
    pub count: u64,
    /// Number of their sessions.
    pub sessions: u64,
    /// The newest prompt of each of the newest sessions, the newest first.
    pub newest: Vec<Prompt>,
}

/// A prompt with which an agent was given memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prompt {
    /// The session whose agent got the prompt.
    pub session_id: SessionId,
    /// Sequence of the event that recorded the memories.
    pub turn: u64,
    /// Its time (UTC).
    pub at: Timestamp,
}

/// Reads the figures of a document, which has this text.
pub(super) async fn usefulness_on(
    conn: &mut Conn<'_>,
    tenant_id: TenantId,
    document: &MemoryDocumentRecord,
    text: &str,
) -> Result<Usefulness> {
    let most = MEMORY_LINE_FIGURES_MAX;
    let mut given = store::memory_figure::of_document(conn, tenant_id, document.id, most + 1).await?;
    let is_cut = given.len() > most as usize;
    given.truncate(most as usize);
    Ok(Usefulness { is_cut, ..usefulness(document, text, &given) })
}

/// The figures of a document from the memories that agents were given, the newest first.
fn usefulness(document: &MemoryDocumentRecord, text: &str, given: &[GivenMemory]) -> Usefulness {
    let mut by_memory: HashMap<&str, Vec<&GivenMemory>> = HashMap::new();
    for one in given {
        by_memory.entry(&one.memory_id).or_default().push(one);
    }
    let body = Document::parse(text).body;
    let above = text.lines().count().saturating_sub(body.lines().count());
    let passages = identified(document, passages(&body)).map(|(id, passage)| {
        let of = by_memory.remove(id.as_str()).unwrap_or_default();
        let (rated, mean) = ratings(&of);
        let given = figure(of.iter().map(|one| (*one, 1)));
        let used = figure(of.iter().filter(|one| one.use_hits > 0).map(|one| (*one, 1)));
        let worth = worth((given.count, used.count), (rated.count, mean));
        let line = above + passage.line + 1;
        PassageFigure { headings: passage.headings, text: passage.text, line, given, used, rated, mean, worth }
    });
    let passages = passages.collect();
    let earlier = by_memory.values().map(|of| of.len() as u64).sum();
    Usefulness { passages, earlier, is_cut: false }
}

/// The ratings of a memory with their mean. Each rating counts the same.
fn ratings(of: &[&GivenMemory]) -> (Figure, Option<f64>) {
    let rated = of.iter().filter(|one| one.ratings > 0);
    let figure = figure(rated.map(|one| (*one, u64::from(one.ratings))));
    let sum: f64 = of.iter().filter_map(|one| Some(one.mean? * f64::from(one.ratings))).sum();
    let count: u32 = of.iter().map(|one| one.ratings).sum();
    let mean = (count > 0).then(|| sum / f64::from(count));
    (figure, mean)
}

/// Adds up prompts, each with its number.
fn figure<'g>(of: impl Iterator<Item = (&'g GivenMemory, u64)>) -> Figure {
    let mut figure = Figure::default();
    let mut sessions = HashSet::new();
    for (one, count) in of {
        figure.count += count;
        let is_new = sessions.insert(one.session_id);
        if is_new && figure.newest.len() < SESSIONS_NAMED {
            figure.newest.push(Prompt { session_id: one.session_id, turn: one.turn, at: one.at });
        }
    }
    figure.sessions = sessions.len() as u64;
    figure
}
