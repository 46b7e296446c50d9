//! Says when the binary must be built again, and which commit it is built from.

use std::{path::Path, process::Command};

fn main() {
    // A path that does not exist would make cargo run this script, and so build the server, every time.
    let site = Path::new("../target/site");
    if !site.is_dir() && std::fs::create_dir_all(site).is_err() {
        println!("cargo::warning=cannot create target/site; the binary will have no styles or scripts");
    }
    println!("cargo::rerun-if-changed=../target/site");
    println!("cargo::rerun-if-changed=../migrations");
    println!("cargo::rerun-if-env-changed=SHIFTBOOK_COMMIT");
    for watched in ["../.git/HEAD", "../.git/logs/HEAD"] {
        if Path::new(watched).exists() {
            println!("cargo::rerun-if-changed={watched}");
        }
    }
    let suffix = commit().map(|commit| format!(" ({commit})")).unwrap_or_default();
    println!("cargo::rustc-env=SHIFTBOOK_COMMIT_SUFFIX={suffix}");
}

/// The commit of this checkout; unknown in a source archive unless the packager says it.
fn commit() -> Option<String> {
    if let Ok(given) = std::env::var("SHIFTBOOK_COMMIT")
        && !given.is_empty()
    {
        return Some(given);
    }
    let output = Command::new("git").args(["rev-parse", "--short=12", "HEAD"]).output().ok()?;
    let commit = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !commit.is_empty()).then_some(commit)
}
