//! Says when the binary must be built again, which commit it is built from, and how it is linked.

use std::{path::Path, process::Command};

fn main() {
    if std::env::var_os("CARGO_FEATURE_EMBEDDED_SITE").is_some() {
        watch_site();
    }
    println!("cargo::rerun-if-env-changed=SHIFTBOOK_COMMIT");
    for watched in ["../.git/HEAD", "../.git/logs/HEAD"] {
        if Path::new(watched).exists() {
            println!("cargo::rerun-if-changed={watched}");
        }
    }
    let suffix = commit().map(|commit| format!(" ({commit})")).unwrap_or_default();
    println!("cargo::rustc-env=SHIFTBOOK_COMMIT_SUFFIX={suffix}");
    if links_with_lld() {
        // Functions whose machine code is the same are kept once.
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
}

/// Builds the binary again when the site inside it has changed.
fn watch_site() {
    // A path that does not exist would make cargo run this script, and so build the server, every time.
    let site = Path::new("../target/site");
    if !site.is_dir() && std::fs::create_dir_all(site).is_err() {
        println!("cargo::warning=cannot create target/site; the binary will have no styles or scripts");
    }
    println!("cargo::rerun-if-changed=../target/site");
}

/// Where rustc brings its own linker; the others do not know the option. Whoever chose another linker keeps it.
fn links_with_lld() -> bool {
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|found| found == value);
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    is("TARGET", "x86_64-unknown-linux-gnu")
        && is("PROFILE", "release")
        && std::env::var_os("RUSTC_LINKER").is_none()
        && !flags.contains("linker")
        && !flags.contains("fuse-ld")
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
