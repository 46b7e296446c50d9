//! One signal that the server is stopping: readiness goes first, streams say goodbye, waits end.

use tokio_util::sync::CancellationToken;

/// Told to everything that would otherwise keep a connection busy for long.
#[derive(Debug, Clone, Default)]
pub struct Shutdown(CancellationToken);

impl Shutdown {
    /// Begins the stop. Repeats change nothing.
    pub fn begin(&self) {
        self.0.cancel();
    }

    /// Whether the stop has begun.
    pub fn has_begun(&self) -> bool {
        self.0.is_cancelled()
    }

    /// The same signal, for rooms that do not know this one.
    pub fn token(&self) -> CancellationToken {
        self.0.clone()
    }

    /// Waits until the stop begins.
    pub async fn begun(&self) {
        self.0.cancelled().await;
    }
}

/// Waits for SIGINT or SIGTERM.
pub async fn signalled() -> std::io::Result<&'static str> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        tokio::select! {
            _ = terminate.recv() => Ok("SIGTERM"),
            _ = interrupt.recv() => Ok("SIGINT"),
        }
    }
    #[cfg(not(unix))]
    {
        tokio::signal::ctrl_c().await?;
        Ok("Ctrl+C")
    }
}
