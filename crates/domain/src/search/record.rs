//! Searching records that have a name and a text: which of them a search finds, and in which order.

use super::{
    query::{Query, Unit},
    snippet::{Found, matches, words_of},
};
use crate::{
    limit::{SEARCH_EVENT_BYTES_MAX, SEARCH_PREFIX_CHARS_MIN},
    names::names,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// What a search can be narrowed to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Tasks: their names and descriptions.
    Task,
    /// Entities: their titles and values.
    Entity,
    /// Questions of agents to people.
    Question,
    /// Memory documents of agents: their paths and texts.
    Memory,
    /// Events of logs.
    Event,
}

names!(Kind { Task = "task", Entity = "entity", Question = "question", Memory = "memory", Event = "event" });

impl Kind {
    /// The kinds that are no events.
    pub const RECORDS: [Self; 4] = [Self::Task, Self::Entity, Self::Question, Self::Memory];
}

/// Where a record has what is searched for. Less is listed first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rank {
    /// Its name has all of it and no other word.
    WholeName,
    /// Its name has all of it.
    Name,
    /// Its text, or its name and its text together, have all of it.
    Text,
}

impl Query {
    /// Where a record has all that is searched for. `None` if it lacks something, or has what is excluded.
    pub fn rank(&self, name: &str, text: &str) -> Option<Rank> {
        let (name, text) = (words_of(name), words_of(text));
        let mut rank = Rank::Name;
        for unit in &self.units {
            match (unit.is_excluded, has(unit, &name), has(unit, &text)) {
                (true, false, false) | (false, true, _) => {}
                (false, false, true) => rank = Rank::Text,
                (true, ..) | (false, false, false) => return None,
            }
        }
        let is_whole = rank == Rank::Name && self.covers(&name);
        Some(if is_whole { Rank::WholeName } else { rank })
    }

    /// Whether each of these words is searched for.
    fn covers(&self, words: &[Found]) -> bool {
        let mut at = 0;
        while at < words.len() {
            let wanted = self.units.iter().filter(|unit| !unit.is_excluded);
            match wanted.filter_map(|unit| matches(unit, &words[at..])).max() {
                Some(count) => at += count,
                None => return false,
            }
        }
        true
    }

    /// The beginning of a word, in lower case, that each text of ASCII letters contains which the search finds. Of
    /// several the longest. `None` if no word has one. Texts with other letters can be found without it: accents are
    /// ignored.
    pub fn stem(&self) -> Option<String> {
        let wanted = self.units.iter().filter(|unit| !unit.is_excluded);
        let stems = wanted.filter_map(stem_of).filter(|stem| stem.len() >= SEARCH_PREFIX_CHARS_MIN);
        stems.max_by_key(|stem| stem.len()).map(str::to_owned)
    }
}

/// Whether a unit is among these words.
fn has(unit: &Unit, words: &[Found]) -> bool {
    (0..words.len()).any(|at| matches(unit, &words[at..]).is_some())
}

/// What all alternatives of a unit begin with.
fn stem_of(unit: &Unit) -> Option<&str> {
    let longest = unit.terms.iter().filter(|term| term.is_ascii()).max_by_key(|term| term.len())?;
    let shared = unit.forms.iter().map(|form| shared_length(longest, form)).min();
    Some(&longest[..shared.unwrap_or(longest.len())])
}

/// Length of the beginning that two texts share, bytes.
fn shared_length(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count()
}

/// The values of a JSON text as one text that is searched, without the names of members; at most
/// [`SEARCH_EVENT_BYTES_MAX`]. A text that is no JSON is empty.
pub fn value_text(json: &str) -> String {
    let mut text = String::new();
    add_values(&mut text, &serde_json::from_str(json).unwrap_or_default());
    text.truncate(text.floor_char_boundary(SEARCH_EVENT_BYTES_MAX));
    text
}

fn add_values(text: &mut String, value: &Value) {
    if text.len() >= SEARCH_EVENT_BYTES_MAX {
        return;
    }
    let shown = match value {
        Value::Null => return,
        Value::Array(values) => return values.iter().for_each(|value| add_values(text, value)),
        // The same text, however the JSON library was compiled.
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(name, _)| *name);
            return sorted.into_iter().for_each(|(_, value)| add_values(text, value));
        }
        Value::String(shown) => shown.clone(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
    };
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&shown);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Query {
        Query::parse(text).unwrap()
    }

    #[test]
    fn a_name_of_these_words_comes_before_a_name_with_them_and_a_text() {
        for (text, name, body, rank) in [
            ("refund", "Refunds", "", Some(Rank::WholeName)),
            ("acme refund", "Refund Acme", "refund", Some(Rank::WholeName)),
            ("refund", "Refund Acme", "", Some(Rank::Name)),
            ("refund", "Acme", "two refunds", Some(Rank::Text)),
            ("acme refund", "Acme", "two refunds", Some(Rank::Text)),
            ("acme refund", "Acme", "nothing", None),
            ("refund -acme", "Refund Acme", "", None),
            ("refund -acme", "Refund", "of Acme", None),
            ("refund -acme", "Refund", "of Zenith", Some(Rank::WholeName)),
            ("\"rate limit\"", "limit rate", "the rate limit", Some(Rank::Text)),
            ("unauth*", "Unauthorized", "", Some(Rank::WholeName)),
            ("cafe", "Café", "", Some(Rank::WholeName)),
            ("bot", "refundBot", "", Some(Rank::WholeName)),
            ("tea", "", "", None),
        ] {
            assert_eq!(query(text).rank(name, body), rank, "{text}: {name} / {body}");
        }
        assert!(Rank::WholeName < Rank::Name && Rank::Name < Rank::Text);
    }

    #[test]
    fn values_are_searched_and_names_of_members_are_not() {
        assert_eq!(value_text(r#"{"stage":"Lead","size":12,"tags":["a",null,{"x":true}]}"#), "12\nLead\na\ntrue");
        assert_eq!(value_text("no JSON"), "");
        assert_eq!(value_text(&serde_json::json!(["é".repeat(SEARCH_EVENT_BYTES_MAX)]).to_string()).len(), 65_536);
    }

    proptest::proptest! {
        #[test]
        fn a_text_of_ascii_that_is_found_has_the_stem(
            text in "([a-zA-Z]{1,9}(s|ed|ing)?[ _/.]){1,6}", query in "[a-z]{1,8}(s|ed|ing|\\*)?",
        ) {
            if let Ok(query) = Query::parse(&query)
                && query.rank("", &text).is_some()
                && let Some(stem) = query.stem()
            {
                proptest::prop_assert!(text.to_lowercase().contains(&stem), "{stem}: {text}");
            }
        }
    }
}
