//! Starts other programs: runs them to their end, watches their output, or keeps them as services.
//!
//! Each child has a process group of its own, so that Ctrl-C in a terminal reaches only xtask, and xtask decides what
//! each child gets: a command gets SIGINT for its whole group, as from the terminal; a service gets SIGTERM and time to
//! drain. Only processes started here are signalled.

use std::future::poll_fn;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::signal::unix::{SignalKind, signal};

/// Time for a service to drain before it is killed.
const DRAIN_SECONDS_MAX: u64 = 15;
const POLL: Duration = Duration::from_millis(20);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static RUNNING: Mutex<Vec<Running>> = Mutex::new(Vec::new());

#[derive(Clone, Copy)]
struct Running {
    pid: Pid,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Command,
    Service,
}

impl Running {
    fn ask_to_stop(self) {
        // An error means that the child has ended, which is what is wanted.
        let _ = match self.kind {
            Kind::Command => kill_process_group(self.pid, Signal::INT),
            Kind::Service => kill_process(self.pid, Signal::TERM),
        };
    }
}

fn running() -> MutexGuard<'static, Vec<Running>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// On the first Ctrl-C, SIGTERM or SIGHUP every child is asked to stop; waiting for a child then fails, and destructors
/// clean up. On the second, xtask exits at once.
pub fn stop_children_on_interrupt() -> Result<()> {
    let listen = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        // Signals are listened for from here on, not from the start of the thread.
        let entered = runtime.enter();
        let signals = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
        let signals = signals.into_iter().map(signal).collect::<std::io::Result<Vec<_>>>()?;
        drop(entered);
        anyhow::Ok((runtime, signals))
    };
    let (runtime, mut signals) = listen().context("cannot listen for signals")?;
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            loop {
                runtime.block_on(next_of(&mut signals));
                interrupt();
            }
        })
        .context("cannot start the thread that waits for signals")?;
    Ok(())
}

