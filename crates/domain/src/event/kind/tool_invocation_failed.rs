//! `tool.invocation_failed`: a call of a tool failed.

use super::{invocation::Invocation, payload::same_as};

same_as! {
    /// A call of a tool failed.
    #[derive(Debug, Clone, Default, PartialEq)]
    InvocationFailed(Invocation)
}
