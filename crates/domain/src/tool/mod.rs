//! Tools: calls that people, programs and agents make by name, with an input that a JSON Schema describes. Their
//! definitions, who may run them, and the rules of both.

mod audience;
mod change;
mod check;
mod definition;
pub mod http;
mod name;
pub mod run;
mod secret;

pub use crate::publishing::State;
pub use audience::Audience;
pub use change::Change;
pub use check::check_definition;
pub use definition::{Body, Definition, HttpCall, Implementation, Kind, Method};
pub use name::{is_secret_name, is_tool_slug};
pub use secret::Secret;