/// Waits until one of the signals arrives.
async fn next_of(signals: &mut [tokio::signal::unix::Signal]) {
    poll_fn(|context| {
        let arrived = signals.iter_mut().any(|signal| signal.poll_recv(context).is_ready());
        if arrived { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
}

fn interrupt() {
    if INTERRUPTED.swap(true, Ordering::SeqCst) {
        std::process::exit(130);
    }
    for child in running().iter() {
        child.ask_to_stop();
    }
}

pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Sleeps; an interrupt ends the sleep with an error.
pub fn pause(duration: Duration) -> Result<()> {
    let end = Instant::now() + duration;
    while Instant::now() < end {
        if interrupted() {
            bail!("interrupted");
        }
        std::thread::sleep(POLL);
    }
    Ok(())
}

/// A child that is stopped when it is dropped.
pub struct Managed {
    child: Child,
    entry: Running,
    name: String,
}

impl Managed {
    fn spawn(command: &mut Command, kind: Kind) -> Result<Managed> {
        let name = command.get_program().to_string_lossy().into_owned();
        if interrupted() {
            bail!("interrupted");
        }
        // The lock is held across the spawn, so that an interrupt cannot fall between spawn and registration.
        let mut running = running();
        let child = command.process_group(0).spawn().with_context(|| format!("cannot start {name}"))?;
        let entry = Running { pid: Pid::from_child(&child), kind };
        running.push(entry);
        Ok(Managed { child, entry, name })
    }

    /// A long-lived process: asked to stop with SIGTERM, given time to drain.
    pub fn service(command: &mut Command) -> Result<Managed> {
        Managed::spawn(command, Kind::Service)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn stdout(&mut self) -> Result<ChildStdout> {
        self.child.stdout.take().with_context(|| format!("{} has no stdout to read", self.name))
    }

    /// The status, if the process has ended. Reaping and forgetting happen under one lock, so no signal can
    /// ever reach a process that was given the same pid later.
    pub fn ended(&mut self) -> Result<Option<ExitStatus>> {
        let mut running = running();
        let status = self.child.try_wait().with_context(|| format!("cannot wait for {}", self.name))?;
        if status.is_some() {
            running.retain(|other| other.pid != self.entry.pid);
        }
        Ok(status)
    }

    fn wait(&mut self, limit: Option<Duration>) -> Result<ExitStatus> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.ended()? {
                return Ok(status);
            }
            if limit.is_some_and(|limit| started.elapsed() > limit) {
                bail!("{} gave no answer within {} s", self.name, started.elapsed().as_secs());
            }
            std::thread::sleep(POLL);
        }
    }

    pub fn stop(&mut self) {
        if !matches!(self.ended(), Ok(None)) {
            return;
        }
        self.entry.ask_to_stop();
        if self.wait(Some(Duration::from_secs(DRAIN_SECONDS_MAX))).is_err() {
            let _ = kill_process_group(self.entry.pid, Signal::KILL);
            let _ = self.wait(Some(Duration::from_secs(1)));
        }
    }
}

impl Drop for Managed {
    fn drop(&mut self) {
        self.stop();
    }
}

/// A command as one would type it.
pub fn command_line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    if let Some(first) = words.first_mut()
        && let Some(at) = first.rfind('/')
    {
        *first = first.split_off(at + 1);
    }
    words.join(" ")
}

fn check(status: ExitStatus, what: &str) -> Result<()> {
    if interrupted() {
        bail!("interrupted");
    }
    if !status.success() {
        bail!("`{what}` failed ({status})");
    }
    Ok(())
}

/// Runs a command to its end. It shares the output of xtask.
pub fn run(command: &mut Command) -> Result<()> {
    let what = command_line(command);
    let status = Managed::spawn(command, Kind::Command)?.wait(None)?;
    check(status, &what)
}

/// Runs a command to its end; its output is shown only if it fails.
pub fn run_quietly(command: &mut Command, limit: Option<Duration>) -> Result<()> {
    let log = tempfile::tempfile().context("cannot make a temporary file")?;
    run_logged(command, limit, &log)
}

/// Runs a command to its end with its output in `log`, an empty file. If it fails, the output is shown too.
pub fn run_logged(command: &mut Command, limit: Option<Duration>, log: &std::fs::File) -> Result<()> {
    let what = command_line(command);
    command.stdout(log.try_clone()?).stderr(log.try_clone()?);
    let mut child = Managed::spawn(command, Kind::Command)?;
    let outcome = child.wait(limit).and_then(|status| check(status, &what));
    if outcome.is_err() && !interrupted() {
        child.stop();
        std::io::stderr().write_all(&read_back(log)?)?;
    }
    outcome
}

/// Runs a command to its end and returns its stdout, trimmed; stderr stays on ours.
pub fn capture(command: &mut Command) -> Result<String> {
    capture_with_input(command, "")
}

/// Runs a command with `input` on its standard input and returns its output.
pub fn capture_with_input(command: &mut Command, input: &str) -> Result<String> {
    let what = command_line(command);
    // Files instead of pipes: neither side can block the other, whatever their sizes.
    let mut stdin = tempfile::tempfile().context("cannot make a temporary file")?;
    stdin.write_all(input.as_bytes())?;
    std::io::Seek::rewind(&mut stdin)?;
    let stdout = tempfile::tempfile().context("cannot make a temporary file")?;
    command.stdin(stdin).stdout(stdout.try_clone()?);
    let status = Managed::spawn(command, Kind::Command)?.wait(None)?;
    check(status, &what)?;
    Ok(String::from_utf8_lossy(&read_back(&stdout)?).trim().to_owned())
}

fn read_back(mut file: &std::fs::File) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    std::io::Seek::rewind(&mut file)?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Runs a command with its output on ours and also hands every line of it to `seen`. The result is the
/// command's own; lines are handed over also when it fails. A command that writes no line for longer than `silence` is
/// stopped, and has failed.
pub fn run_watched(
    command: &mut Command,
    silence: Option<Duration>,
    seen: &mut (dyn FnMut(&str) + Send),
) -> Result<()> {
    let what = command_line(command);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Managed::spawn(command, Kind::Command)?;
    let stdout = child.child.stdout.take();
    let stderr = child.child.stderr.take();
    let heard = Mutex::new(Instant::now());
    let seen = Mutex::new(|line: &str| {
        *heard.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
        seen(line);
    });
    let status = std::thread::scope(|scope| -> Result<ExitStatus> {
        if let Some(stdout) = stdout {
            scope.spawn(|| pass_on(stdout, &mut std::io::stdout(), &seen));
        }
        if let Some(stderr) = stderr {
            scope.spawn(|| pass_on(stderr, &mut std::io::stderr(), &seen));
        }
        loop {
            if let Some(status) = child.ended()? {
                return Ok(status);
            }
            let silent = heard.lock().unwrap_or_else(PoisonError::into_inner).elapsed();
            if silence.is_some_and(|longest| silent > longest) {
                // Its output ends with it, and with the programs that it has started.
                child.stop();
                bail!("`{what}` wrote nothing for {} s and was stopped", silent.as_secs());
            }
            std::thread::sleep(POLL);
        }
    })?;
    check(status, &what)
}

fn pass_on(from: impl Read, to: &mut dyn Write, seen: &Mutex<impl FnMut(&str)>) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while matches!(from.read_until(b'\n', &mut line), Ok(length) if length > 0) {
        // Our own output being closed is no reason to stop the child from finishing.
        let _ = to.write_all(&line).and_then(|()| to.flush());
        let text = without_colours(&String::from_utf8_lossy(&line));
        (seen.lock().unwrap_or_else(PoisonError::into_inner))(&text);
        line.clear();
    }
}

