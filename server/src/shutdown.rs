//! The signal that the server is stopping. Readiness checks fail first, then streams send their
//! last frame and end, and waiting requests return.

use tokio_util::sync::CancellationToken;

/// The shutdown signal. Everything that keeps a connection busy for a long time holds a clone of it
/// and watches it.
#[derive(Debug, Clone, Default)]
pub struct Shutdown(CancellationToken);

impl Shutdown {
    /// Begins the shutdown. Repeated calls have no effect.
    pub fn begin(&self) {
        self.0.cancel();
    }

    /// Returns whether the shutdown has begun.
    pub fn has_begun(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Returns the token behind this signal, for crates that do not know this type.
    pub fn token(&self) -> CancellationToken {
        self.0.clone()
    }

    /// Waits until the shutdown begins.
    pub async fn begun(&self) {
        self.0.cancelled().await;
    }
}

/// Waits for SIGINT or SIGTERM and returns the name of the signal.
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
