//! Insights: did it help, what was decided, how long did agents wait, what did it cost.

mod chart;
mod page;
mod section;
mod table;

pub use page::{Props, WINDOWS, page};