/// The text of a terminal line: without `ESC [ … letter` sequences, trimmed.
pub fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut rest = line.chars();
    while let Some(letter) = rest.next() {
        if letter == '\u{1b}' {
            if rest.next() == Some('[') {
                let _ = rest.by_ref().find(char::is_ascii_alphabetic);
            }
        } else {
            plain.push(letter);
        }
    }
    plain.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_out_of_lines() {
        assert_eq!(without_colours("\u{1b}[32;1m  3 passed\u{1b}[0m (2s)\n"), "3 passed (2s)");
    }

    #[test]
    fn a_failing_command_says_what_it_was() {
        let error = run(Command::new("sh").args(["-c", "exit 3"])).unwrap_err().to_string();
        assert!(error.contains("sh -c exit 3") && error.contains('3'), "{error}");
    }

    #[test]
    fn a_command_that_outlives_its_limit_is_stopped() {
        // Without the limit the command would succeed, after a quarter of an hour.
        let slow = run_quietly(Command::new("sleep").arg("1000"), Some(Duration::from_millis(100)));
        assert!(slow.unwrap_err().to_string().contains("gave no answer"));
    }

    #[test]
    fn a_command_that_falls_silent_is_stopped_and_its_lines_were_seen() {
        let mut lines = Vec::new();
        let silence = Some(Duration::from_millis(100));
        let slow = run_watched(Command::new("sh").args(["-c", "echo one; sleep 1000"]), silence, &mut |line| {
            lines.push(line.to_owned());
        });
        assert!(slow.unwrap_err().to_string().contains("wrote nothing"));
        assert!(lines.iter().all(|line| line == "one"), "{lines:?}");
    }

    #[test]
    fn input_reaches_the_command_and_output_comes_back() {
        assert_eq!(capture_with_input(&mut Command::new("cat"), "secret\n").unwrap(), "secret");
    }
    #[test]
    fn a_signal_stops_the_running_command() {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
            let mut waiting = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "process::tests::waits_for_a_signal", "--ignored", "--nocapture"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            // The command also ends when this end of its input is closed, so that a failure leaves no process behind.
            let _input = waiting.stdin.take();
            let mut lines = BufReader::new(waiting.stdout.take().unwrap()).lines();
            assert!(lines.any(|line| line.unwrap() == "started"));
            kill_process(Pid::from_child(&waiting), signal).unwrap();
            assert!(waiting.wait().unwrap().success(), "{signal:?}");
        }
    }

    #[test]
    #[ignore = "the other half of a_signal_stops_the_running_command: it needs a process of its own"]
    fn waits_for_a_signal() {
        stop_children_on_interrupt().unwrap();
        let stopped = run(Command::new("sh").args(["-c", "echo started; read line"]));
        assert_eq!(stopped.unwrap_err().to_string(), "interrupted");
    }
}
