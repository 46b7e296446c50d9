//! The process of a command, in a process group of its own, so that its children can be ended with it.

use super::super::limit;
use rustix::process::{Pid, Signal, kill_process_group};
use std::{
    ffi::OsString,
    future::Future,
    io,
    os::unix::process::ExitStatusExt,
    process::{ExitStatus, Stdio},
};
use tokio::{
    process::{ChildStderr, ChildStdin, ChildStdout, Command},
    select,
    time::sleep,
};

/// A running command. Dropping it kills its process group.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    group: Option<Pid>,
}

/// The command's three pipes.
#[derive(Debug)]
pub struct Pipes {
    /// Receives the command's input.
    pub stdin: ChildStdin,
    /// Carries events.
    pub stdout: ChildStdout,
    /// Carries diagnostics.
    pub stderr: ChildStderr,
}

impl Child {
    /// Starts a command with these changes to the environment; `None` removes a variable.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] for an empty command, otherwise the error of the operating system, such as that
    /// of a program that does not exist.
    pub fn start(command: &[OsString], environment: &[(&str, Option<String>)]) -> io::Result<(Self, Pipes)> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut starting = Command::new(program);
        for (name, value) in environment {
            match value {
                Some(value) => starting.env(name, value),
                None => starting.env_remove(name),
            };
        }
        let mut process = starting
            .args(arguments)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let group = process.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let child = Self { process, group };
        match pipes {
            (Some(stdin), Some(stdout), Some(stderr)) => Ok((child, Pipes { stdin, stdout, stderr })),
            _ => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Waits for the command to exit. Its children may live on until [`Child::kill_group`].
    ///
    /// # Errors
    /// The error of the operating system.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.process.wait().await
    }

    /// Sends SIGTERM to the group, and SIGKILL after [`limit::KILL_GRACE`] or as soon as `at_once` is ready.
    pub async fn stop(&mut self, at_once: impl Future<Output = ()>) {
        self.signal(Signal::TERM);
        select! {
            _ = self.process.wait() => return,
            () = sleep(limit::KILL_GRACE) => {}
            () = at_once => {}
        }
        self.signal(Signal::KILL);
        // A killed process always ends; an error means that it was waited for before.
        let _ = self.process.wait().await;
    }

    /// Kills all processes that are left in the group.
    pub fn kill_group(&mut self) {
        self.signal(Signal::KILL);
        self.group = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // The group may be empty already.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill_group();
    }
}

/// How a command ended: a sentence and a code.
pub fn describe(status: ExitStatus) -> (String, String) {
    match (status.code(), status.signal()) {
        (Some(code), _) => (format!("the command ended with exit code {code}"), format!("exit_{code}")),
        (None, Some(signal)) => (format!("the command was ended by signal {signal}"), format!("signal_{signal}")),
        (None, None) => ("the command ended in an unknown way".into(), "exit_unknown".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::{pending, ready};
    use tokio::{
        io::{AsyncBufReadExt as _, BufReader},
        time::Instant,
    };

    /// Starts a command and waits until it ignores SIGTERM.
    async fn stubborn() -> Child {
        let script = "trap '' TERM; echo ready; sleep 1000; sleep 1000";
        let command: [OsString; 3] = ["sh", "-c", script].map(Into::into);
        let (child, pipes) = Child::start(&command, &[]).unwrap();
        let first = BufReader::new(pipes.stdout).lines().next_line().await.unwrap();
        assert_eq!(first.as_deref(), Some("ready"));
        child
    }

    // The clock of the test is stopped and moves only when nothing but a timer is awaited, so the machine's speed
    // does not matter.
    #[tokio::test(start_paused = true)]
    async fn a_stubborn_command_is_killed_after_the_grace_or_at_once() {
        let mut child = stubborn().await;
        let began = Instant::now();
        child.stop(pending()).await;
        assert!(began.elapsed() >= limit::KILL_GRACE);
        let mut child = stubborn().await;
        let began = Instant::now();
        child.stop(ready(())).await;
        assert_eq!(began.elapsed().as_secs(), 0);
    }
}
