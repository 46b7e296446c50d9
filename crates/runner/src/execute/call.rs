//! A tool call, as a model writes it and a tool reads it.

use serde_json::Value;

/// A tool call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// Id of the call, unique in the session.
    pub id: String,
    /// Name of the tool.
    pub name: String,
    /// Input of the call, as the model wrote it.
    pub input: Value,
}
