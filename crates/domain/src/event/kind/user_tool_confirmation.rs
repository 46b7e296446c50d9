//! `user.tool_confirmation`: a decision on a tool call.

use super::{decision::Decision, payload::same_as};

same_as! {
    /// A decision on a tool call.
    #[derive(Debug, Clone, PartialEq)]
    ToolConfirmation(Decision)
}
