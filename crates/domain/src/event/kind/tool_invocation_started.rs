//! `tool.invocation_started`: a call of a tool started.

use super::{invocation::Invocation, payload::same_as};

same_as! {
    /// A call of a tool started.
    #[derive(Debug, Clone, Default, PartialEq)]
    InvocationStarted(Invocation)
}
