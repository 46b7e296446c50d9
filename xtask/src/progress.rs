//! What xtask says while something takes long: plain lines with elapsed times, and a live line only on a terminal.

use std::io::{IsTerminal, Write};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::Result;

/// Without a terminal, a quiet step says that often that it is still alive.
const STILL_THERE_EVERY: Duration = Duration::from_secs(15);

pub fn say(line: &str) {
    println!("{line}");
}

pub fn seconds(duration: Duration) -> String {
    let tenths = duration.as_millis() / 100;
    match tenths {
        0..600 => format!("{}.{} s", tenths / 10, tenths % 10),
        _ => format!("{} min {} s", tenths / 600, tenths / 10 % 60),
    }
}

/// Announces a step that prints on its own, runs it and says how long it took.
pub fn announced<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    say(&format!("==> {what}"));
    let started = Instant::now();
    let outcome = work();
    let verdict = if outcome.is_ok() { "done" } else { "failed" };
    say(&format!("    {what}: {verdict} in {}", seconds(started.elapsed())));
    outcome
}

/// The same for a step that prints nothing itself.
pub fn quiet<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    announced(what, || {
        let _ticker = Ticker::start(what);
        work()
    })
}

struct Ticker {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    fn start(what: &str) -> Ticker {
        let (stop, stopped) = channel::<()>();
        let what = what.to_owned();
        let live = std::io::stdout().is_terminal();
        let every = if live { Duration::from_secs(1) } else { STILL_THERE_EVERY };
        let thread = std::thread::spawn(move || {
            let started = Instant::now();
            while stopped.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                let elapsed = seconds(started.elapsed());
                let mut out = std::io::stdout();
                let _ = if live {
                    write!(out, "\r\x1b[K    {what} … {elapsed}")
                } else {
                    writeln!(out, "    {what}: still at it after {elapsed}")
                };
                let _ = out.flush();
            }
            if live {
                // The verdict comes on this line next.
                print!("\r\x1b[K");
            }
        });
        Ticker { stop: Some(stop), thread: Some(thread) }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_well_at_both_scales() {
        assert_eq!(seconds(Duration::from_millis(1_250)), "1.2 s");
        assert_eq!(seconds(Duration::from_millis(59_990)), "59.9 s");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 5 s");
    }
}
