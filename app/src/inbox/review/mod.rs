//! The pages /inbox/review and /inbox/review/result: alike items as a table that is decided together, and what became
//! of each item.
//!
//! Items that differ from the others, or that have a flag, are a table of their own, and none of them is selected at
//! the start.

mod cell;
mod edit;
mod figures;
mod outcome;
mod page;
mod sort;
mod table;

pub use edit::{cell_of, edited_cells, refreshed, typed_changes, with_edits};
pub use figures::confirm_words;
pub use outcome::{Outcome, ResultProps, result_page};
pub use page::{FORM, Props, page};
pub use sort::Sort;
pub use table::{ARRANGE, arranged};
