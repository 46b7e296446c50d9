//! Settings: members, tokens, appearance, keyboard.

mod approvals;
mod groups;
mod members;
mod page;
mod tokens;

pub use page::{Props, page};
