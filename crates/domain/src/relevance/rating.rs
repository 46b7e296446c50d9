//! Ratings of memories as they arrive. Each is valid or refused by itself; no text makes all of them invalid.

use crate::limit::MEMORY_RATINGS_MAX;
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::value::RawValue;
use std::fmt;

/// Longest id that is repeated in a report, characters.
const ID_CHARS_MAX: usize = 64;
/// Hexadecimal digits after `mem_`.
const ID_DIGITS: usize = 12;
/// Opening braces at which an object is looked for in a text.
const OBJECTS_TRIED_MAX: usize = 16;
/// Member around ratings in a response of an agent.
const WRAPPER: &str = "memory_feedback";

/// The way by which a rating arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The member `memory_feedback` of a hook's payload.
    Hook,
    /// A call of the API by a program.
    Api,
    /// The tool `rate_memories`.
    Tool,
    /// A block in the agent's answer.
    Answer,
    /// Someone who is signed in.
    Person,
}

impl Source {
    /// All sources.
    pub const ALL: [Self; 5] = [Self::Hook, Self::Api, Self::Tool, Self::Answer, Self::Person];

    /// The stored name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Api => "api",
            Self::Tool => "tool",
            Self::Answer => "answer",
            Self::Person => "person",
        }
    }

    /// Returns the source with this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|source| source.as_str() == name)
    }
}

/// A valid rating.
#[derive(Debug, Clone, PartialEq)]
pub struct Rating {
    /// Id of the memory, as the block has it.
    pub memory_id: String,
    /// From -1 (harmful) to 1 (directly used).
    pub value: f64,
}

/// Why a rating does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Refusal {
    /// The value is not a number.
    NotANumber,
    /// The value is below -1, above 1, or too large for a number.
    OutOfRange,
    /// A later rating of the same object is of the same memory and counts instead.
    Duplicate,
    /// The session was not given a memory with this id.
    NotInjected,
    /// The settings turn ratings by agents off.
    Disabled,
}

impl Refusal {
    /// All reasons.
    pub const ALL: [Self; 5] = [Self::NotANumber, Self::OutOfRange, Self::Duplicate, Self::NotInjected, Self::Disabled];

    /// The name in JSON and in metrics.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotANumber => "not_a_number",
            Self::OutOfRange => "out_of_range",
            Self::Duplicate => "duplicate",
            Self::NotInjected => "not_injected",
            Self::Disabled => "disabled",
        }
    }
}

/// A rating that does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refused {
    /// The id as it was sent, at most 64 characters.
    pub memory_id: String,
    /// Why it does not count.
    pub reason: Refusal,
}

impl Refused {
    /// Reports a rating that does not count.
    pub fn new(memory_id: &str, reason: Refusal) -> Self {
        Self { memory_id: memory_id.chars().take(ID_CHARS_MAX).collect(), reason }
    }
}

/// The ratings of one object.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Ratings {
    /// Those that are valid, at most one of each memory.
    pub accepted: Vec<Rating>,
    /// Those that are not, at most as many as were read.
    pub refused: Vec<Refused>,
    /// Number of members after the first [`MEMORY_RATINGS_MAX`]. They are not read.
    pub not_read: u64,
}

impl Ratings {
    /// Reads the first JSON object of a text. Text around it is ignored. The ratings can be in a member
    /// `memory_feedback` of the object. `None` if the text has no object.
    pub fn read(text: &str) -> Option<Self> {
        let mut begins = text.match_indices('{').take(OBJECTS_TRIED_MAX);
        let members = begins.find_map(|(at, _)| {
            let mut deserializer = serde_json::Deserializer::from_str(text.get(at..)?);
            Members::deserialize(&mut deserializer).ok()
        })?;
        match &members.read[..] {
            [(name, inside)] if name == WRAPPER && inside.get().starts_with('{') => {
                serde_json::from_str(inside.get()).ok().map(Self::of)
            }
            _ => Some(Self::of(members)),
        }
    }

    fn of(members: Members) -> Self {
        let mut ratings = Self { not_read: members.not_read, ..Self::default() };
        for (memory_id, raw) in members.read {
            match value(raw.get()) {
                Ok(value) => ratings.add(Rating { memory_id, value }),
                Err(reason) => ratings.refused.push(Refused::new(&memory_id, reason)),
            }
        }
        ratings
    }

    /// Adds a rating. An earlier one of the same memory does not count any more.
    fn add(&mut self, rating: Rating) {
        if let Some(before) = self.accepted.iter().position(|one| one.memory_id == rating.memory_id) {
            self.accepted.remove(before);
            self.refused.push(Refused::new(&rating.memory_id, Refusal::Duplicate));
        }
        self.accepted.push(rating);
    }

    /// Adds the ratings of another object, which is later.
    pub fn append(&mut self, later: Self) {
        self.refused.extend(later.refused);
        self.not_read += later.not_read;
        for rating in later.accepted {
            self.add(rating);
        }
    }

