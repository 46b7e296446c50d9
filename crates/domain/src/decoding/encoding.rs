//! Bytes as text: UTF-8 with and without a byte order mark, UTF-16, and bytes of other encodings.

use super::{Position, Repair, What};
use std::borrow::Cow;

/// What a stream was found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, or bytes of an unknown encoding.
    Utf8,
    /// UTF-16, little endian: what Windows writes.
    Utf16Le,
    /// UTF-16, big endian.
    Utf16Be,
}

/// The character of byte order marks.
const MARK: char = '\u{feff}';
/// A byte that no UTF-8 text has. It represents half of a surrogate pair in UTF-16, so that [`decode_line`] finds it.
const NO_TEXT: u8 = 0xFF;

/// Converts the bytes of a stream to UTF-8, as they arrive. Bytes that are not UTF-16 are passed on unchanged.
#[derive(Debug, Default)]
pub struct StreamDecoder {
    /// `None` until the first bytes show the encoding.
    encoding: Option<Encoding>,
    /// Bytes that are not decoded yet: the first ones, or half of a character.
    held: Vec<u8>,
}

impl StreamDecoder {
    /// Takes the next bytes and returns what can be decoded.
    pub fn push<'a>(&mut self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if self.encoding == Some(Encoding::Utf8) {
            return Cow::Borrowed(bytes);
        }
        self.held.extend_from_slice(bytes);
        match self.encoding.or_else(|| detect(&self.held)) {
            None => Cow::Owned(Vec::new()),
            Some(Encoding::Utf8) => {
                self.encoding = Some(Encoding::Utf8);
                Cow::Owned(std::mem::take(&mut self.held))
            }
            Some(encoding) => {
                self.encoding = Some(encoding);
                Cow::Owned(self.take_utf16(encoding, false))
            }
        }
    }

    /// Returns what is left at the end of the stream.
    pub fn finish(&mut self) -> Vec<u8> {
        match self.encoding {
            Some(encoding @ (Encoding::Utf16Le | Encoding::Utf16Be)) => self.take_utf16(encoding, true),
            Some(Encoding::Utf8) | None => std::mem::take(&mut self.held),
        }
    }

    /// Whether the stream is UTF-16. `false` until its first bytes have arrived.
    pub fn is_utf16(&self) -> bool {
        matches!(self.encoding, Some(Encoding::Utf16Le | Encoding::Utf16Be))
    }

    /// Decodes whole characters. At the end of the stream what is left of one is no text.
    fn take_utf16(&mut self, encoding: Encoding, is_end: bool) -> Vec<u8> {
        let (pairs, odd) = self.held.as_chunks::<2>();
        let unit = |pair: &[u8; 2]| match encoding {
            Encoding::Utf16Be => u16::from_be_bytes(*pair),
            Encoding::Utf16Le | Encoding::Utf8 => u16::from_le_bytes(*pair),
        };
        let mut units: Vec<u16> = pairs.iter().map(unit).collect();
        let mut kept = odd.to_vec();
        // The second half of the last pair may be in the next bytes.
        if !is_end && units.last().is_some_and(|last| (0xD800..0xDC00).contains(last)) {
            units.pop();
            kept = self.held.get(units.len() * 2..).unwrap_or_default().to_vec();
        }
        let mut text = Vec::with_capacity(self.held.len());
        for decoded in char::decode_utf16(units) {
            match decoded {
                Ok(letter) => text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
                Err(_) => text.push(NO_TEXT),
            }
        }
        if is_end && !kept.is_empty() {
            text.push(NO_TEXT);
            kept.clear();
        }
        self.held = kept;
        text
    }
}

/// The encoding that the first bytes of a stream tell; `None` if they are too few. UTF-16 without a byte order mark is
/// recognised by its first two characters, if these are ASCII.
fn detect(first: &[u8]) -> Option<Encoding> {
    match first {
        [0xFF, 0xFE, ..] => Some(Encoding::Utf16Le),
        [0xFE, 0xFF, ..] => Some(Encoding::Utf16Be),
        [1..=0x7F, 0, 1..=0x7F, 0, ..] => Some(Encoding::Utf16Le),
        [0, 1..=0x7F, 0, 1..=0x7F, ..] => Some(Encoding::Utf16Be),
        [] | [0xFE | 0xFF | 0..=0x7F] | [1..=0x7F, 0] | [1..=0x7F, 0, 1..=0x7F] | [0, 1..=0x7F] | [0, 1..=0x7F, 0] => {
            None
        }
        _ => Some(Encoding::Utf8),
    }
}

