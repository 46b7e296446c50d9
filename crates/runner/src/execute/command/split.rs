//! Cuts the bytes of a pipe into lines. No I/O.

/// A line, or a part of an over-long line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The bytes without the line end.
    pub bytes: Vec<u8>,
    /// Whether the line begins in this part.
    pub begins: bool,
    /// Whether the line ends in this part.
    pub ends: bool,
}

/// Cuts at `\n` and `\r\n`, and inside lines that are too long.
#[derive(Debug)]
pub struct Splitter {
    line_bytes_max: usize,
    buffer: Vec<u8>,
    begins: bool,
}

impl Splitter {
    /// A splitter at the beginning of a line. Longer lines than `line_bytes_max` come in parts.
    pub const fn new(line_bytes_max: usize) -> Self {
        Self { line_bytes_max, buffer: Vec::new(), begins: true }
    }

    /// Takes the next bytes and returns the lines that are complete.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<Line> {
        let mut lines = Vec::new();
        while !bytes.is_empty() {
            let room = self.line_bytes_max - self.buffer.len();
            let window = &bytes[..bytes.len().min(room)];
            if let Some(end) = window.iter().position(|b| *b == b'\n') {
                self.buffer.extend_from_slice(&window[..end]);
                bytes = &bytes[end + 1..];
                if self.buffer.last() == Some(&b'\r') {
                    self.buffer.pop();
                }
                lines.push(self.cut(true));
            } else {
                self.buffer.extend_from_slice(window);
                bytes = &bytes[window.len()..];
                if self.buffer.len() == self.line_bytes_max {
                    let rest = self.buffer.split_off(whole_characters(&self.buffer));
                    lines.push(self.cut(false));
                    self.buffer = rest;
                }
            }
        }
        lines
    }

    /// Returns the last line if it has no line end.
    pub fn finish(&mut self) -> Option<Line> {
        if self.buffer.is_empty() && self.begins { None } else { Some(self.cut(true)) }
    }

    fn cut(&mut self, ends: bool) -> Line {
        let begins = std::mem::replace(&mut self.begins, ends);
        Line { bytes: std::mem::take(&mut self.buffer), begins, ends }
    }
}

/// Length of the longest prefix that splits neither a character nor `\r\n`.
fn whole_characters(bytes: &[u8]) -> usize {
    if bytes.last() == Some(&b'\r') {
        return bytes.len() - 1;
    }
    let tail = bytes.len().saturating_sub(4);
    match bytes[tail..].iter().rposition(|b| b & 0b1100_0000 != 0b1000_0000) {
        Some(at) => {
            let need = match bytes[tail + at] {
                0xF0.. => 4,
                0xE0.. => 3,
                0xC0.. => 2,
                _ => 1,
            };
            if bytes.len() - (tail + at) < need { tail + at } else { bytes.len() }
        }
        None => bytes.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execute::limit::LINE_BYTES_MAX;

    fn split(text: &[u8], piece: usize) -> Vec<Line> {
        let mut splitter = Splitter::new(LINE_BYTES_MAX);
        let mut lines: Vec<_> = text.chunks(piece).flat_map(|bytes| splitter.push(bytes)).collect();
        lines.extend(splitter.finish());
        lines
    }

    #[test]
    fn lines_are_the_same_however_the_bytes_arrive() {
        let text = "one\r\n\nthrée\n日本\nlast".as_bytes();
        for piece in 1..text.len() {
            let lines = split(text, piece);
            assert!(lines.iter().all(|line| line.begins && line.ends));
            let lines: Vec<_> = lines.into_iter().map(|line| String::from_utf8(line.bytes).unwrap()).collect();
            assert_eq!(lines, ["one", "", "thrée", "日本", "last"], "pieces of {piece}");
        }
        assert_eq!(split(b"a\n", 9).len(), 1);
        assert!(split(b"", 9).is_empty());
    }

    #[test]
    fn an_over_long_line_comes_in_parts_that_tear_no_character_and_lose_no_byte() {
        for (unit, shift) in [("日", 0), ("日", 1), ("😀", 3), ("é", 1), ("x", 0)] {
            let line = format!("{}{}", "a".repeat(shift), unit.repeat(2 * LINE_BYTES_MAX / unit.len() + 9));
            let parts = split(format!("{line}\nnext\n").as_bytes(), 10_007);
            let (next, parts) = parts.split_last().unwrap();
            assert_eq!((next.bytes.as_slice(), next.begins, next.ends), (&b"next"[..], true, true));
            assert_eq!(parts.iter().map(|part| part.begins).collect::<Vec<_>>(), [true, false, false]);
            assert_eq!(parts.iter().map(|part| part.ends).collect::<Vec<_>>(), [false, false, true]);
            let joined: String = parts.iter().map(|part| std::str::from_utf8(&part.bytes).unwrap()).collect();
            assert!(joined == line, "{unit}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_pass_unharmed() {
        let noise = vec![0x80; LINE_BYTES_MAX + 5];
        let parts = split(&noise, READ);
        assert_eq!(parts.iter().map(|part| part.bytes.len()).sum::<usize>(), noise.len());
    }

    const READ: usize = 4096;
}
