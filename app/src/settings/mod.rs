//! Settings: members, tokens, appearance, keyboard.

mod members;
mod page;
mod tokens;

pub use page::{Props, page};
