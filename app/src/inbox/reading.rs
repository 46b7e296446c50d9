//! When the list is read again, and which responses are shown.

/// Bookkeeping of the requests for the list.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reading {
    /// Whether reading the list is scheduled.
    due: bool,
    /// How often it was delayed until the reviewer pauses.
    delays: u32,
    /// Whether a decision was made since the last delay.
    decided: bool,
    /// Number of requests so far.
    requests: u32,
    /// The newest request whose response is shown.
    shown: u32,
}

/// What to do when reading the list is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// The reviewer is deciding: wait for a pause.
    Later,
    /// Read it.
    Now,
}

impl Reading {
    /// The number of a new request.
    pub const fn next_request(&mut self) -> u32 {
        self.requests += 1;
        self.requests
    }

    /// Whether the response to this request may be shown. Responses to older requests are dropped from then on.
    pub const fn shows(&mut self, request: u32) -> bool {
        if request < self.shown {
            return false;
        }
        self.shown = request;
        true
    }

    /// Notes a decision.
    pub const fn decided(&mut self) {
        self.decided = true;
    }

    /// Schedules reading the list. Returns whether it was not scheduled before.
    pub const fn schedule(&mut self) -> bool {
        if self.due {
            return false;
        }
        (self.due, self.delays) = (true, 0);
        true
    }

    /// What to do now that reading the list is due. It is delayed at most `delays_max` times.
    pub const fn due(&mut self, delays_max: u32) -> Due {
        if self.decided && self.delays < delays_max {
            self.decided = false;
            self.delays += 1;
            return Due::Later;
        }
        (self.due, self.decided) = (false, false);
        Due::Now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_response_to_an_older_request_is_dropped() {
        let mut reading = Reading::default();
        let (old, new) = (reading.next_request(), reading.next_request());
        assert_eq!([reading.shows(new), reading.shows(old), reading.shows(new)], [true, false, true]);
    }

    #[test]
    fn the_list_is_read_when_the_reviewer_pauses_and_after_some_delays_in_any_case() {
        let mut reading = Reading::default();
        assert_eq!([reading.schedule(), reading.schedule()], [true, false]);
        reading.decided();
        assert_eq!([reading.due(2), reading.due(2)], [Due::Later, Due::Now]);
        assert!(reading.schedule());
        let all = [(); 3].map(|()| {
            reading.decided();
            reading.due(2)
        });
        assert_eq!(all, [Due::Later, Due::Later, Due::Now]);
    }
}
