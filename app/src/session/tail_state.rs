//! What the live tail of a transcript knows. Only in the WASM build.

/// What was read, and what is still to be read.
pub struct TailState {
    /// Nothing up to this sequence has to be read.
    pub last_sequence: f64,
    /// Newest sequence that a signal has announced.
    pub head_sequence: f64,
    /// Whether signals may have been missed. The next read that starts after this was set clears it.
    pub is_head_unknown: bool,
    /// Whether rows are being read.
    pub is_reading: bool,
    /// Whether the header is about to be read.
    pub is_summary_due: bool,
}

impl TailState {
    /// The state of a page that has everything up to this sequence.
    pub fn new(last_sequence: u64) -> Self {
        let last = last_sequence as f64;
        let (is_head_unknown, is_reading, is_summary_due) = (false, false, false);
        Self { last_sequence: last, head_sequence: last, is_head_unknown, is_reading, is_summary_due }
    }

    /// Whether there may be rows after the last one.
    pub fn is_behind(&self) -> bool {
        self.is_head_unknown || self.head_sequence > self.last_sequence
    }
}
