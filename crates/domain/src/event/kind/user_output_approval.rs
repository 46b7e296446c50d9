//! `user.output_approval`: a decision on an output, on fields or on a memory.

use super::{decision::Decision, payload::same_as};

same_as! {
    /// A decision on an output, on fields or on a memory.
    #[derive(Debug, Clone, PartialEq)]
    OutputApproval(Decision)
}
