//! The insights page: ratings, outcomes, decisions, waiting times and cost.

pub(crate) mod chart;
mod figure_text;
mod page;
mod section;
mod table;

pub use page::{Props, WINDOWS, page};
pub(crate) use page::{RATINGS_UNREAD, cost_sentence, cut_notice, tokens_sentence, unread_notice};
