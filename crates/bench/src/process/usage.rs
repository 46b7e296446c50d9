//! What a process costs, from /proc.

use anyhow::{Context as _, Result};
use std::fs;

/// Linux counts CPU time in hundredths of a second for every program.
const TICKS_PER_SECOND: f64 = 100.0;

/// CPU time and disk writes since a process began.
#[derive(Debug, Clone, Copy, Default)]
pub struct Usage {
    pub user_seconds: f64,
    pub system_seconds: f64,
    pub written_bytes: u64,
}

impl Usage {
    /// What was used since an earlier look.
    pub fn since(self, earlier: Self) -> Self {
        Self {
            user_seconds: self.user_seconds - earlier.user_seconds,
            system_seconds: self.system_seconds - earlier.system_seconds,
            written_bytes: self.written_bytes.saturating_sub(earlier.written_bytes),
        }
    }

    /// Both kinds of CPU time.
    pub fn cpu_seconds(self) -> f64 {
        self.user_seconds + self.system_seconds
    }
}

/// What a process used so far.
pub fn usage(pid: u32) -> Result<Usage> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may hold anything, so fields are counted behind it.
    let fields = stat.rsplit_once(')').context("/proc/PID/stat")?.1.split_whitespace();
    let ticks: Vec<f64> = fields.skip(11).take(2).filter_map(|field| field.parse().ok()).collect();
    let [user, system] = ticks[..] else { anyhow::bail!("/proc/{pid}/stat reads {stat:?}") };
    let io = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let written = io.lines().find_map(|line| line.strip_prefix("write_bytes: ")?.parse().ok());
    Ok(Usage {
        user_seconds: user / TICKS_PER_SECOND,
        system_seconds: system / TICKS_PER_SECOND,
        written_bytes: written.unwrap_or_default(),
    })
}

/// What this process used so far.
pub fn own_usage() -> Result<Usage> {
    usage(std::process::id())
}

/// CPU seconds that everyone used since the machine started, and that we and our ended children used.
pub fn machine_and_ours() -> Result<(f64, f64)> {
    let text = fs::read_to_string("/proc/stat")?;
    let fields = text.lines().next().context("/proc/stat")?.split_whitespace().skip(1);
    let ticks: Vec<f64> = fields.filter_map(|field| field.parse().ok()).collect();
    // user nice system idle iowait irq softirq steal: idle and iowait are not work.
    let busy = ticks.iter().take(8).sum::<f64>() - ticks.iter().skip(3).take(2).sum::<f64>();
    let stat = fs::read_to_string("/proc/self/stat")?;
    let own = stat.rsplit_once(')').context("/proc/self/stat")?.1.split_whitespace().skip(11).take(4);
    let own: f64 = own.filter_map(|field| field.parse::<f64>().ok()).sum();
    Ok((busy / TICKS_PER_SECOND, own / TICKS_PER_SECOND))
}

/// A `Vm…` line of /proc/PID/status, in KiB.
pub fn memory_kib(pid: u32, field: &str) -> Result<f64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    let number = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse().ok());
    number.with_context(|| format!("/proc/{pid}/status has no {field}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_uses_something() {
        let before = own_usage().unwrap();
        let mut sum = 0_u64;
        while own_usage().unwrap().since(before).cpu_seconds() < 0.02 {
            sum = (0..100_000).fold(sum, |sum, n| sum.wrapping_mul(31).wrapping_add(n));
        }
        assert!(memory_kib(std::process::id(), "VmRSS").unwrap() > 500.0, "{sum}");
        assert!(memory_kib(std::process::id(), "VmNothing").is_err());
    }
}
