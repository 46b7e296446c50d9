//! P-30: outbound calls cannot reach inside. One binary; each file is a chapter.

#![allow(clippy::unwrap_used, reason = "a panic is how a test says no")]

mod exchange;
mod inside;
mod support;
