//! Pictures in the log: base64 in a JSON string. A page shows no other pictures, because the browser would fetch them
//! from hosts that an agent chose.

use crate::text::number;
use domain::chain::body_digest;
use serde_json::Value;
use std::fmt::Write as _;

/// Shortest base64 that is taken for a picture, bytes. The smallest PNG is longer.
const PICTURE_BYTES_MIN: usize = 40;
/// Length of a picture's name, characters.
const NAME_CHARS: usize = 16;

/// A picture, borrowed from its string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picture<'a> {
    /// The media type, by the first bytes of the picture.
    pub media_type: &'static str,
    /// What people call this type.
    pub word: &'static str,
    /// The base64.
    pub data: &'a str,
}

impl<'a> Picture<'a> {
    /// The picture in a string: base64, alone or as a data URL. `None` for any other text.
    pub fn of(text: &'a str) -> Option<Self> {
        let data = match text.strip_prefix("data:image/") {
            Some(rest) => rest.split_once(";base64,")?.1,
            None => text,
        };
        let webp = || data.get(12..16) == Some("RUJQ");
        let (media_type, word) = match data {
            _ if data.len() < PICTURE_BYTES_MIN => return None,
            _ if data.starts_with("iVBORw0KGgo") => ("image/png", "PNG"),
            _ if data.starts_with("/9j/") => ("image/jpeg", "JPEG"),
            _ if data.starts_with("R0lGODdh") || data.starts_with("R0lGODlh") => ("image/gif", "GIF"),
            _ if data.starts_with("UklGR") && webp() => ("image/webp", "WebP"),
            _ => return None,
        };
        let is_base64 = data.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='));
        is_base64.then_some(Self { media_type, word, data })
    }

    /// Type and size: `PNG, 8 kB`.
    pub fn words(&self) -> String {
        let bytes = self.data.trim_end_matches('=').len() as u64 * 3 / 4;
        match bytes {
            0..1_000 => format!("{}, {}", self.word, number::counted(bytes, "byte")),
            _ => format!("{}, {} kB", self.word, number::grouped(bytes.div_ceil(1_000))),
        }
    }

    /// Name of the picture in addresses: the start of a digest.
    pub fn name(&self) -> String {
        let mut name = body_digest(self.data, "").to_string();
        name.truncate(NAME_CHARS);
        name
    }

    /// Address of the picture.
    pub fn address(&self, session_id: &str, sequence: u64) -> String {
        let mut address = format!("/sessions/{session_id}/pictures/{sequence}/");
        let _ = write!(address, "{}", self.name());
        address
    }
}

/// The media type and the base64 of the picture with this name in these JSON texts of an event.
pub fn picture_named(texts: [&str; 2], name: &str) -> Option<(&'static str, String)> {
    texts.into_iter().find_map(|text| find(&serde_json::from_str(text).ok()?, name))
}

fn find(value: &Value, name: &str) -> Option<(&'static str, String)> {
    match value {
        Value::String(text) => {
            let picture = Picture::of(text).filter(|picture| picture.name() == name)?;
            Some((picture.media_type, picture.data.to_owned()))
        }
        Value::Array(items) => items.iter().find_map(|item| find(item, name)),
        Value::Object(members) => members.values().find_map(|member| find(member, name)),
        _ => None,
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A PNG of one pixel.
    pub const PIXEL: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    #[test]
    fn pictures_are_known_by_their_first_bytes() {
        let picture = Picture::of(PIXEL).unwrap();
        assert_eq!((picture.media_type, picture.words().as_str()), ("image/png", "PNG, 70 bytes"));
        let url = format!("data:image/svg+xml;base64,{PIXEL}");
        assert_eq!(Picture::of(&url), Some(picture));
        for other in ["", "iVBORw0KGgo", "data:image/png;base64,PHN2Zz4", "https://a.test/a.png"] {
            assert_eq!(Picture::of(other), None, "{other}");
        }
        assert_eq!(Picture::of(&format!("{PIXEL}\"><script>")), None);
        assert_eq!(Picture::of(&format!("/9j/{}", "A".repeat(10_660))).unwrap().words(), "JPEG, 8 kB");
    }

    #[test]
    fn a_picture_is_found_by_its_name() {
        let content = format!(r#"[{{"type":"text","text":"x"}},{{"output":{{"value":[{{"data":"{PIXEL}"}}]}}}}]"#);
        let name = Picture::of(PIXEL).unwrap().name();
        assert_eq!(picture_named([&content, "{}"], &name), Some(("image/png", PIXEL.to_owned())));
        assert_eq!(picture_named([&content, "{}"], "0123456789abcdef"), None);
        assert_eq!(picture_named(["{broken", ""], &name), None);
    }
}
