//! Names of the documents that the writer pass writes.

use crate::Timestamp;
use chrono::Timelike as _;

/// The parts of a day (UTC), in order: six hours each.
pub const PARTS_OF_DAY: [&str; 4] = ["night", "morning", "afternoon", "evening"];

/// Returns the name of the part of the day (UTC) in which a conversation began.
pub fn part_of_day(at: Timestamp) -> &'static str {
    PARTS_OF_DAY[(at.hour() / 6) as usize]
}

/// Returns the path of a new session document, `sessions/<date>-<slot>.md`. If `is_taken`, the slot gets a number.
pub fn session_path(began: Timestamp, is_taken: impl Fn(&str) -> bool) -> String {
    let stem = format!("sessions/{}-{}", began.format("%Y-%m-%d"), part_of_day(began));
    let first = format!("{stem}.md");
    if !is_taken(&first) {
        return first;
    }
    (2_u32..).map(|number| format!("{stem}-{number}.md")).find(|path| !is_taken(path)).unwrap_or(first)
}

/// Longest platform or user id in the path of a person's document, characters.
const NAME_CHARS_MAX: usize = 60;

/// Returns the path of a person's document, `people/<platform>-<user_id>.md`. Characters that are not safe in a file
/// name become hyphens, and letters become small, so that two spellings of an id are one person.
pub fn person_path(platform: &str, user_id: &str) -> String {
    // The path ends its platform at the first hyphen.
    format!("people/{}-{}.md", safe(platform).replace(['-', '_'], ""), safe(user_id))
}

fn safe(name: &str) -> String {
    let mut safe = String::new();
    for c in name.chars().flat_map(char::to_lowercase).take(NAME_CHARS_MAX) {
        match c {
            'a'..='z' | '0'..='9' | '_' => safe.push(c),
            _ if !safe.ends_with('-') && !safe.is_empty() => safe.push('-'),
            _ => {}
        }
    }
    let safe = safe.trim_matches(['-', '_']);
    if safe.is_empty() { "unknown".to_owned() } else { safe.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn a_second_conversation_of_a_slot_gets_a_name_of_its_own() {
        let began = at("2026-11-21T08:30:00Z");
        assert_eq!(session_path(began, |_| false), "sessions/2026-11-21-morning.md");
        assert_eq!(session_path(began, |path| path.ends_with("morning.md")), "sessions/2026-11-21-morning-2.md");
        let named = |time: &str| part_of_day(at(&format!("2026-11-21T{time}:00Z")));
        assert_eq!(
            ["00:00", "05:59", "06:00", "11:59", "12:00", "17:59", "18:00", "23:59"].map(named),
            ["night", "night", "morning", "morning", "afternoon", "afternoon", "evening", "evening"]
        );
    }

    proptest! {
        #[test]
        fn a_persons_path_is_safe_whatever_their_id(platform in "\\PC{0,40}", id in "\\PC{0,80}") {
            let path = person_path(&platform, &id);
            let name = path.strip_prefix("people/").unwrap().strip_suffix(".md").unwrap();
            let is_safe = name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-' || b == b'_');
            prop_assert!(is_safe && !name.starts_with('-') && !name.ends_with('-'), "{}", path);
        }
    }
}
