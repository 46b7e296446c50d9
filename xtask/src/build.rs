//! `cargo xtask build`: builds the site and then one release binary with the site inside. Also the build of the tests:
//! the same programs with debug assertions and without optimisation.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, anyhow};

use crate::lint::{self, fail_on_warnings};
use crate::process::run;
use crate::progress::{announced, say};
use crate::workspace::{cargo, target};

/// Packages and features of the tests. With any other choice cargo would compile half of the dependencies again.
pub const TESTED: [&str; 5] = ["--workspace", "--exclude", "frontend", "--features", "app/ssr,server/cheap-passwords"];

/// The build that a program is taken from.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Build {
    /// The binary that ships.
    Release,
    /// The server of `cargo xtask run`: compiled without optimisation, without a site inside and without jemalloc.
    First,
    /// With debug assertions and checked arithmetic, compiled together with the tests.
    Tests,
}

impl Build {
    fn folder(self) -> &'static str {
        match self {
            Build::Release => "release",
            Build::First => "first",
            Build::Tests => "debug",
        }
    }

    /// The server, with the site inside unless it is [`Build::First`].
    pub fn shiftbook(self) -> PathBuf {
        self.program("shiftbook")
    }

    pub fn program(self, name: &str) -> PathBuf {
        target(self.folder()).join(name)
    }
}

/// The release binary.
pub fn build() -> Result<()> {
    crate::site::build(crate::site::SHIPPED)?;
    announced("compile the server", || run(cargo().args(["build", "--release", "--package", "server"])))?;
    say("    target/release/shiftbook is ready");
    Ok(())
}

/// Builds the site and the server of `cargo xtask run` at the same time: each leaves a core idle at its end.
pub fn build_first() -> Result<()> {
    let server = || {
        let mut build = cargo();
        build.args([
            "build",
            "--package",
            "server",
            "--profile",
            "first",
            "--no-default-features",
            "--features",
            "tls",
        ]);
        announced("compile the server", || run(&mut build))
    };
    let (site, server) = std::thread::scope(|threads| {
        let site = threads.spawn(|| {
            // The server's last crates compile one after the other. The site takes what they leave of the processors:
            // on Linux a nice value is a thread's own, and the processes that it starts inherit it.
            let _ = rustix::process::nice(10);
            crate::site::build(crate::site::FIRST)
        });
        let server = server();
        (site.join(), server)
    });
    site.map_err(|_| anyhow!("the build of the site panicked"))??;
    server
}

/// Cargo with clippy's driver as the compiler of this workspace's crates. One pass finds the lints and builds the
/// tests; `cargo clippy` would check all dependencies a second time. Every call that reuses these artifacts must use
/// it. Continuous integration compiles once, so it writes neither what a second build would reuse nor line tables: a
/// panic names its line without them.
pub fn checked_cargo() -> Command {
    let mut cargo = cargo();
    cargo.env(lint::VARIABLE, lint::DRIVER);
    if std::env::var_os("CI").is_some() {
        cargo.env("CARGO_INCREMENTAL", "0").env("CARGO_PROFILE_DEV_DEBUG", "none");
    }
    cargo
}

/// The tests, and all programs with the options of the tests.
pub fn build_tests() -> Result<()> {
    run(checked_cargo().args(["build", "--all-targets"]).args(TESTED))
}

/// Fails if the compiler or clippy warned during [`build_tests`]; cargo repeats the messages.
pub fn check_warnings() -> Result<()> {
    fail_on_warnings(checked_cargo().args(["build", "--all-targets", "--message-format", "json"]).args(TESTED))
}
