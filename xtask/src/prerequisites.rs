//! Installs what the tests need besides Rust, or says in one sentence what is missing.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::process::{run, run_quietly};
use crate::progress::{quiet, say};
use crate::workspace::{command, find_program, is_root, root, target};

struct Prerequisite {
    what: &'static str,
    present: fn() -> bool,
    debian: &'static [&'static str],
}

const NODE: &str = "Node.js with npm";
/// Compiler of a reference's wire format, needed by `cargo xtask bench` only.
const PROTOC: Prerequisite = Prerequisite {
    what: "the compiler of protocol buffers",
    present: || find_program("protoc").is_some(),
    debian: &["protobuf-compiler"],
};
/// Packages of Debian, and their programs in `/usr/bin`.
const HEADLESS_SHELL: &str = "chromium-headless-shell";
const CHROMIUM: &str = "chromium";
const INSTALL_HEADLESS_SHELL: &str = "apt-get install chromium-headless-shell";
const PREREQUISITES: [Prerequisite; 4] = [
    Prerequisite { what: NODE, present: has_node, debian: &["nodejs", "npm"] },
    Prerequisite { what: "PostgreSQL 15 or newer", present: crate::postgres::is_installed, debian: &["postgresql"] },
    Prerequisite { what: "Python 3 with venv", present: has_python, debian: &["python3", "python3-venv"] },
    Prerequisite { what: "curl", present: || find_program("curl").is_some(), debian: &["curl"] },
];

fn has_node() -> bool {
    find_program("node").is_some() && find_program("npm").is_some()
}

fn has_python() -> bool {
    let mut probe = command("python3");
    probe.args(["-c", "import venv, ensurepip"]);
    find_program("python3").is_some() && run_quietly(&mut probe, None).is_ok()
}

pub fn ensure() -> Result<()> {
    system_packages(PREREQUISITES.iter())?;
    npm_packages(&root().join("end2end"))?;
    chromium()?;
    python_packages()
}

/// Installs the npm packages that `cargo xtask bench` compares with, and returns their folder.
pub fn bench_references() -> Result<PathBuf> {
    system_packages(PREREQUISITES.iter().filter(|need| need.what == NODE))?;
    let folder = root().join("crates/bench/reference");
    npm_packages(&folder)?;
    Ok(folder)
}

/// Packages among the coding hosts whose program is put in place by a script. The other scripts are not run: that of
/// OpenClaw refuses a Node.js that is older than its own, which is among the packages.
const WITH_SCRIPT: [&str; 3] = ["@anthropic-ai/claude-code", "node", "opencode-ai"];

/// Installs the coding hosts that `cargo xtask test --only hosts` runs, at the versions of their list, and returns the
/// folder with `node_modules`.
pub fn coding_hosts() -> Result<PathBuf> {
    system_packages(PREREQUISITES.iter().filter(|need| need.what == NODE))?;
    let (list, folder) = (root().join("server/connectors/package.json"), target("hosts"));
    let wanted = std::fs::read_to_string(list)?;
    let stamp = folder.join("node_modules/.installed-from");
    if std::fs::read_to_string(&stamp).ok().as_ref() == Some(&wanted) {
        return Ok(folder);
    }
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("package.json"), &wanted)?;
    quiet("install the coding hosts (2 GB)", || {
        let mut npm = command("npm");
        npm.current_dir(&folder).args(["install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"]);
        run_quietly(&mut npm, None)?;
        run_quietly(command("npm").current_dir(&folder).arg("rebuild").args(WITH_SCRIPT), None)
    })?;
    std::fs::write(stamp, wanted)?;
    Ok(folder)
}

/// Installs the compiler of protocol buffers, which a Rust reference of `cargo xtask bench` needs.
pub fn protoc() -> Result<()> {
    system_packages([&PROTOC].into_iter())
}

fn system_packages<'a>(needs: impl Iterator<Item = &'a Prerequisite>) -> Result<()> {
    let missing: Vec<&Prerequisite> = needs.filter(|need| !(need.present)()).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let packages: Vec<&str> = missing.iter().flat_map(|need| need.debian.iter().copied()).collect();
    let names: Vec<&str> = missing.iter().map(|need| need.what).collect();
    if !may_install() {
        bail!("missing: {} (on Debian: apt-get install {})", names.join(", "), packages.join(" "));
    }
    quiet(&format!("apt-get install {}", packages.join(" ")), || apt_get_install(&packages))
}

fn may_install() -> bool {
    is_root() && find_program("apt-get").is_some()
}

