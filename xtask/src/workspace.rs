//! Paths of the workspace, and commands that run in it.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use serde_json::Value;

use crate::process::capture;

/// The root of this checkout. `cargo run` tells where the manifest is; the path of the compilation is a fallback,
/// because a checkout may have been moved.
pub fn root() -> PathBuf {
    let manifest =
        std::env::var_os("CARGO_MANIFEST_DIR").map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.parent().map_or(manifest.clone(), Path::to_path_buf)
}

/// A path below `target/`.
pub fn target(path: &str) -> PathBuf {
    root().join("target").join(path)
}

/// A command that runs in the root of the workspace with standard input closed.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(std::process::Stdio::null());
    // Cargo sets these for the xtask it runs. A nested build must not see them: crates that watch them would
    // be rebuilt each time one goes from `cargo build` to `cargo xtask build` and back.
    for (name, _) in std::env::vars_os() {
        let name_text = name.to_string_lossy();
        if name_text.starts_with("CARGO_PKG_") || name_text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    crate::scratch::set_tmpdir(&mut command);
    command
}

/// The cargo that runs this xtask.
pub fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// The package of this workspace that has a binary of this name, if any has.
pub fn package_with_binary(name: &str) -> Result<Option<String>> {
    let metadata = capture(cargo().args(["metadata", "--no-deps", "--format-version", "1"]))?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    Ok(package_in(&metadata, name))
}

fn package_in(metadata: &Value, binary: &str) -> Option<String> {
    let list = |value: &Value, field: &str| value.get(field).and_then(Value::as_array).cloned().unwrap_or_default();
    let found = list(metadata, "packages").into_iter().find(|package| {
        list(package, "targets").iter().any(|target| target["kind"][0] == "bin" && target["name"] == binary)
    })?;
    Some(found.get("name")?.as_str()?.to_owned())
}

/// The first program of this name on PATH.
pub fn find_program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(name)).find(|file| file.is_file())
}

pub fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Every file below `dir`, sorted, without what is built, installed or recorded by runs.
pub fn files_below(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    const NOT_OURS: [&str; 6] = ["target", "node_modules", ".git", "data", "test-results", "playwright-report"];
    let mut found = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(&dir)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            let name = entry.file_name();
            if kind.is_dir() {
                if !NOT_OURS.iter().any(|other| name == *other) {
                    open.push(entry.path());
                }
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_binary_is_found_in_the_package_that_has_it() {
        let metadata = json!({"packages": [
            {"name": "store", "targets": [{"kind": ["lib"], "name": "bench"}]},
            {"name": "measures", "targets": [{"kind": ["lib"], "name": "measures"}, {"kind": ["bin"], "name": "bench"}]},
        ]});
        assert_eq!(package_in(&metadata, "bench").as_deref(), Some("measures"));
        assert_eq!(package_in(&metadata, "torture"), None);
    }
}
