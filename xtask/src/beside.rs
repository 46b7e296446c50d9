//! What is built for the browser while the tests are compiled. The last crates of either build are compiled one after
//! the other and leave a core idle.

use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use anyhow::{Context, Result};

use crate::site;

/// How much the compilation of the tests goes before: it takes longer.
const NICE: i32 = 10;

/// One after the other, in a thread of their own: the site, then the check of the crates that go to the browser.
pub struct Beside {
    outcomes: Receiver<Result<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Beside {
    /// `with_lint`: whether the check is wanted.
    pub fn start(with_lint: bool) -> Self {
        let (ended, outcomes) = channel();
        let thread = std::thread::spawn(move || {
            // On Linux a nice value is a thread's own, and the processes that it starts inherit it.
            let _ = rustix::process::nice(NICE);
            let built = site::build(site::LINTED);
            let goes_on = built.is_ok() && with_lint;
            // Nobody waits for the outcomes after an interrupt.
            let _ = ended.send(built);
            if goes_on {
                let _ = ended.send(site::lint());
            }
        });
        Self { outcomes, thread: Some(thread) }
    }

    /// Waits for the end of the site's build, and if it is called once more, for that of the check.
    pub fn next(&mut self) -> Result<()> {
        self.outcomes.recv().context("the build beside this one has ended early")?
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            // An interrupt has ended the programs that it started.
            let _ = thread.join();
        }
    }
}
