//! What is done while the tests are compiled. Installing waits for the network, and the last crates of either build are
//! compiled one after the other.

use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use anyhow::{Context, Result};

/// How much the compilation of the tests goes before: it takes longer.
const NICE: i32 = 10;

/// Several works, one after the other, in a thread of their own.
pub struct Beside {
    outcomes: Receiver<Result<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Beside {
    pub fn start(works: Vec<fn() -> Result<()>>) -> Self {
        let (ended, outcomes) = channel();
        let thread = std::thread::spawn(move || {
            // On Linux a nice value is a thread's own, and the processes that it starts inherit it.
            let _ = rustix::process::nice(NICE);
            for work in works {
                // Nobody waits for the outcomes after an interrupt.
                let _ = ended.send(work());
            }
        });
        Self { outcomes, thread: Some(thread) }
    }

    /// Waits for the end of the next work, in the order in which they were given.
    pub fn next(&mut self) -> Result<()> {
        self.outcomes.recv().context("what is done beside the compilation has ended early")?
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
