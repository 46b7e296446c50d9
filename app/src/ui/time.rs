//! Times: absolute and in UTC from the server; the browser refines them.

use chrono::{Datelike, Timelike};
use domain::Timestamp;
use leptos::prelude::*;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// For machines: RFC 3339 with milliseconds.
pub fn machine(at: Timestamp) -> String {
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z",
        at.year(),
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second(),
        at.timestamp_subsec_millis()
    )
}

/// `21 Nov 2026, 07:44 UTC`
pub fn absolute(at: Timestamp) -> String {
    let month = MONTHS.get(at.month0() as usize).copied().unwrap_or_default();
    format!("{} {month} {:04}, {:02}:{:02} UTC", at.day(), at.year(), at.hour(), at.minute())
}

/// `07:44:03`
pub fn clock(at: Timestamp) -> String {
    format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
}

/// A moment in running text; the browser turns it into "2 h ago".
pub fn moment(at: Timestamp) -> impl IntoView {
    view! { <time datetime=machine(at) data-time="ago">{absolute(at)}</time> }
}

/// How long something has lasted: the browser turns it into "for 2 h".
pub fn since(at: Timestamp) -> impl IntoView {
    view! { <time datetime=machine(at) data-time="since">"since "{absolute(at)}</time> }
}

/// A moment that stays absolute; the browser only shows it in the reader's time zone.
pub fn stamp(at: Timestamp) -> impl IntoView {
    view! { <time datetime=machine(at) data-time="date">{absolute(at)}</time> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_utc_and_say_so() {
        let at = "2026-11-21T07:04:03.5Z".parse().unwrap();
        assert_eq!(machine(at), "2026-11-21T07:04:03.500Z");
        assert_eq!(absolute(at), "21 Nov 2026, 07:04 UTC");
        assert_eq!(clock(at), "07:04:03");
    }
}
