//! The probe as a process of its own, so that its CPU time and ours do not mix.

use super::Listening;
use anyhow::Result;
use std::{net::SocketAddr, path::Path, process::Stdio};
use tokio::process::Command;

/// A running probe.
pub struct ProbeProcess(Listening);

impl ProbeProcess {
    /// Starts this program as the probe on a data directory of its own, with a file to serve as its page.
    pub async fn start(data_dir: &Path, page: Option<&Path>) -> Result<Self> {
        std::fs::create_dir_all(data_dir)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("probe").arg("--data-dir").arg(data_dir);
        if let Some(page) = page {
            command.arg("--page").arg(page);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        Ok(Self(Listening::start(&mut command).await?))
    }

    pub fn address(&self) -> SocketAddr {
        self.0.address
    }

    pub fn pid(&self) -> u32 {
        self.0.pid
    }

    pub async fn stop(self) -> Result<()> {
        self.0.stop().await
    }
}
