//! An instant in a form: a local date and time, and its offset from UTC, each in a control of its own.

use chrono::{DateTime, FixedOffset, NaiveDateTime};

/// The part after the point in the name of the control with the offset, such as `when.zone`.
pub const ZONE: &str = "zone";

/// The offset without a choice.
pub const UTC: &str = "+00:00";

/// The offsets that places have, from west to east.
pub const OFFSETS: [&str; 40] = [
    "-12:00", "-11:00", "-10:00", "-09:30", "-09:00", "-08:00", "-07:00", "-06:00", "-05:00", "-04:00", "-03:30",
    "-03:00", "-02:30", "-02:00", "-01:00", "+00:00", "+01:00", "+02:00", "+03:00", "+03:30", "+04:00", "+04:30",
    "+05:00", "+05:30", "+05:45", "+06:00", "+06:30", "+07:00", "+08:00", "+08:45", "+09:00", "+09:30", "+10:00",
    "+10:30", "+11:00", "+12:00", "+12:45", "+13:00", "+13:45", "+14:00",
];

/// Formats an instant for the two controls: the local time as `2026-03-01T09:30`, and the offset as `+02:00`. `None`
/// for a text that is no instant, and for one with parts of a millisecond, which the control cannot hold.
pub fn split_instant(text: &str) -> Option<(String, String)> {
    let at = DateTime::parse_from_rfc3339(text).ok()?;
    let nanos = at.timestamp_subsec_nanos();
    // A leap second has more than 999 milliseconds, and the control has no second 60.
    if nanos % 1_000_000 != 0 || nanos >= 1_000_000_000 {
        return None;
    }
    let pattern = match (nanos, at.timestamp() % 60) {
        (0, 0) => "%Y-%m-%dT%H:%M",
        (0, _) => "%Y-%m-%dT%H:%M:%S",
        _ => "%Y-%m-%dT%H:%M:%S%.3f",
    };
    let local = at.format(pattern).to_string();
    // Years outside of four digits have another form, which the control does not have.
    (local.as_bytes().get(4) == Some(&b'-')).then(|| (local, at.format("%:z").to_string()))
}

/// Reads the texts of the two controls as an instant in the form of RFC 3339. `None` if they are none.
pub fn join_instant(local: &str, offset: &str) -> Option<String> {
    let local = local.trim();
    let read = ["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S%.f"]
        .iter()
        .find_map(|pattern| NaiveDateTime::parse_from_str(local, pattern).ok())?;
    let offset: FixedOffset = offset.trim().parse().ok()?;
    let at = read.and_local_timezone(offset).single()?;
    let text = at.to_rfc3339_opts(chrono::SecondsFormat::AutoSi, true);
    DateTime::parse_from_rfc3339(&text).is_ok().then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_controls_show_of_an_instant_reads_as_the_same_instant() {
        for (text, local, offset) in [
            ("2026-03-01T09:30:00Z", "2026-03-01T09:30", "+00:00"),
            ("2026-03-01T09:30:00+02:00", "2026-03-01T09:30", "+02:00"),
            ("2026-03-01T09:30:05-03:30", "2026-03-01T09:30:05", "-03:30"),
            ("2026-03-01T09:30:05.120+12:45", "2026-03-01T09:30:05.120", "+12:45"),
            ("2026-03-01T09:30:00+02:17", "2026-03-01T09:30", "+02:17"),
        ] {
            assert_eq!(split_instant(text), Some((local.to_owned(), offset.to_owned())));
            assert_eq!(join_instant(local, offset).as_deref(), Some(text));
        }
        for text in ["2026-03-01T09:30", "tomorrow", "2026-03-01T09:30:05.1234567Z", "2016-12-31T23:59:60Z"] {
            assert_eq!(split_instant(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_no_time_or_no_offset_is_no_instant() {
        for (local, offset) in [
            ("", "+00:00"),
            ("2026-02-30T09:30", "+00:00"),
            ("2026-03-01", "+00:00"),
            ("2026-03-01T09:30", ""),
            ("2026-03-01T09:30", "Oslo"),
            ("2026-03-01T09:30", "+99:00"),
        ] {
            assert_eq!(join_instant(local, offset), None, "{local} {offset}");
        }
    }

    #[test]
    fn every_offset_that_is_offered_can_be_read() {
        for offset in OFFSETS {
            let read = join_instant("2026-03-01T09:30", offset).unwrap();
            assert_eq!(split_instant(&read).unwrap().1, offset);
        }
        assert!(OFFSETS.contains(&UTC));
    }
}
