//! Says when the binary must be built again, which commit it is built from, and how it is linked.

use std::{path::Path, process::Command};

/// Folder of the site, from this package.
const SITE: &str = "../target/site";

fn main() {
    if std::env::var_os("CARGO_FEATURE_EMBEDDED_SITE").is_some() {
        make_site_folder();
        // A build for debugging reads the site from that folder while it runs.
        if is_env("PROFILE", "release") {
            println!("cargo::rerun-if-changed={SITE}");
        }
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
        // Addresses that the loader adjusts take a bit each instead of 24 bytes.
        if libc_reads_packed_relocations() {
            println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
        }
    }
}

/// Makes the folder of the site. A path that does not exist would make cargo run this script, and so build the server,
/// every time, and a build for debugging would not find what is written there later.
fn make_site_folder() {
    let site = Path::new(SITE);
    if !site.is_dir() && std::fs::create_dir_all(site).is_err() {
        println!("cargo::warning=cannot create target/site; the binary will have no styles or scripts");
    }
}

/// Where rustc brings its own linker; the others do not know the option. Whoever chose another linker keeps it.
fn links_with_lld() -> bool {
    let flags = std::env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    is_env("TARGET", "x86_64-unknown-linux-gnu")
        && is_env("PROFILE", "release")
        && std::env::var_os("RUSTC_LINKER").is_none()
        && !flags.contains("linker")
        && !flags.contains("fuse-ld")
}

fn is_env(name: &str, value: &str) -> bool {
    std::env::var(name).is_ok_and(|found| found == value)
}

/// Whether the C library of this machine is glibc 2.36 or newer. A binary with packed relocations does not start with
/// an older one, so whoever builds for older systems builds on one.
fn libc_reads_packed_relocations() -> bool {
    let Ok(output) = Command::new("getconf").arg("GNU_LIBC_VERSION").output() else { return false };
    let text = String::from_utf8_lossy(&output.stdout);
    let version = text.trim().strip_prefix("glibc ").and_then(|version| version.split_once('.'));
    let number = |text: &str| text.parse::<u32>().ok();
    version.and_then(|(major, minor)| Some((number(major)?, number(minor)?))).is_some_and(|found| found >= (2, 36))
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
