//! Two texts compared by line, and changed lines by word.

use domain::memory::LineChange;
use similar::{Algorithm, ChangeTag, DiffOp, TextDiff, capture_diff_slices};
use std::collections::VecDeque;

/// Most lines of two texts together, without what they begin and end alike with, that are compared line by line. The
/// work grows with the square. Beyond it the whole middle counts as replaced.
const LINES_MAX: usize = 6_000;
/// Most words of a replaced block that are compared word by word, for the same reason.
const WORDS_MAX: usize = 3_000;

/// A piece of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Some words of the line.
    pub text: String,
    /// Whether these words differ from those on the other side.
    pub is_changed: bool,
}

/// A line of a comparison.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    /// Whether the line was kept, added or removed.
    pub change: LineChange,
    /// Its number in the old text, from 1.
    pub old: Option<usize>,
    /// Its number in the new text, from 1.
    pub new: Option<usize>,
    /// Its pieces, without the end of the line.
    pub parts: Vec<Part>,
}

/// The operations that turn one list of lines into another, within a bounded time.
pub(super) fn line_ops(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (rest_old, rest_new) = (&old[start..], &new[start..]);
    let end = rest_old.iter().rev().zip(rest_new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old_len, new_len) = (rest_old.len() - end, rest_new.len() - end);
    if old_len + new_len <= LINES_MAX {
        return capture_diff_slices(Algorithm::Myers, old, new);
    }
    let equal = |at: usize, of: usize, len| DiffOp::Equal { old_index: at, new_index: of, len };
    let replaced = DiffOp::Replace { old_index: start, old_len, new_index: start, new_len };
    let ops = [equal(0, 0, start), replaced, equal(start + old_len, start + new_len, end)];
    ops.into_iter().filter(|op| !matches!(op, DiffOp::Equal { len: 0, .. })).collect()
}

/// Compares two texts.
pub fn compare(old: &str, new: &str) -> Vec<DiffLine> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let mut lines = Vec::new();
    for op in line_ops(&old, &new) {
        let (from, to) = (op.old_range(), op.new_range());
        if let DiffOp::Equal { .. } = op {
            lines.extend(from.zip(to).map(|(a, b)| DiffLine {
                change: LineChange::Kept,
                old: Some(a + 1),
                new: Some(b + 1),
                parts: whole(old[a], false),
            }));
            continue;
        }
        let (mut removed, mut added) = words(&old[from.clone()], &new[to.clone()]);
        lines.extend(from.map(|at| DiffLine {
            change: LineChange::Removed,
            old: Some(at + 1),
            new: None,
            parts: removed.pop_front().unwrap_or_default(),
        }));
        lines.extend(to.map(|at| DiffLine {
            change: LineChange::Added,
            old: None,
            new: Some(at + 1),
            parts: added.pop_front().unwrap_or_default(),
        }));
    }
    lines
}

fn whole(text: &str, is_changed: bool) -> Vec<Part> {
    if text.is_empty() { Vec::new() } else { vec![Part { text: text.to_owned(), is_changed }] }
}

type Lines = VecDeque<Vec<Part>>;

/// The pieces of the lines of a replaced block on both sides.
fn words(old: &[&str], new: &[&str]) -> (Lines, Lines) {
    let all = |lines: &[&str]| lines.iter().map(|line| whole(line, true)).collect::<Lines>();
    if old.is_empty() || new.is_empty() {
        return (all(old), all(new));
    }
    let (old_text, new_text) = (old.join("\n"), new.join("\n"));
    let count = |text: &str| text.split_whitespace().count();
    if count(&old_text) + count(&new_text) > WORDS_MAX {
        return (all(old), all(new));
    }
    let (mut removed, mut added) = (Lines::from([Vec::new()]), Lines::from([Vec::new()]));
    for change in TextDiff::from_words(&old_text, &new_text).iter_all_changes() {
        let is_changed = change.tag() != ChangeTag::Equal;
        if change.tag() != ChangeTag::Insert {
            push(&mut removed, change.value(), is_changed);
        }
        if change.tag() != ChangeTag::Delete {
            push(&mut added, change.value(), is_changed);
        }
    }
    (removed, added)
}

/// Adds a piece to the last line, or to several if it has line ends.
fn push(lines: &mut Lines, text: &str, is_changed: bool) {
    for (at, piece) in text.split('\n').enumerate() {
        if at > 0 {
            lines.push_back(Vec::new());
        }
        let Some(line) = lines.back_mut().filter(|_| !piece.is_empty()) else { continue };
        match line.last_mut().filter(|last| last.is_changed == is_changed) {
            Some(last) => last.text.push_str(piece),
            None => line.push(Part { text: piece.to_owned(), is_changed }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines as text: `+` and `-`, changed words in brackets.
    fn lines_of(old: &str, new: &str) -> Vec<String> {
        let line = |line: DiffLine| {
            let sign = match line.change {
                LineChange::Kept => ' ',
                LineChange::Added => '+',
                LineChange::Removed => '-',
            };
            let part = |part: &Part| if part.is_changed { format!("[{}]", part.text) } else { part.text.clone() };
            format!("{sign}{}", line.parts.iter().map(part).collect::<String>())
        };
        compare(old, new).into_iter().map(line).collect()
    }

    #[test]
    fn changed_lines_are_compared_by_word() {
        assert_eq!(
            lines_of("a\nlikes tea\nb\n", "a\nlikes coffee\nb\n"),
            [" a", "-likes [tea]", "+likes [coffee]", " b"]
        );
        assert_eq!(lines_of("", "a\n\nb"), ["+[a]", "+", "+[b]"]);
        assert_eq!(lines_of("same", "same"), [" same"]);
    }

    #[test]
    fn both_sides_can_be_put_together_again() {
        let (old, new) = ("one two\nthree\n\nfour five six\n", "one 2\nthree three\nfour six\nseven\n\n");
        let lines = compare(old, new);
        let side = |change| {
            let of = lines.iter().filter(|line| line.change == LineChange::Kept || line.change == change);
            of.map(|line| line.parts.iter().map(|part| part.text.as_str()).collect::<String>() + "\n")
                .collect::<String>()
        };
        assert_eq!((side(LineChange::Removed).as_str(), side(LineChange::Added).as_str()), (old, new));
    }

    #[test]
    fn two_long_texts_without_a_common_line_are_one_replacement() {
        let text = |word: &str| (0..LINES_MAX).map(|n| format!("{word} {n}\n")).collect::<String>();
        let lines = compare(&format!("first\n{}last\n", text("a")), &format!("first\n{}last\n", text("b")));
        assert_eq!(lines.len(), 2 * LINES_MAX + 2);
        assert_eq!((lines[0].change, lines[1].change), (LineChange::Kept, LineChange::Removed));
    }
}
