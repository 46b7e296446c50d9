//! Parts of messages that differ between two failures of one cause.

use super::{placeholder::Cut, unit::measured};
use std::net::Ipv4Addr;

/// A segment of letters and digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Letters, or the name of an error such as `E0382`.
    Word,
    /// Digits.
    Number,
    /// Letters and digits without an order that people would give them.
    Id,
    /// Other letters and digits, such as `worker12`.
    Mixed,
}

/// Shortest segment of mixed letters and digits that is an id.
const ID_CHARS_MIN: usize = 5;
/// Shortest hexadecimal segment that is an id.
const HEX_CHARS_MIN: usize = 8;
/// Shortest segment with a digit that is an id, whatever its order.
const LONG_CHARS_MIN: usize = 24;
const UUID_CHARS: usize = 36;
const ERROR_PREFIXES: [&str; 25] = [
    "E", "C", "F", "W", "TS", "CS", "LNK", "MSB", "NU", "CA", "BC", "ORA", "PLS", "TNS", "SQL", "PGRST", "AADSTS",
    "ERR", "HTTP", "RUF", "SC", "EC", "JS", "VB", "DB",
];
/// Last labels of host names. Those of two letters also count after two other labels.
const HOST_ENDINGS: [&str; 26] = [
    "com",
    "org",
    "net",
    "io",
    "dev",
    "local",
    "internal",
    "example",
    "test",
    "app",
    "ai",
    "cloud",
    "svc",
    "lan",
    "edu",
    "gov",
    "info",
    "me",
    "us",
    "uk",
    "de",
    "eu",
    "co",
    "localdomain",
    "invalid",
    "home",
];
const FILE_ENDINGS: [&str; 44] = [
    "rs", "py", "js", "mjs", "cjs", "ts", "tsx", "jsx", "go", "rb", "sh", "c", "h", "cc", "cpp", "hpp", "java", "kt",
    "cs", "php", "swift", "json", "jsonl", "yaml", "yml", "toml", "xml", "html", "css", "md", "txt", "log", "csv",
    "lock", "sql", "db", "sqlite", "pdf", "png", "jpg", "zip", "gz", "so", "exe",
];
const DATE_WORDS: [&str; 38] = [
    "Mon",
    "Tue",
    "Wed",
    "Thu",
    "Fri",
    "Sat",
    "Sun",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
    "Sunday",
    "Jan",
    "Feb",
    "Mar",
    "Apr",
    "May",
    "Jun",
    "Jul",
    "Aug",
    "Sep",
    "Oct",
    "Nov",
    "Dec",
    "January",
    "February",
    "March",
    "April",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
    "Sept",
];
const ZONES: [&str; 13] = ["UTC", "GMT", "CET", "CEST", "EST", "EDT", "PST", "PDT", "Z", "AM", "PM", "am", "pm"];

fn is_quote(c: char) -> bool {
    matches!(c, '"' | '`' | '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}')
}

/// Returns the characters up to the next white space or separator without the marks of a sentence behind them, and what
/// follows. `None` if there are none.
pub(super) fn run(text: &str) -> Option<(&str, &str)> {
    let is_url = scheme_end(text).is_some();
    let bytes = text.as_bytes();
    let ends = |at: usize, c: char| {
        let (before, after) = (text[..at].chars().next_back(), text[at + c.len_utf8()..].chars().next());
        match c {
            _ if c.is_whitespace() || c.is_control() || is_quote(c) => true,
            '<' | '>' | ')' | ']' | '}' => true,
            '‹' | '›' | '(' | '[' | '{' | '|' | ';' | '=' => !is_url,
            // Digits in groups of three.
            ',' => {
                let group = bytes.get(at + 1..at + 4).is_some_and(|group| group.iter().all(u8::is_ascii_digit));
                let goes_on = bytes.get(at + 4).is_some_and(u8::is_ascii_digit);
                let is_grouped = group && !goes_on && before.is_some_and(|c| c.is_ascii_digit());
                !(is_url || is_grouped)
            }
            // As in "can't".
            '\'' | '\u{2019}' | '\u{2018}' => {
                !(before.is_some_and(char::is_alphanumeric) && after.is_some_and(char::is_alphanumeric))
            }
            _ => false,
        }
    };
    let end = text.char_indices().find(|(at, c)| ends(*at, *c)).map_or(text.len(), |(at, _)| at);
    let run = text[..end].trim_end_matches(['.', ',', ':', '!', '?', '…']);
    (!run.is_empty()).then(|| (run, &text[run.len()..]))
}

/// Returns what follows an escape sequence of a terminal, whose escape character has been read.
pub(super) fn after_escape(text: &str) -> &str {
    let Some(parameters) = text.strip_prefix('[') else { return text };
    let end = parameters.find(|c: char| ('@'..='~').contains(&c));
    end.map_or("", |end| &parameters[end + 1..])
}

/// The parts of a URL that a message keeps apart.
pub(super) struct Url<'a> {
    /// With `://`.
    pub scheme: &'a str,
    /// The path, with placeholders; without query and fragment.
    pub path: String,
}

