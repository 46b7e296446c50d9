//! Size of the binary that ships, and memory of its server at rest. A run of `cargo xtask test --release` fails if they
//! have left what is written down here.

use std::fs;
use std::ops::RangeInclusive;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::build::Build;
use crate::process::pause;
use crate::progress::say;
use crate::served::Served;

/// Most MiB of the binary. It had 47.8 on 28 November 2026.
const BINARY_MIB_MAX: f64 = 48.0;
/// MiB of a server that no one has talked to. It had 43 on 28 November 2026. A change by more than a tenth is written
/// down here, also one to less: otherwise the next change could take back what this one saved.
const IDLE_MIB: f64 = 43.0;
const IDLE_TOLERANCE: f64 = 0.1;
/// How long the server is left alone before its memory is read: what was freed is returned after a second.
const SETTLE: Duration = Duration::from_secs(3);

/// Checks the release binary, which exists.
pub fn check() -> Result<()> {
    let binary = Build::Release.shiftbook();
    let bytes = fs::metadata(&binary).with_context(|| format!("no binary at {}", binary.display()))?.len();
    let data = tempfile::tempdir_in(crate::scratch::folder())?;
    let server = Served::start(Build::Release, &data.path().join("data"), "127.0.0.1:0")?;
    pause(SETTLE)?;
    let status = fs::read_to_string(format!("/proc/{}/status", server.pid()))?;
    let resident = resident_mib(&status).context("/proc has no resident memory of the server")?;
    let size = bytes as f64 / 1_048_576.0;
    say(&format!("    binary: {size:.1} MiB, server at rest: {resident:.1} MiB"));
    judge(size, resident)
}

/// MiB of memory that a process has, from its `/proc/PID/status`.
fn resident_mib(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kib: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib / 1_024.0)
}

fn expected() -> RangeInclusive<f64> {
    IDLE_MIB * (1.0 - IDLE_TOLERANCE)..=IDLE_MIB * (1.0 + IDLE_TOLERANCE)
}

fn judge(size: f64, resident: f64) -> Result<()> {
    if size > BINARY_MIB_MAX {
        bail!("the binary has {size:.1} MiB, at most {BINARY_MIB_MAX:.1} are allowed (xtask/src/footprint.rs)");
    }
    if !expected().contains(&resident) {
        let (least, most) = expected().into_inner();
        bail!(
            "a server at rest has {resident:.1} MiB, {least:.1} to {most:.1} are expected: find the cause, or write the \
             new figure down (xtask/src/footprint.rs)"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_read_from_the_status_of_a_process() {
        let status = "Name:\tshiftbook\nVmHWM:\t  124904 kB\nVmRSS:\t   44032 kB\nThreads:\t10\n";
        assert_eq!(resident_mib(status), Some(43.0));
        assert_eq!(resident_mib("Name:\tkthreadd\n"), None);
    }

    #[test]
    fn more_and_less_memory_are_both_reported() {
        assert!(judge(BINARY_MIB_MAX, IDLE_MIB).is_ok());
        assert!(judge(BINARY_MIB_MAX + 0.1, IDLE_MIB).is_err());
        for idle in [IDLE_MIB * 0.8, IDLE_MIB * 1.2] {
            assert!(judge(1.0, idle).unwrap_err().to_string().contains("at rest"));
        }
    }
}
