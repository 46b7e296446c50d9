//! Lints while compiling: one pass finds the lints and builds.

use std::process::Command;

use anyhow::{Result, bail};
use serde_json::Value;

use crate::process::capture;
use crate::progress::say;

/// Variable with the program that cargo calls for crates of this workspace in place of the compiler.
pub const VARIABLE: &str = "RUSTC_WORKSPACE_WRAPPER";
/// Clippy's driver: a compiler that lints.
pub const DRIVER: &str = "clippy-driver";

/// Fails if cargo, which must write its messages as JSON, repeats warnings of a build.
pub fn fail_on_warnings(build: &mut Command) -> Result<()> {
    let messages = capture(build)?;
    let warnings = messages.lines().filter_map(warning).collect::<Vec<_>>();
    if warnings.is_empty() {
        return Ok(());
    }
    for warning in &warnings {
        say(warning);
    }
    bail!("{} warnings", warnings.len())
}

/// The text of a message of cargo, if it is the compiler's and more than a note.
fn warning(line: &str) -> Option<String> {
    let line: Value = serde_json::from_str(line).ok()?;
    let message = line.get("message").filter(|_| line["reason"] == "compiler-message")?;
    let counts = matches!(message["level"].as_str(), Some("warning" | "error"));
    counts.then(|| message["rendered"].as_str().unwrap_or_default().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_of_the_compiler_is_found_among_the_messages_of_cargo() {
        let line = r#"{"reason":"compiler-message","message":{"level":"warning","rendered":"unused"}}"#;
        assert_eq!(warning(line).as_deref(), Some("unused"));
        for other in [
            r#"{"reason":"compiler-message","message":{"level":"note","rendered":"so"}}"#,
            r#"{"reason":"compiler-artifact","message":{"level":"warning"}}"#,
            r#"{"reason":"build-finished","success":true}"#,
        ] {
            assert_eq!(warning(other), None, "{other}");
        }
    }
}
