//! How useful the memories were that an agent was given: the request for ratings, ratings, uses that the server sees,
//! labels, and the row from which a ranker learns.

mod block;
mod continuity;
mod label;
mod rating;
mod row;
mod settings;
mod used;
mod worth;

pub use block::{RATE_DESCRIPTION, REQUEST, TOOL_REQUEST, take_ratings};
pub use continuity::{continuity_prompt, continuity_wait, read_continuity};
pub use label::{Signals, Weights, label, weight};
pub use rating::{Rating, Ratings, Refusal, Refused, Source, is_memory_id};
pub use row::{Kind, Row};
pub use settings::{Settings, is_harmful};
pub use used::uses;
pub use worth::{WORTH_FROM, Worth, worth};
