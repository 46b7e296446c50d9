//! The command, in a process group of its own: what it starts ends with it.

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
    /// To write its input to.
    pub stdin: ChildStdin,
    /// To read events from.
    pub stdout: ChildStdout,
    /// To read remarks from.
    pub stderr: ChildStderr,
}

impl Child {
    /// Starts it with these changes to the environment.
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

    /// Waits for its end. What it started may live on until [`Child::sweep`].
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.process.wait().await
    }

    /// Asks the whole group to end, and makes it end: after a grace, or as soon as `at_once` says so.
    pub async fn stop(&mut self, at_once: impl Future<Output = ()>) {
        self.signal(Signal::TERM);
        select! {
            _ = self.process.wait() => return,
            () = sleep(limit::KILL_GRACE) => {}
            () = at_once => {}
        }
        self.signal(Signal::KILL);
        // A killed process always ends; an error here means that it has been waited for.
        let _ = self.process.wait().await;
    }

    /// Ends what the command left behind in its group.
    pub fn sweep(&mut self) {
        self.signal(Signal::KILL);
        self.group = None;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // An empty group is as good as an ended one.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.sweep();
    }
}

/// How a command ended, for people and for machines.
pub fn describe(status: ExitStatus) -> (String, String) {
    match (status.code(), status.signal()) {
        (Some(code), _) => (format!("the command ended with exit code {code}"), format!("exit_{code}")),
        (None, Some(signal)) => (format!("the command was ended by signal {signal}"), format!("signal_{signal}")),
        (None, None) => ("the command ended in an unknown way".into(), "exit_unknown".into()),
    }
}