/// Installs Debian packages; the lists are refreshed only when they turn out to be too old or absent.
pub fn apt_get_install(packages: &[&str]) -> Result<()> {
    let install = || {
        let mut apt = command("apt-get");
        apt.env("DEBIAN_FRONTEND", "noninteractive").args(["install", "--yes", "--no-install-recommends"]);
        apt.args(packages);
        apt
    };
    if run_quietly(&mut install(), None).is_ok() {
        return Ok(());
    }
    run_quietly(command("apt-get").arg("update"), None)?;
    run_quietly(&mut install(), None)
}

/// `npm ci`, unless what is installed is what the lock file says.
fn npm_packages(folder: &Path) -> Result<()> {
    let stamp = folder.join("node_modules/.installed-from");
    let lock = std::fs::read_to_string(folder.join("package-lock.json"))?;
    if std::fs::read_to_string(&stamp).ok().as_ref() == Some(&lock) {
        return Ok(());
    }
    quiet("npm ci", || {
        let mut npm = command("npm");
        npm.current_dir(folder).env("PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD", "1");
        run_quietly(npm.args(["ci", "--no-audit", "--no-fund"]), None)
    })?;
    Ok(std::fs::write(stamp, lock)?)
}

/// A browser of the system's where there is one, because Playwright's own cannot be downloaded on closed networks. The
/// build without windows is preferred: pages open several times faster in it. `end2end/playwright.config.ts` has the
/// same order.
fn chromium() -> Result<()> {
    let is_there = |name: &str| Path::new("/usr/bin").join(name).is_file();
    if is_there(HEADLESS_SHELL) {
        return Ok(());
    }
    // Older releases of Debian have no such package, and without a network each attempt takes long: one is enough.
    let failed = target("no-headless-shell");
    if may_install() && !(failed.is_file() && is_there(CHROMIUM)) {
        if quiet(INSTALL_HEADLESS_SHELL, || apt_get_install(&[HEADLESS_SHELL])).is_ok() {
            return Ok(());
        }
        std::fs::create_dir_all(target(""))?;
        std::fs::write(failed, "")?;
    }
    if is_there(CHROMIUM) {
        return Ok(());
    }
    if may_install() {
        return quiet("apt-get install chromium", || apt_get_install(&[CHROMIUM]));
    }
    let mut install = command(root().join("end2end/node_modules/.bin/playwright"));
    install.current_dir(root().join("end2end")).args(["install", "chromium"]);
    if run(&mut install).is_err() {
        bail!("Chromium is missing, and Playwright could not download its own: install the package {HEADLESS_SHELL}");
    }
    Ok(())
}

/// The Python that runs examples: a virtual environment below `target/` with what `examples/requirements.txt` names.
pub fn example_python() -> PathBuf {
    let own = target("python/bin/python3");
    if own.is_file() { own } else { "python3".into() }
}

/// Path of Schemathesis. It has a virtual environment of its own, because its requirements and those of the examples
/// are pinned separately.
pub fn schemathesis_program() -> PathBuf {
    target("schemathesis/bin/schemathesis")
}

/// The Python that has TRL. It is installed when it is asked for, because only one long check needs it.
pub fn trl_python() -> Result<PathBuf> {
    python_environment("trl", "xtask/trl/requirements.txt", &["--no-deps"], "install TRL")?;
    Ok(target("trl/bin/python3"))
}

/// The Python that has a sentence encoder with its weights. Only one long check needs it.
pub fn embedding_python() -> Result<PathBuf> {
    let requirements = "crates/bench/embedding/requirements.txt";
    python_environment("embedding", requirements, &[], "install the sentence encoder (150 MB)")?;
    Ok(target("embedding/bin/python3"))
}

fn python_packages() -> Result<()> {
    python_environment("python", "examples/requirements.txt", &[], "install the Python packages of the examples")?;
    python_environment("schemathesis", "xtask/schemathesis/requirements.txt", &[], "install Schemathesis")
}

/// Creates a virtual environment below `target/` with the packages of this file; again when the file changes. `options`
/// go to pip.
fn python_environment(folder: &str, requirements: &str, options: &[&str], what: &str) -> Result<()> {
    let file = root().join(requirements);
    let Ok(wanted) = std::fs::read_to_string(&file) else {
        say(&format!("    {requirements} does not exist: no Python packages to install"));
        return Ok(());
    };
    let environment = target(folder);
    let stamp = environment.join("installed-from");
    if std::fs::read_to_string(&stamp).ok().as_ref() == Some(&wanted) {
        return Ok(());
    }
    quiet(what, || {
        run_quietly(command("python3").args(["-m", "venv", "--clear"]).arg(&environment), None)?;
        let mut pip = command(environment.join("bin/pip"));
        pip.args(["install", "--quiet", "--disable-pip-version-check"]).args(options).arg("--requirement").arg(&file);
        run_quietly(&mut pip, None)
    })?;
    Ok(std::fs::write(stamp, wanted)?)
}
