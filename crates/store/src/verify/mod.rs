//! Reads for a verification across workspaces, and the roll of sessions that it compares them with.

mod gates;
mod read;
pub mod roll;
mod values;

pub use gates::impossible_gates;
pub use read::{Listed, file, sessions};
pub use values::{unknown, unknown_of_events};

pub(crate) use read::check_file;
pub(crate) use values::statements;

use crate::engine::Texts;

pub(crate) const SQL: &[Texts] = &[gates::SQL, read::SQL, roll::SQL];