/// Decodes the bytes of a line, or of a part of one, that begins at the character `column` of line `line`. A byte order
/// mark at the beginning of a line is left out, and runs of bytes that are not UTF-8 become U+FFFD.
pub fn decode_line(bytes: &[u8], (line, column): (u64, u64)) -> (Cow<'_, str>, Vec<Repair>) {
    let mut position = Position { line, column };
    let mut repairs = Vec::new();
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(lossy(bytes, &mut position, &mut repairs)),
    };
    if column != 1 || !text.starts_with(MARK) {
        return (text, repairs);
    }
    repairs.insert(0, Position { line, column }.repair(What::ByteOrderMark));
    let text = match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.trim_start_matches(MARK)),
        Cow::Owned(text) => Cow::Owned(text.trim_start_matches(MARK).to_owned()),
    };
    (text, repairs)
}

/// Decodes a whole document.
pub fn decode_document(bytes: &[u8]) -> (String, Vec<Repair>) {
    let mut decoder = StreamDecoder::default();
    let mut decoded = decoder.push(bytes).into_owned();
    decoded.extend(decoder.finish());
    let (text, mut repairs) = decode_line(&decoded, (1, 1));
    let text = text.into_owned();
    if decoder.is_utf16() {
        repairs.retain(|repair| repair.what != What::ByteOrderMark);
        repairs.insert(0, Position::START.repair(What::Utf16));
    }
    (text, repairs)
}

fn lossy(bytes: &[u8], position: &mut Position, repairs: &mut Vec<Repair>) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        position.pass(chunk.valid());
        if !chunk.invalid().is_empty() {
            repairs.push(position.repair(What::Bytes));
            text.push(char::REPLACEMENT_CHARACTER);
            position.column += 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utf16(text: &str, encoding: Encoding) -> Vec<u8> {
        let bytes = |unit: u16| if encoding == Encoding::Utf16Be { unit.to_be_bytes() } else { unit.to_le_bytes() };
        text.encode_utf16().flat_map(bytes).collect()
    }

    fn streamed(bytes: &[u8], piece: usize) -> Vec<u8> {
        let mut decoder = StreamDecoder::default();
        let mut text: Vec<u8> = bytes.chunks(piece).flat_map(|bytes| decoder.push(bytes).into_owned()).collect();
        text.extend(decoder.finish());
        text
    }

    #[test]
    fn utf_16_is_converted_however_the_bytes_arrive() {
        for encoding in [Encoding::Utf16Le, Encoding::Utf16Be] {
            for text in ["\u{feff}{\"a\":\"ü日😀\"}\n", "{\"a\":\"ü日😀\"}\nx"] {
                let bytes = utf16(text, encoding);
                for piece in 1..=bytes.len() {
                    assert_eq!(String::from_utf8(streamed(&bytes, piece)).unwrap(), text, "{encoding:?} {piece}");
                }
            }
        }
    }

    #[test]
    fn other_bytes_are_passed_on_unchanged() {
        for bytes in
            [&b"a"[..], b"", b"\n", b"a\0", b"a\0b", b"a\0\0b", b"\0\0\0", b"{\"a\":1}", b"\xFFabc", "日".as_bytes()]
        {
            for piece in 1..=bytes.len().max(1) {
                assert_eq!(streamed(bytes, piece), bytes, "{bytes:?}");
            }
        }
    }

    #[test]
    fn half_of_a_pair_and_half_of_a_unit_are_found_as_no_text() {
        let bytes =
            [&utf16("ab", Encoding::Utf16Le)[..], &0xD83D_u16.to_le_bytes(), &utf16("c", Encoding::Utf16Le), b"d"];
        let (text, repairs) = decode_document(&bytes.concat());
        assert_eq!(text, "ab\u{fffd}c\u{fffd}");
        let found: Vec<_> = repairs.iter().map(|repair| (repair.column, repair.what)).collect();
        assert_eq!(found, [(1, What::Utf16), (3, What::Bytes), (5, What::Bytes)]);
    }

    #[test]
    fn marks_are_left_out_and_bytes_of_other_encodings_are_replaced() {
        let (text, repairs) = decode_line("\u{feff}{}".as_bytes(), (4, 1));
        assert_eq!((text.as_ref(), repairs), ("{}", vec![Repair { line: 4, column: 1, what: What::ByteOrderMark }]));
        // "é" in Latin-1, in the second part of a long line.
        let (text, repairs) = decode_line(b"caf\xE9 \xE9", (2, 11));
        assert_eq!(text, "caf\u{fffd} \u{fffd}");
        let columns: Vec<_> = repairs.iter().map(|repair| (repair.line, repair.column)).collect();
        assert_eq!(columns, [(2, 14), (2, 16)]);
        assert_eq!(decode_line("\u{feff}".as_bytes(), (1, 5)).0, "\u{feff}", "inside of a line it is a character");
    }
}
