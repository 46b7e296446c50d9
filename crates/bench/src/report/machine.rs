//! The machine, the date and the commit of a run.

use crate::ids;
use std::{fs, path::Path, process::Command};

/// The machine, the date and the commit of a run.
#[derive(Debug, Clone)]
pub struct Machine {
    pub cores: usize,
    pub cpu: String,
    pub kernel: String,
    pub memory_gib: f64,
    pub date: String,
    /// Absent outside of a git checkout.
    pub commit: Option<String>,
}

impl Machine {
    pub fn look() -> Self {
        let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
        let value = |text: String, name: &str| {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.split_once(':'));
            line.map(|(_, value)| value.trim().to_owned()).unwrap_or_default()
        };
        let memory: f64 =
            value(read("/proc/meminfo"), "MemTotal").trim_end_matches("kB").trim().parse().unwrap_or_default();
        Self {
            cores: std::thread::available_parallelism().map_or(0, std::num::NonZero::get),
            cpu: value(read("/proc/cpuinfo"), "model name"),
            kernel: read("/proc/sys/kernel/osrelease").trim().to_owned(),
            memory_gib: memory / 1_048_576.0,
            date: ids::today(),
            commit: commit(),
        }
    }
}

fn commit() -> Option<String> {
    let git = |arguments: &[&str]| {
        let output =
            Command::new("git").args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let head = git(&["rev-parse", "--short=12", "HEAD"])?;
    let is_changed = git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|changes| !changes.is_empty());
    Some(if is_changed { format!("{head}, with changes that are not committed") } else { head })
}
