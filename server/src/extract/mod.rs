//! Extractors that refuse a request with a precise problem instead of axum's plain text.

mod agent;
mod caller;
mod id;
mod json;
mod params;
mod text;
mod tool;

pub use agent::AgentSlug;
pub use caller::{Caller, identify, unauthenticated};
pub use id::Id;
pub use json::{HookBody, JsonBody, JsonBodyOrDefault, parse_json};
pub use params::{Limit, PageQuery, Params, Sequence, checked_limit, id as query_id};
pub use text::{BundleBody, CardBody, CsvBody};
pub use tool::{InputName, McpServerSlug, NewSecretName, SecretName, ToolSlug};

/// Returns the field that a serde error is about: its path, with the name that is missing or unknown there.
fn field_of(path: &serde_path_to_error::Path, message: &str) -> String {
    let path = match path.to_string() {
        root if root == "." => String::new(),
        path => path,
    };
    match named_field(message) {
        None if path.is_empty() => "body".to_owned(),
        None => path,
        Some(name) if path.is_empty() => name.to_owned(),
        Some(name) if path == name || path.ends_with(&format!(".{name}")) => path,
        Some(name) => format!("{path}.{name}"),
    }
}

/// The field that the message of a serde error begins with, if it is missing, unknown or sent twice.
pub fn named_field(message: &str) -> Option<&str> {
    let starts = ["unknown field `", "missing field `", "duplicate field `"];
    let rest = starts.into_iter().find_map(|start| message.strip_prefix(start))?;
    rest.split_once('`').map(|(name, _)| name)
}

/// Removes the position from an error message, because the field says where the error is.
fn without_position(message: &str) -> String {
    message.rsplit_once(" at line ").map_or(message, |(text, _)| text).to_owned()
}