/// Returns the length of a URL's scheme with `://`, if the text begins with one.
fn scheme_end(text: &str) -> Option<usize> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.'))?;
    let is_scheme = text.starts_with(|c: char| c.is_ascii_alphabetic()) && text[end..].starts_with("://");
    is_scheme.then_some(end + "://".len())
}

/// Returns the parts of a URL. One of a file is a path.
pub(super) fn url(run: &str) -> Option<Url<'_>> {
    let (scheme, rest) = run.split_at(scheme_end(run)?);
    if scheme == "file://" {
        return None;
    }
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let path = rest.find('/').map_or("", |at| &rest[at..]);
    let path = path.split('/').map(path_segment).collect::<Vec<_>>().join("/");
    Some(Url { scheme, path })
}

fn path_segment(segment: &str) -> String {
    if segment.contains('‹') {
        return segment.to_owned();
    }
    if segment.contains('%') {
        return Cut::Value.as_str().to_owned();
    }
    let (mut text, mut rest) = (String::new(), segment);
    while let Some(c) = rest.chars().next() {
        if let Some(left) = after_uuid(rest) {
            text.push_str(Cut::Id.as_str());
            rest = left;
            continue;
        }
        let end = rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
        let (part, left) = rest.split_at(if end == 0 { c.len_utf8() } else { end });
        match shape(part) {
            Shape::Number => text.push_str(Cut::Number.as_str()),
            Shape::Id => text.push_str(Cut::Id.as_str()),
            Shape::Mixed if !is_version(part) => {
                for part in digits_apart(part) {
                    text.push_str(if part.starts_with(char::is_numeric) { Cut::Number.as_str() } else { part });
                }
            }
            Shape::Word | Shape::Mixed => text.push_str(part),
        }
        rest = left;
    }
    text
}

/// Whether a segment is the version of an interface, such as `v2`.
fn is_version(segment: &str) -> bool {
    segment
        .strip_prefix('v')
        .is_some_and(|number| number.len() <= 2 && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the placeholder of a run that is one thing as a whole.
pub(super) fn whole(run: &str) -> Option<Cut> {
    if after_uuid(run) == Some("") || is_long(run) {
        Some(Cut::Id)
    } else if let Some(hex) = run.strip_prefix("0x").or_else(|| run.strip_prefix("0X")) {
        hex.starts_with(|c: char| c.is_ascii_hexdigit()).then_some(Cut::Id)
    } else if is_address(run) {
        Some(Cut::Address)
    } else if is_time(run) {
        Some(Cut::Time)
    } else if is_path(run) {
        Some(Cut::Path)
    } else if is_host(run) {
        Some(Cut::Host)
    } else {
        measured(run)
    }
}

/// Returns what follows a UUID with which a text begins.
pub(super) fn after_uuid(text: &str) -> Option<&str> {
    let (id, rest) = text.split_at_checked(UUID_CHARS)?;
    let fits = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    (id.bytes().enumerate().all(fits) && !rest.starts_with(char::is_alphanumeric)).then_some(rest)
}

/// Whether a run is a long secret or digest in an alphabet of base 64.
fn is_long(run: &str) -> bool {
    run.len() >= 2 * LONG_CHARS_MIN
        && run.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-' | b'='))
        && run.bytes().any(|byte| byte.is_ascii_digit())
        && !run.contains("//")
        && run.split(['/', '-', '_']).any(|part| part.len() >= LONG_CHARS_MIN)
}

fn is_address(run: &str) -> bool {
    run.split_once('@').is_some_and(|(name, host)| {
        let is_name = !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "._%+-".contains(c));
        is_name && is_host_name(host)
    })
}

fn is_time(run: &str) -> bool {
    let bytes = run.as_bytes();
    let digits = |from: usize, to: usize| bytes.get(from..to).is_some_and(|part| part.iter().all(u8::is_ascii_digit));
    let rest_of_time = |from: usize| {
        run.get(from..).is_some_and(|rest| {
            rest.starts_with(|c: char| !c.is_ascii_digit())
                && rest.chars().all(|c| c.is_ascii_digit() || "T:.,Z+-_".contains(c))
                || rest.is_empty()
        })
    };
    let mark = |at: usize| bytes.get(at).copied();
    let is_date = digits(0, 4)
        && matches!(mark(4), Some(b'-' | b'/'))
        && mark(4) == mark(7)
        && digits(5, 7)
        && digits(8, 10)
        && rest_of_time(10);
    let parts: Vec<&str> = run.split(':').collect();
    let is_clock = parts.len() == 3
        && parts[..2].iter().all(|part| matches!(part.len(), 1 | 2) && part.bytes().all(|byte| byte.is_ascii_digit()))
        && parts[2].len() >= 2
        && parts[2].starts_with(|c: char| c.is_ascii_digit())
        && parts[2].bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b',' | b'Z'));
    is_date || is_clock
}

