//! The address of a turn in a transcript.

use super::transcript::BEYOND_TARGET;
use domain::id::SessionId;

/// The address of an event of a session. A page of a transcript has 200 events, so without scripts the address alone
/// must lead to the page that has this one.
pub fn turn_href(session: SessionId, sequence: u64) -> String {
    format!("/sessions/{session}?before={}#seq-{sequence}", sequence.saturating_add(BEYOND_TARGET))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_names_the_page_that_has_the_turn() {
        let session: SessionId = "0193b0a0-0000-7000-8000-000000000001".parse().unwrap();
        assert_eq!(turn_href(session, 3), "/sessions/0193b0a0-0000-7000-8000-000000000001?before=103#seq-3");
        assert!(turn_href(session, u64::MAX).contains("?before=18446744073709551615#"));
    }
}