    /// Ids of all ratings, valid or not.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let refused = self.refused.iter().map(|one| one.memory_id.as_str());
        self.accepted.iter().map(|one| one.memory_id.as_str()).chain(refused)
    }

    /// Whether the object had no members.
    pub fn is_empty(&self) -> bool {
        self.accepted.is_empty() && self.refused.is_empty()
    }
}

/// Whether a text has the form of a memory's id: `mem_` and 12 hexadecimal digits in lower case.
pub fn is_memory_id(text: &str) -> bool {
    let digits = text.strip_prefix("mem_").unwrap_or_default();
    digits.len() == ID_DIGITS && digits.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

/// Reads one score. A number that is too large for a 64-bit float is out of range.
fn value(raw: &str) -> Result<f64, Refusal> {
    let is_number = raw.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    let value = raw.parse::<f64>().ok().filter(|_| is_number).ok_or(Refusal::NotANumber)?;
    if (-1.0..=1.0).contains(&value) { Ok(value + 0.0) } else { Err(Refusal::OutOfRange) }
}

/// The members of an object in their order, with repeated names.
struct Members {
    read: Vec<(String, Box<RawValue>)>,
    not_read: u64,
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = Members { read: Vec::new(), not_read: 0 };
                while members.read.len() < MEMORY_RATINGS_MAX {
                    let Some(member) = map.next_entry()? else { return Ok(members) };
                    members.read.push(member);
                }
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {
                    members.not_read += 1;
                }
                Ok(members)
            }
        }

        deserializer.deserialize_map(Object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Read = (Vec<(String, f64)>, Vec<(String, Refusal)>);

    fn read(text: &str) -> Read {
        let ratings = Ratings::read(text).unwrap();
        (
            ratings.accepted.into_iter().map(|one| (one.memory_id, one.value)).collect(),
            ratings.refused.into_iter().map(|one| (one.memory_id, one.reason)).collect(),
        )
    }

    #[test]
    fn what_is_valid_counts_and_the_rest_is_reported_one_by_one() {
        let (accepted, refused) =
            read(r#"{"a": 0.8, "b": 1.5, "c": "1", "d": null, "e": -1, "a": -0.2, "f": 1e999, "g": {"h": 1}}"#);
        assert_eq!(accepted, [("e".to_owned(), -1.0), ("a".to_owned(), -0.2)]);
        let refused: Vec<_> = refused.iter().map(|(id, why)| (id.as_str(), why.as_str())).collect();
        assert_eq!(
            refused,
            [
                ("b", "out_of_range"),
                ("c", "not_a_number"),
                ("d", "not_a_number"),
                ("a", "duplicate"),
                ("f", "out_of_range"),
                ("g", "not_a_number"),
            ]
        );
    }

    #[test]
    fn an_object_is_found_in_prose_and_in_the_form_of_a_response() {
        for text in [r#"{"a": 1}"#, r#"Sure {here}: {"a": 1} - done {}"#, r#"{"memory_feedback": {"a": 1}}"#] {
            assert_eq!(read(text).0, [("a".to_owned(), 1.0)], "{text}");
        }
        for text in ["", "[]", "0.5", r#"{"a": "#, "{a: 1}"] {
            assert_eq!(Ratings::read(text), None, "{text}");
        }
        assert!(Ratings::read("{}").unwrap().is_empty());
    }

    #[test]
    fn more_members_than_the_limit_are_counted_and_not_read() {
        let many: Vec<String> = (0..MEMORY_RATINGS_MAX + 7).map(|at| format!("\"m{at}\": 0")).collect();
        let ratings = Ratings::read(&format!("{{{}}}", many.join(","))).unwrap();
        assert_eq!((ratings.accepted.len(), ratings.not_read), (MEMORY_RATINGS_MAX, 7));
    }

    #[test]
    fn a_long_id_is_cut_in_the_report() {
        let ratings = Ratings::read(&format!("{{\"{}\": 2}}", "é".repeat(500))).unwrap();
        assert_eq!(ratings.refused[0].memory_id, "é".repeat(ID_CHARS_MAX));
    }

    #[test]
    fn ids_of_memories_have_one_form() {
        assert!(is_memory_id("mem_0123456789ab"));
        for other in ["mem_0123456789AB", "mem_0123456789a", "mem_0123456789abc", "0123456789ab", "mem_éééééé", ""]
        {
            assert!(!is_memory_id(other), "{other}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_is_a_panic_and_each_value_is_in_range(text in "(\\{|\\}|\"a\"|:|,|1|-|\\.|e|9| |é){0,24}") {
            for rating in Ratings::read(&text).unwrap_or_default().accepted {
                proptest::prop_assert!((-1.0..=1.0).contains(&rating.value));
            }
        }
    }
}
