//! Changes of the blocks of a canvas, as a person makes them in an editor: operations, and where the cursor goes.
//!
//! Everything here is a function of the shown document. A change is applied by [`Client::edit`](super::Client::edit)
//! and travels as one patch, so that one undo takes it back.

mod block;
mod caret;
mod cells;
mod list;
mod paste;
mod spot;
mod table;
#[cfg(test)]
mod tests;
mod text;

pub use block::{Kind, Shift, indented, inserted, moved, new_block, placed_before, retyped, taken_out, tick};
pub use caret::{around, position_after, units};
pub use cells::cells_pasted;
pub use paste::{contents, pasted, rows_of, tabbed};
pub use spot::{Spot, Way, beside, kinds, read_block, spots};
pub use table::{column_added, column_name, column_removed, row_added, row_removed};
pub use text::{joined, split};

use super::operation::Operation;

/// Makes an id for a new block or item. It is random, so that two people never make the same one.
pub type NewId<'a> = &'a mut dyn FnMut() -> String;

/// A change, and where the cursor is afterwards.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Edit {
    /// The operations, in order.
    pub ops: Vec<Operation>,
    /// The place of the cursor; `None` if it stays where it is.
    pub focus: Option<Focus>,
}

/// A place of the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Focus {
    /// The text with the cursor.
    pub spot: Spot,
    /// Position in that text, in UTF-16 code units, as browsers count.
    pub at: usize,
}

impl Edit {
    /// A change after which the cursor stays where it is.
    const fn of(ops: Vec<Operation>) -> Self {
        Self { ops, focus: None }
    }

    /// The change with the cursor at this place.
    fn then(self, spot: Spot, at: usize) -> Self {
        Self { focus: Some(Focus { spot, at }), ..self }
    }
}
