//! Finds or installs the standard library for wasm32:
//! 1. the toolchain's own, or the one that `rustup target add` installs;
//! 2. if rustup's server cannot be reached, on Debian: the packages `rustc-web` and `rust-web-src`, from whose source
//!    the library is built into a sysroot below `target/` (`SHIFTBOOK_WASM_RUSTC` names another compiler that has its
//!    source beside it);
//! 3. otherwise one error message that names both.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::lint;
use crate::process::{capture, run_quietly};
use crate::progress::{quiet, say};
use crate::workspace::{cargo, command, find_program, is_root, target};

pub const TARGET: &str = "wasm32-unknown-unknown";
const RUSTUP_SECONDS_MAX: u64 = 60;
/// File that names the compiler of the sysroot.
const SYSROOT_STAMP: &str = "wasm-sysroot/built-by";
/// Where Debian's `rustc-web` puts its compiler.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";

/// The compiler for wasm32.
pub enum Compiler {
    /// The compiler of the rest of the workspace.
    Default,
    /// Debian's, with a sysroot of our own and a linker from wherever there is one.
    Debian { rustc: PathBuf, sysroot: PathBuf, linker: PathBuf },
}

impl Compiler {
    /// A cargo that compiles with it, into a target directory of its own: alternating with the server's
    /// build in one directory would rebuild what they share.
    pub fn cargo(&self) -> Command {
        let mut cargo = cargo();
        cargo.env("CARGO_TARGET_DIR", target("wasm"));
        if let Compiler::Debian { rustc, sysroot, linker } = self {
            // With --target, RUSTFLAGS do not reach build scripts and macros: those use Debian's own sysroot.
            cargo
                .env("RUSTC", rustc)
                .env("RUSTFLAGS", format!("--sysroot={}", sysroot.display()))
                .env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
        cargo
    }

    /// The same, with clippy's driver as the compiler of this workspace's crates: one pass finds the lints and builds.
    /// Clippy belongs to its toolchain, so with Debian's compiler only rustc's own warnings are found.
    pub fn linting_cargo(&self) -> Command {
        let mut cargo = self.cargo();
        match self {
            Compiler::Default => drop(cargo.env(lint::VARIABLE, lint::DRIVER)),
            Compiler::Debian { .. } => say("    clippy cannot use Debian's standard library: compiling without it"),
        }
        cargo
    }

    /// Version of the compiler, part of the fingerprint of a build.
    pub fn version(&self) -> Result<String> {
        match self {
            Compiler::Default => capture(command("rustc").arg("-vV")),
            Compiler::Debian { rustc, .. } => capture(command(rustc).arg("-vV")),
        }
    }
}

/// Finds a compiler with a wasm32 standard library, or gets one.
pub fn ensure() -> Result<Compiler> {
    if has_standard_library() {
        return Ok(Compiler::Default);
    }
    // A sysroot of an earlier run is used first: rustup may take a minute to fail.
    if target(SYSROOT_STAMP).is_file() {
        return debian();
    }
    if find_program("rustup").is_some() {
        let limit = Some(Duration::from_secs(RUSTUP_SECONDS_MAX));
        let added = quiet("rustup target add wasm32-unknown-unknown", || {
            run_quietly(command("rustup").args(["target", "add", TARGET]), limit)
        });
        match added {
            Ok(()) if has_standard_library() => return Ok(Compiler::Default),
            Ok(()) => say("    rustup's wasm32 target belongs to another toolchain than the cargo in use"),
            Err(error) => say(&format!("    {error}")),
        }
    }
    debian().context(
        "there is no standard library for wasm32-unknown-unknown: run `rustup target add wasm32-unknown-unknown` \
         where rustup's server can be reached, or, on Debian, `apt-get install rustc-web rust-web-src lld-22`",
    )
}

/// Holds for rustup's toolchains and for distributions that package the target alike.
fn has_standard_library() -> bool {
    let libraries = capture(command("rustc").args(["--print", "target-libdir", "--target", TARGET]));
    libraries.is_ok_and(|dir| has_core(Path::new(&dir)))
}

fn has_core(libraries: &Path) -> bool {
    std::fs::read_dir(libraries)
        .is_ok_and(|entries| entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libcore-")))
}

fn debian() -> Result<Compiler> {
    let rustc = std::env::var_os("SHIFTBOOK_WASM_RUSTC").map_or_else(|| PathBuf::from(DEBIAN_RUSTC), PathBuf::from);
    if library_source(&rustc).is_err() {
        if !is_root() || find_program("apt-get").is_none() {
            bail!("neither rustup nor Debian's rustc-web can be used here");
        }
        quiet("apt-get install rustc-web rust-web-src", || {
            crate::prerequisites::apt_get_install(&["rustc-web", "rust-web-src"])
        })?;
        library_source(&rustc)?;
    }
    let sysroot = target("wasm-sysroot");
    let stamp = target(SYSROOT_STAMP);
    let version = capture(command(&rustc).arg("-vV"))?;
    if std::fs::read_to_string(&stamp).ok().as_deref() != Some(version.as_str()) {
        quiet("build the standard library for wasm32", || build_standard_library(&rustc, &sysroot))?;
        std::fs::write(&stamp, version)?;
    }
    Ok(Compiler::Debian { linker: linker()?, rustc, sysroot })
}

/// Where the source of the standard library lies that belongs to this compiler.
fn library_source(rustc: &Path) -> Result<PathBuf> {
    let own = capture(command(rustc).args(["--print", "sysroot"]))?;
    let source = Path::new(&own).join("lib/rustlib/src/rust/library");
    if !source.join("std").is_dir() {
        bail!("{} has no source of the standard library beside it", rustc.display());
    }
    Ok(source)
}

/// Builds std with an empty crate outside of the workspace and collects the result.
fn build_standard_library(rustc: &Path, sysroot: &Path) -> Result<()> {
    let empty = tempfile::tempdir()?;
    std::fs::create_dir(empty.path().join("src"))?;
    std::fs::write(empty.path().join("src/lib.rs"), "")?;
    std::fs::write(
        empty.path().join("Cargo.toml"),
        "[package]\nname = \"nothing\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n",
    )?;
    let mut cargo = cargo();
    cargo
        .current_dir(empty.path())
        .env("RUSTC", rustc)
        // build-std is unstable; this is the one place that needs it.
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", empty.path().join("target"))
        .args(["build", "--release", "--target", TARGET, "-Z", "build-std=std,panic_abort,proc_macro"]);
    run_quietly(&mut cargo, None)?;

    let libraries = sysroot.join("lib/rustlib").join(TARGET).join("lib");
    if libraries.exists() {
        std::fs::remove_dir_all(&libraries)?;
    }
    std::fs::create_dir_all(&libraries)?;
    let built = empty.path().join("target").join(TARGET).join("release/deps");
    for entry in std::fs::read_dir(built)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".rlib") && !name.starts_with("libnothing-") {
            std::fs::copy(entry.path(), libraries.join(name))?;
        }
    }
    if !has_core(&libraries) {
        bail!("the build of the standard library left no libcore behind");
    }
    Ok(())
}

/// rustup's toolchains carry a linker for WebAssembly; Debian's `lld-NN` is the other source.
fn linker() -> Result<PathBuf> {
    if let Some(found) = find_linker() {
        return Ok(found);
    }
    if is_root() && find_program("apt-get").is_some() {
        quiet("apt-get install lld-22", || crate::prerequisites::apt_get_install(&["lld-22"]))?;
    }
    find_linker().context("no linker for WebAssembly: install Debian's lld-22 (the plain lld is too old)")
}

fn find_linker() -> Option<PathBuf> {
    let host = capture(command("rustc").args(["--print", "host-tuple"])).ok()?;
    let sysroot = capture(command("rustc").args(["--print", "sysroot"])).ok()?;
    let bundled = Path::new(&sysroot).join("lib/rustlib").join(host).join("bin/rust-lld");
    if bundled.is_file() {
        return Some(bundled);
    }
    (20..40).rev().find_map(|major| find_program(&format!("wasm-ld-{major}")))
}
