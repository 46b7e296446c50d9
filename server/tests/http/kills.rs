//! When a test kills the server during calls, and what each kill left.

use std::time::{Duration, Instant};

/// From this number of calls on, some kill must have come between the commit and the response. That is expected of a
/// few kills in a hundred: in fewer calls all can miss it by chance.
const CALLS_TO_MEET_IT: usize = 500;

/// Kills of a server during calls, and what became of the calls.
#[derive(Debug, Default)]
pub struct Kills {
    /// Duration of the calls if nothing disturbs them; `None` before the first.
    undisturbed: Option<Duration>,
    /// Time from the beginning of the latest calls to their end by a kill, unless they ended before; `None` for the
    /// first.
    pub after: Option<Duration>,
    /// Calls of which nothing was recorded.
    unrecorded: usize,
    /// Calls that were recorded, and whose response did not arrive.
    unanswered: usize,
    /// Calls whose response arrived.
    answered: usize,
}

impl Kills {
    /// Makes calls, and stops waiting for them at a random time: at most twice their undisturbed duration. The first
    /// calls are not disturbed: that duration is theirs. Returns `None` if they did not end in time. The caller kills
    /// the server next.
    pub async fn interrupt<T>(&mut self, calls: impl Future<Output = T>) -> Option<T> {
        let Some(undisturbed) = self.undisturbed else {
            let began = Instant::now();
            let done = calls.await;
            self.undisturbed = Some(began.elapsed());
            return Some(done);
        };
        let after = undisturbed.mul_f64(2.0 * fastrand::f64());
        self.after = Some(after);
        tokio::select! {
            done = calls => Some(done),
            // This is the time of the fault. The test waits for nothing.
            () = tokio::time::sleep(after) => None,
        }
    }

    /// Counts a call: whether its response arrived, and whether the server that was started again has its effect
    /// recorded before anyone repeats it.
    pub fn count(&mut self, is_answered: bool, is_recorded: bool) {
        assert!(is_recorded || !is_answered, "killed after {:?}: it was answered and is not recorded", self.after);
        if self.after.is_none() {
            assert!(is_answered, "nothing disturbed this call");
            return;
        }
        match (is_answered, is_recorded) {
            (true, _) => self.answered += 1,
            (false, true) => self.unanswered += 1,
            (false, false) => self.unrecorded += 1,
        }
    }

    /// Prints what was counted. Fails if so many kills never came between the commit and the response.
    pub fn report(&self) {
        let Self { unrecorded, unanswered, answered, .. } = self;
        let undisturbed = self.undisturbed.unwrap_or_default();
        let calls = unrecorded + unanswered + answered;
        println!("{calls} calls, each ended by a kill within twice {undisturbed:?}:");
        println!("  {unrecorded} not recorded, {unanswered} recorded without an answer, {answered} answered");
        assert!(calls < CALLS_TO_MEET_IT || *unanswered > 0, "no kill of {calls} came between commit and response");
    }
}
