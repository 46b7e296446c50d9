//! `tool.invocation_completed`: a call of a tool is done.

use super::{invocation::Invocation, payload::same_as};

same_as! {
    /// A call of a tool is done.
    #[derive(Debug, Clone, Default, PartialEq)]
    InvocationCompleted(Invocation)
}
