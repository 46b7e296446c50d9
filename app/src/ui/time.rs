//! Times. The server renders them absolute and in UTC; the browser converts them to the reader's time zone.

use chrono::{Datelike, Timelike};
use domain::Timestamp;
use leptos::prelude::*;

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// RFC 3339 with milliseconds, in UTC.
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

/// Date and time to the minute: `21 Nov 2026, 07:44 UTC`.
pub fn absolute(at: Timestamp) -> String {
    let month = MONTHS.get(at.month0() as usize).copied().unwrap_or_default();
    format!("{} {month} {:04}, {:02}:{:02} UTC", at.day(), at.year(), at.hour(), at.minute())
}

/// Time of day with seconds: `07:44:03`, in UTC.
pub fn clock(at: Timestamp) -> String {
    format!("{:02}:{:02}:{:02}", at.hour(), at.minute(), at.second())
}

/// A time that the browser shows as an age: "2 h ago".
pub fn moment(at: Timestamp) -> impl IntoView {
    view! { <time datetime=machine(at) data-time="ago">{absolute(at)}</time> }
}

/// A time to come that the browser shows as a time from now: "in 5 min".
pub fn due(at: Timestamp) -> impl IntoView {
    view! { <time datetime=machine(at) data-time="due">{absolute(at)}</time> }
}

/// A time that the browser shows as a duration until now: "for 2 h".
pub fn since(at: Timestamp) -> impl IntoView {
    view! { <time datetime=machine(at) data-time="since">"since "{absolute(at)}</time> }
}

/// A time that the browser shows in the reader's time zone.
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
