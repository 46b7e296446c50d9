//! Views: published input forms. Their fields, the answers to them, their JSON Schema and how they are published.

mod answer;
mod check;
mod field;
mod instant;
mod name;
mod ordered;
mod publish;
mod read_field;
mod schema;
mod text;
mod value;

pub use crate::publishing::State;
pub use answer::{Answers, applicable, check_answers, check_draft};
pub use check::{check_fields, defaults};
pub use field::{Choice, Condition, Field, Kind, Test};
pub use instant::{OFFSETS, UTC, ZONE, join_instant, split_instant};
pub use name::is_view_slug;
pub use publish::{Availability, Gate, Publication, Responses, check_publication, is_authority};
pub use schema::{FormSchema, to_schema};
pub use text::{display_text, from_form, prefill};
pub use value::is_day;
