//! Other people's products, run here and now: the npm packages of `crates/bench/reference`, by Node.

use anyhow::{Context as _, Result, ensure};
use std::{
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};
use tokio::{process::Command, time::timeout};

/// Longest round of a program that prints its own figure.
const FIGURE_MAX: Duration = Duration::from_secs(180);

/// The folder of the references, with their packages installed.
#[derive(Debug, Clone)]
pub struct References(PathBuf);

impl References {
    /// Fails where `npm ci` has not been run in the folder.
    pub fn open(folder: &Path) -> Result<Self> {
        let folder = folder.canonicalize().with_context(|| format!("no references at {}", folder.display()))?;
        ensure!(folder.join("node_modules").is_dir(), "run `npm ci` in {} first", folder.display());
        Ok(Self(folder))
    }

    /// One of its scripts, by name.
    pub fn script(&self, name: &str) -> Command {
        let mut node = Command::new("node");
        // Both make their libraries slower elsewhere than in production.
        node.arg(self.0.join(name)).env("NODE_ENV", "production").env("NO_LOG_SUCCESS", "1");
        node
    }
}

/// Runs a program that measures one round by itself and prints the figure on a line.
pub async fn figure(command: &mut Command) -> Result<f64> {
    // Arguments are files and figures; what is secret is in the environment, which is not shown.
    let shown =
        command.as_std().get_args().map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ");
    let shown = format!("{} {shown}", command.as_std().get_program().to_string_lossy());
    let running = command.stdin(Stdio::null()).kill_on_drop(true).output();
    let output = timeout(FIGURE_MAX, running)
        .await
        .with_context(|| format!("{shown} did not end within {} s", FIGURE_MAX.as_secs()))?
        .with_context(|| format!("cannot run {shown}"))?;
    ensure!(output.status.success(), "{shown}: {}", String::from_utf8_lossy(&output.stderr).trim());
    let text = String::from_utf8_lossy(&output.stdout);
    let value: f64 = text.trim().parse().with_context(|| format!("{shown} printed {text:?} instead of a figure"))?;
    ensure!(value.is_finite() && value > 0.0, "{shown} printed {text:?}");
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn figure_of(script: &str) -> Result<f64> {
        figure(Command::new("sh").args(["-c", script])).await
    }

    #[tokio::test]
    async fn only_a_figure_is_a_figure() {
        assert_eq!(figure_of("echo 2498.5").await.unwrap(), 2_498.5);
        for bad in ["echo NaN", "echo 0", "echo", "echo 1; echo 2"] {
            assert!(figure_of(bad).await.is_err(), "{bad}");
        }
        let error = figure_of("echo 7; echo no database >&2; exit 1").await.unwrap_err();
        assert!(error.to_string().contains("no database"), "{error}");
    }

    #[test]
    fn packages_that_are_not_installed_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = References::open(folder.path()).unwrap_err();
        assert!(error.to_string().contains("npm ci"), "{error}");
    }
}
