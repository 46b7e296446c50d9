//! The form for a value of any JSON Schema: which controls it has, what they hold for a value, and the value that they
//! hold.
//!
//! The controls follow from the schema and from what the form holds: how many rows a list has, and which variant is
//! chosen. A schema that refers to itself is drawn as deep as the value is. What no controls can hold is typed as JSON:
//! a part without a type, a part below the deepest level, and a value that does not fit its schema. Whether a value is
//! valid is checked when it is used, not here.
//!
//! Names of controls: a [`Form`] names the whole value, and each level adds a point and a key or the number of a row,
//! such as `input.address.0.street`. A part that begins with `~` is about the level itself; see [`Mark`].

mod begin;
mod choice;
mod draw;
mod fields;
mod fit;
mod form;
mod place;
mod press;
mod read;
mod shape;
mod variant;

pub use begin::{begin, write};
pub use choice::Choice;
pub use draw::{Entry, Node, NodeKind, draw};
pub use fields::{Fields, Mark, mark};
pub use form::{Form, INPUT};
pub use place::{place, place_of_path};
pub use press::press;
pub use read::{read, read_so_far};
pub use shape::{Control, Why};

#[cfg(test)]
mod tests;