fn is_path(run: &str) -> bool {
    if run.starts_with("file://") {
        return true;
    }
    let bytes = run.as_bytes();
    let has_drive = matches!(bytes, [drive, b':', b'\\' | b'/', ..] if drive.is_ascii_alphabetic());
    if has_drive || run.starts_with("\\\\") {
        return true;
    }
    // Line and column of a place in a file.
    let file = run.trim_end_matches(|c: char| c.is_ascii_digit() || c == ':');
    let file = if file.len() < run.len() && run[file.len()..].starts_with(':') { file } else { run };
    let has_ending = |name: &str| {
        name.rsplit_once('.').is_some_and(|(stem, ending)| {
            stem.chars().any(char::is_alphanumeric) && FILE_ENDINGS.contains(&ending.to_ascii_lowercase().as_str())
        })
    };
    let starts = ["/", "./", "../", "~/"].iter().any(|start| {
        run.strip_prefix(start).is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || "._-".contains(c)))
    });
    let slashes = file.matches('/').count();
    starts || (slashes >= 2 && !file.contains("//")) || has_ending(file.rsplit('/').next().unwrap_or_default())
}

fn is_host_name(name: &str) -> bool {
    let labels: Vec<&str> = name.split('.').collect();
    let is_label = |label: &&str| {
        !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    let last = labels.last().copied().unwrap_or_default();
    let is_country = labels.len() >= 3 && last.len() == 2 && last.bytes().all(|byte| byte.is_ascii_lowercase());
    labels.len() >= 2 && labels.iter().all(is_label) && (HOST_ENDINGS.contains(&last) || is_country)
}

fn is_host(run: &str) -> bool {
    let colons = run.matches(':').count();
    let is_hex = run.bytes().all(|byte| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.'));
    if is_hex && (colons >= 5 || (colons >= 2 && run.contains("::"))) {
        return true;
    }
    let (name, has_port) = match run.rsplit_once(':') {
        Some((name, port)) if (1..=5).contains(&port.len()) && port.bytes().all(|byte| byte.is_ascii_digit()) => {
            (name, true)
        }
        _ => (run, false),
    };
    let is_service = || {
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
        let (letter, digit) = (name.contains(char::is_alphabetic), name.contains(|c: char| c.is_ascii_digit()));
        plain && letter && (digit || name.contains(['-', '.']))
    };
    name.parse::<Ipv4Addr>().is_ok() || name == "localhost" || is_host_name(name) || (has_port && is_service())
}

/// Whether a run is a number: with a sign, with groups of digits, a version, a percentage or an ordinal.
pub(super) fn is_number(run: &str) -> bool {
    let number = run.strip_prefix(['+', '-']).unwrap_or(run);
    let number = ["%", "st", "nd", "rd", "th"].iter().find_map(|end| number.strip_suffix(end)).unwrap_or(number);
    number.starts_with(char::is_numeric) && number.chars().all(|c| c.is_numeric() || matches!(c, '.' | ',' | '_'))
}

pub(super) fn is_date_word(run: &str) -> bool {
    DATE_WORDS.contains(&run)
}

/// Whether a text begins with a number or with a further word of a date.
pub(super) fn starts_with_date(text: &str) -> bool {
    let text = text.trim_start_matches([' ', ',', '.']);
    let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
    text.starts_with(|c: char| c.is_ascii_digit()) || is_date_word(&text[..end])
}

pub(super) fn is_zone(run: &str) -> bool {
    ZONES.contains(&run)
}

/// Whether numbers after this name and a hyphen are codes of errors, as in `ORA-00942`.
pub(super) fn is_error_prefix(name: &str) -> bool {
    ERROR_PREFIXES.contains(&name)
}

/// Whether a segment is the name of an error, such as `E0382` or `TS2345`.
fn is_error_name(segment: &str) -> bool {
    let digits = segment.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let prefix = &segment[..segment.len() - digits.len()];
    (3..=6).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit()) && is_error_prefix(prefix)
}

/// Returns what a segment of letters and digits is.
pub(super) fn shape(segment: &str) -> Shape {
    if !segment.contains(char::is_numeric) || is_error_name(segment) {
        Shape::Word
    } else if segment.chars().all(char::is_numeric) {
        Shape::Number
    } else if is_id(segment) {
        Shape::Id
    } else {
        Shape::Mixed
    }
}

fn is_id(segment: &str) -> bool {
    let length = segment.chars().count();
    let parts = digits_apart(segment).count();
    let digits = segment.chars().filter(|c| c.is_numeric()).count();
    let is_hex = segment.bytes().all(|byte| byte.is_ascii_hexdigit());
    length >= LONG_CHARS_MIN
        || (is_hex && length >= HEX_CHARS_MIN)
        || (length >= ID_CHARS_MIN && digits >= 2 && parts >= 3)
}

/// Returns the parts of a segment that are only digits or have none.
pub(super) fn digits_apart(segment: &str) -> impl Iterator<Item = &str> {
    let mut rest = segment;
    std::iter::from_fn(move || {
        let is_digit = rest.chars().next()?.is_numeric();
        let end = rest.find(|c: char| c.is_numeric() != is_digit).unwrap_or(rest.len());
        let (part, left) = rest.split_at(end);
        rest = left;
        Some(part)
    })
}
