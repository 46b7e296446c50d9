//! Tools: calls that people, programs and agents make by name, with an input that a JSON Schema describes. Their
//! definitions, who may run them, and the rules of both.

mod audience;
mod change;
mod check;
pub mod composition;
mod definition;
pub mod draft;
pub mod http;
mod json_template;
mod name;
pub mod parts;
mod possible;
pub mod run;
mod run_state;
mod secret;
mod steps;

pub use crate::publishing::State;
pub use audience::Audience;
pub use change::Change;
pub use check::check_definition;
pub use definition::{Body, Definition, HttpCall, Implementation, Kind, McpCall, Method};
pub use name::{is_mcp_tool_name, is_secret_name, is_tool_slug};
pub use possible::{Kinds, kinds_at, named_parts};
pub use run_state::RunState;
pub use secret::Secret;
pub use steps::{Composite, OnFailure, Step};
