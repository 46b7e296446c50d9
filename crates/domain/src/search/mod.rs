//! Full text search over events: which text of an event is searched, its words, the language of searches, and the part
//! of a text that is shown.
//!
//! The index of either engine is made from [`EventWords`]. The words of a search are a [`Query`]. Both are pure
//! functions of their input, so that an entry of the index can be computed again to take it out.
//!
//! A [`Phrase`] is looked for in one log as it is written, without an index.
//!
//! Records other than events, such as tasks, have a name and a text. [`Query::rank`] says whether a search finds one,
//! and in which order.
//!
//! A [`Line`] is what people type: conditions on fields of sessions, such as `agent:scout cost>0.5`, and words.

mod ending;
mod field;
mod line;
mod name;
mod phrase;
mod query;
mod record;
mod snippet;
mod text;
mod value;
mod word;

pub use field::{BadField, Field};
pub use line::{Condition, Line, Test, Words};
pub use name::{WordRange, name_words};
pub use phrase::{BadPhrase, Phrase};
pub use query::{BadQuery, Problem, Query, Unit};
pub use record::{Kind, Rank, value_text};
pub use snippet::{Piece, phrase_snippet, snippet};
pub use text::{is_searched, logged_text, searched_text};
pub use value::{Comparison, Day, Duration, Measure, Usd};
pub use word::EventWords;

/// Number of the rule by which text and words are made. An index that another rule made is made anew, because its
/// entries could not be computed again.
pub const RULE: u32 = 1;
