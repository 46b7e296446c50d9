//! The progress of `shiftbook work` on standard error: messages, and on a terminal a status line below them.

use runner::execute::Observer;
use std::{
    collections::VecDeque,
    io::{IsTerminal, Write, stderr},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};
use tokio::time::{Instant, MissedTickBehavior, interval};

/// Interval between redraws of the status line.
const REDRAW: Duration = Duration::from_millis(250);
/// Redraws over which the event rate is averaged.
const RATE_REDRAWS: usize = 8;
/// Characters of the agents' names that the status line shows.
const LABEL_CHARS_MAX: usize = 32;

/// Counts sessions and events, and shows them.
#[derive(Debug)]
pub struct Progress {
    label: String,
    terminal: bool,
    running: AtomicU64,
    done: AtomicU64,
    failed: AtomicU64,
    events: AtomicU64,
    /// The status line on the screen; messages are written around it.
    shown: Mutex<String>,
}

impl Progress {
    /// All counts at 0. The status line is shown only if standard error is a terminal.
    pub fn new(agents: &[String]) -> Self {
        let mut label = agents.join(", ");
        if label.chars().count() > LABEL_CHARS_MAX {
            label = label.chars().take(LABEL_CHARS_MAX - 1).chain(['…']).collect();
        }
        Self {
            label,
            terminal: stderr().is_terminal(),
            running: AtomicU64::new(0),
            done: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            events: AtomicU64::new(0),
            shown: Mutex::new(String::new()),
        }
    }

    /// Whether no session is running.
    pub fn is_idle(&self) -> bool {
        self.running.load(Relaxed) == 0
    }

    /// Redraws the status line for as long as the future is polled.
    pub async fn show(&self) {
        if !self.terminal {
            return std::future::pending().await;
        }
        let mut ticks = interval(REDRAW);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut past = VecDeque::with_capacity(RATE_REDRAWS);
        loop {
            let now = ticks.tick().await;
            let events = self.events.load(Relaxed);
            if past.len() == RATE_REDRAWS {
                past.pop_front();
            }
            past.push_back((now, events));
            self.draw(self.status_line(per_second(&past)));
        }
    }

    /// Removes the status line from the screen.
    pub fn clear(&self) {
        if self.terminal {
            self.draw(String::new());
        }
    }

    fn draw(&self, line: String) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown != line {
            let _ = write!(stderr(), "\r\x1b[K{line}");
            let _ = stderr().flush();
            *shown = line;
        }
    }

    fn status_line(&self, rate: f64) -> String {
        format!(
            "{} · {} running · {} done · {} failed · {rate:.0} events/s",
            self.label,
            self.running.load(Relaxed),
            self.done.load(Relaxed),
            self.failed.load(Relaxed),
        )
    }
}

impl Observer for Progress {
    fn session_started(&self) {
        self.running.fetch_add(1, Relaxed);
    }

    fn session_ended(&self, completed: bool) {
        self.running.fetch_sub(1, Relaxed);
        if completed { &self.done } else { &self.failed }.fetch_add(1, Relaxed);
    }

    fn session_left(&self) {
        self.running.fetch_sub(1, Relaxed);
    }

    fn events_appended(&self, count: usize) {
        self.events.fetch_add(count as u64, Relaxed);
    }

    fn message(&self, message: &str) {
        let message: String = message.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let erase = if shown.is_empty() { "" } else { "\r\x1b[K" };
        // A failure to write to standard error is ignored.
        let _ = write!(stderr(), "{erase}{message}\n{shown}");
    }
}

fn per_second(past: &VecDeque<(Instant, u64)>) -> f64 {
    let (Some((from, before)), Some((to, after))) = (past.front(), past.back()) else { return 0.0 };
    let seconds = to.duration_since(*from).as_secs_f64();
    if seconds > 0.0 { (after - before) as f64 / seconds } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_line_counts_sessions_and_fits_a_narrow_terminal() {
        let progress = Progress::new(&["librarian".into()]);
        progress.session_started();
        progress.session_started();
        progress.session_started();
        progress.session_started();
        progress.session_ended(true);
        progress.session_ended(false);
        progress.session_left();
        assert_eq!(progress.status_line(12.4), "librarian · 1 running · 1 done · 1 failed · 12 events/s");
        let many: Vec<_> = (0..9).map(|n| format!("some-agent-{n}")).collect();
        assert!(Progress::new(&many).status_line(0.0).chars().count() < 80);
    }

    #[test]
    fn the_rate_is_that_of_the_last_moments() {
        let start = Instant::now();
        let past = VecDeque::from([
            (start, 100),
            (start + Duration::from_secs(1), 150),
            (start + Duration::from_secs(2), 300),
        ]);
        assert_eq!(per_second(&past), 100.0);
        assert_eq!(per_second(&VecDeque::from([(start, 5)])), 0.0);
    }
}
