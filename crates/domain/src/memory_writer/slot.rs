//! Names of the documents that the writer pass writes.

use crate::{
    Timestamp,
    memory::{MemoryPath, digest},
    slug::is_slug,
};
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

/// Longest user id that a path has as it is, bytes.
const ID_BYTES_MAX: usize = 64;
/// Longest platform in a path, and longest part of an id in front of a digest, characters.
const PART_CHARS_MAX: usize = 40;
/// Hexadecimal digits of a digest in a path.
const DIGEST_CHARS: usize = 16;
/// Longest platform or id in a path of earlier versions, characters.
const EARLIER_CHARS_MAX: usize = 60;

/// Returns the path of a person's document, `people/<platform>-<user_id>.md`. Two people never have the same path.
/// ASCII letters become small: ids that differ only in them are one person.
///
/// An id that is no safe name is shortened to its safe characters, and a digest of platform and id follows.
pub fn person_path(platform: &str, user_id: &str) -> String {
    let (platform, id) = (platform.to_ascii_lowercase(), user_id.to_ascii_lowercase());
    // The path ends its platform at the first hyphen.
    if is_slug(&platform) && !platform.contains('-') && platform.len() <= PART_CHARS_MAX && is_plain(&id) {
        return format!("people/{platform}-{id}.md");
    }
    // The length keeps the end of one apart from the beginning of the other.
    let digest = digest(&format!("{}:{platform}{id}", platform.len())).to_string();
    let (platform, id) = (safe(&platform, PART_CHARS_MAX).replace(['-', '_'], ""), safe(&id, PART_CHARS_MAX));
    format!("people/{platform}-{id}-{digest:.DIGEST_CHARS$}.md")
}

/// Returns the path of a person's document from its own name: an id that ends with a digest is one that
/// [`person_path`] has made. Any other id is the person's.
pub fn named_path(platform: &str, id: &str) -> String {
    let is_made = ends_with_digest(id) && MemoryPath::parse(&format!("people/{platform}-{id}.md")).is_ok();
    if is_made { format!("people/{platform}-{id}.md") } else { person_path(platform, id) }
}

/// Returns the path that versions before digests gave a person. People with different ids could have the same one.
pub fn earlier_person_path(platform: &str, user_id: &str) -> String {
    let platform = safe(platform, EARLIER_CHARS_MAX).replace(['-', '_'], "");
    format!("people/{platform}-{}.md", safe(user_id, EARLIER_CHARS_MAX))
}

/// Returns the path with a person's id as it is, however it is written. Documents can be named so by hand, and versions
/// before digests marked forgotten people by it. `None` if it is no path, or, because of a hyphen in the platform, that
/// of another person.
pub fn typed_person_path(platform: &str, user_id: &str) -> Option<MemoryPath> {
    let path = MemoryPath::parse(&format!("people/{}-{user_id}.md", platform.to_ascii_lowercase()));
    path.ok().filter(|_| !platform.contains('-'))
}

/// Whether a path can have an id as it is. An id that ends as if with a digest cannot: it could be another's path.
fn is_plain(id: &str) -> bool {
    let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    !id.is_empty()
        && id.len() <= ID_BYTES_MAX
        && id.chars().all(|c| is_word(c) || matches!(c, '-' | '.' | '@'))
        && id.starts_with(is_word)
        && id.ends_with(is_word)
        && !id.contains("..")
        && !ends_with_digest(id)
}

fn ends_with_digest(id: &str) -> bool {
    let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
    id.rsplit_once('-').is_some_and(|(_, end)| end.len() == DIGEST_CHARS && end.bytes().all(is_digit))
}

/// Returns the safe characters among the first ones of a name, with a hyphen for each run of others.
fn safe(name: &str, chars_max: usize) -> String {
    let mut safe = String::new();
    for c in name.chars().flat_map(char::to_lowercase).take(chars_max) {
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
    use crate::memory::fold;
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

    #[test]
    fn a_safe_id_is_its_own_name_and_others_end_with_a_digest() {
        for (platform, id, path) in [
            ("discord", "188001", "people/discord-188001.md"),
            ("slack", "U02ABC", "people/slack-u02abc.md"),
            ("shiftbook", "01a31849-87c0-77e3", "people/shiftbook-01a31849-87c0-77e3.md"),
            ("mail", "Ines@Example.org", "people/mail-ines@example.org.md"),
        ] {
            assert_eq!(person_path(platform, id), path);
            assert_eq!(named_path(platform, id), path);
        }
        for (platform, id, begin) in [
            ("sms", "+4915", "people/sms-4915-"),
            ("mail", "日本", "people/mail-unknown-"),
            ("mail", "", "people/mail-unknown-"),
            ("ms-teams", "1", "people/msteams-1-"),
            ("matrix", "@ines:example.org", "people/matrix-ines-example-org-"),
            // The Kelvin sign, whose small letter is an ASCII letter.
            ("mail", "\u{212a}ai", "people/mail-kai-"),
            ("mail", "x-0123456789abcdef", "people/mail-x-0123456789abcdef-"),
        ] {
            let made = person_path(platform, id);
            let digest = made.strip_prefix(begin).and_then(|rest| rest.strip_suffix(".md")).unwrap();
            assert!(digest.len() == DIGEST_CHARS && digest.bytes().all(|b| b.is_ascii_hexdigit()), "{made}");
        }
        assert_eq!(earlier_person_path("mail", "ines@example.org"), "people/mail-ines-example-org.md");
        let typed = |platform, id| typed_person_path(platform, id).map(|path| path.to_string());
        assert_eq!(typed("SMS", "+4915").as_deref(), Some("people/sms-+4915.md"));
        assert_eq!((typed("ms-teams", "1"), typed("matrix", "@ines:example.org")), (None, None));
    }

    proptest! {
        #[test]
        fn a_persons_path_is_safe_whatever_their_id(platform in "\\PC{0,40}", id in "\\PC{0,80}") {
            for path in [person_path(&platform, &id), earlier_person_path(&platform, &id)] {
                let name = path.strip_prefix("people/").unwrap().strip_suffix(".md").unwrap();
                let is_safe = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_.@".contains(&b);
                prop_assert!(name.bytes().all(is_safe) && !name.starts_with('-') && !name.ends_with('-'), "{}", path);
            }
            let path = person_path(&platform, &id);
            let parsed = MemoryPath::parse(&path).unwrap();
            let (at, named) = parsed.person().unwrap();
            prop_assert_eq!(named_path(at, named), path);
        }

        #[test]
        fn two_people_never_have_the_same_path(
            one in ("[a-c]{1,2}-?[a-c]?|\\PC{0,6}", "[aA1@.+_-]{0,4}(-0123456789abcdef)?|a{58,70}|\\PC{0,6}"),
            other in ("[a-c]{1,2}-?[a-c]?|\\PC{0,6}", "[aA1@.+_-]{0,4}(-0123456789abcdef)?|a{58,70}|\\PC{0,6}"),
        ) {
            let is_same = one.0.eq_ignore_ascii_case(&other.0) && one.1.eq_ignore_ascii_case(&other.1);
            let folded = |(platform, id): &(String, String)| fold(&person_path(platform, id));
            prop_assert_eq!(folded(&one) == folded(&other), is_same, "{:?} {:?}", one, other);
        }
    }
}
