//! The insights page: ratings, outcomes, decisions, waiting times and cost; and which memories help.

pub(crate) mod chart;
mod figure_text;
mod memory;
mod page;
mod section;
mod table;

pub use memory::{MemoryFigure, MemoryProps, RankerFigure, memory_page};
pub use page::{Props, Task, WINDOWS, page};
pub(crate) use page::{RATINGS_UNREAD, cost_sentence, cut_notice, tokens_sentence, unread_notice};
