//! Tools of the kind `http`: how a call is described, made from an input, and how its answer is recorded.
//!
//! The address and the headers are texts with placeholders:
//!
//! | Text | Replaced by | Where |
//! |---|---|---|
//! | `{name}` | a top-level field of the input: a text, number or truth value | path and query of the address, headers |
//! | `{secret:NAME}` | a secret of the tool | headers |
//! | `{{`, `}}` | one brace | headers |
//! | `{/pointer}` as a whole string | the value at this JSON Pointer of the input | JSON template of the body |
//!
//! A pair of the query, a header and a member of the body are left out if the input has no value for them, or `null`.
//! The address is not checked against networks here; the crate `outbound` does that when it connects.

mod answer;
mod check;
mod encode;
mod redact;
mod render;
mod template;

pub use answer::{Answer, answer};
pub(crate) use answer::{beginning, depth};
pub use check::{check, secret_names};
pub use redact::{REDACTED, Secrets};
pub use render::{Request, Unsendable, render};
