//! The part of a long document that the model is shown: its beginning, its headings, and the sections that have most
//! words of the conversation.

use super::{section, select::coverage};
use crate::{
    memory::{SearchWord, SearchWords},
    thread::cut,
};
use std::collections::BTreeSet;

/// Longest line of an excerpt, characters.
const LINE_CHARS_MAX: usize = 1_000;
/// Room for the mark of lines that are left out, characters.
const MARK_CHARS: usize = 40;

/// Returns about `chars_max` characters of a document. A mark replaces each run of lines that are left out.
pub fn excerpt(body: &str, wanted: &BTreeSet<String>, chars_max: usize) -> String {
    let lines: Vec<String> = body.lines().map(|line| cut(line, LINE_CHARS_MAX)).collect();
    let parts = parts(body, &lines);
    let mut taken = vec![0; parts.len()];
    let mut room = chars_max;
    // A section has to be named to be added to: headings get half of the room.
    for (part, taken) in parts.iter().zip(&mut taken) {
        let Some(left) = room.checked_sub(cost(&part[0]) + MARK_CHARS).filter(|left| *left >= chars_max / 2) else {
            break;
        };
        (room, *taken) = (left, 1);
    }
    let wanted: Vec<SearchWord> = wanted.iter().map(|word| word.as_str().into()).collect();
    let wanted = SearchWords::of(&wanted);
    let shares: Vec<f64> = parts.iter().map(|part| coverage(&wanted, &part.join("\n"))).collect();
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|one, other| (*one != 0).cmp(&(*other != 0)).then(shares[*other].total_cmp(&shares[*one])));
    for at in order {
        for line in &parts[at][taken[at]..] {
            let Some(left) = room.checked_sub(cost(line)) else { break };
            room = left;
            taken[at] += 1;
        }
    }
    render(&parts, &taken)
}

/// Divides the lines at each heading. No part is empty.
fn parts<'l>(body: &str, lines: &'l [String]) -> Vec<&'l [String]> {
    let mut rest = lines;
    let mut parts = Vec::new();
    for heading in section::headings(body).0.iter().rev().filter(|heading| heading.line > 0) {
        let (before, part) = rest.split_at(heading.line);
        parts.push(part);
        rest = before;
    }
    parts.extend((!rest.is_empty()).then_some(rest));
    parts.reverse();
    parts
}

/// Characters of a line with its end.
fn cost(line: &str) -> usize {
    line.chars().count() + 1
}

fn render(parts: &[&[String]], taken: &[usize]) -> String {
    let (mut text, mut left_out) = (String::new(), 0);
    let mark = |text: &mut String, left_out: &mut usize| {
        if *left_out > 0 {
            text.push_str(&format!("[… {left_out} lines are not shown …]\n"));
        }
        *left_out = 0;
    };
    for (part, taken) in parts.iter().zip(taken) {
        if *taken > 0 {
            mark(&mut text, &mut left_out);
        }
        for line in &part[..*taken] {
            text.push_str(line);
            text.push('\n');
        }
        left_out += part.len() - taken;
    }
    mark(&mut text, &mut left_out);
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_writer::select::words;
    use proptest::prelude::*;

    #[test]
    fn an_excerpt_has_the_beginning_the_headings_and_what_was_spoken_of() {
        let mut body = "# Mia\n\nWorks in Oslo.\n\n".to_owned();
        for number in 0..40 {
            body.push_str(&format!("## Year {number}\n\n"));
            (0..10).for_each(|line| body.push_str(&format!("- Note {line} of {number} about the weather\n")));
        }
        body.push_str("## Boats\n\n- Sold the green boat\n");
        let shown = excerpt(&body, &words("Where is the green boat?"), 6_000);
        assert!(shown.starts_with("# Mia\n\nWorks in Oslo.\n"), "{shown}");
        assert!(shown.contains("## Boats\n\n- Sold the green boat\n"), "{shown}");
        assert!((0..40).all(|number| shown.contains(&format!("## Year {number}\n"))), "{shown}");
        assert!(shown.contains("lines are not shown …]"), "{shown}");
        assert!(shown.chars().count() <= 6_000);
    }

    proptest! {
        #[test]
        fn an_excerpt_is_short_and_has_lines_of_the_document_in_their_order(
            body in "(#{1,3} [a-c]{1,4}\n|[a-c ]{0,30}\n|```\n|x{1200}\n){0,60}",
            chars_max in 0..3_000_usize,
        ) {
            let shown = excerpt(&body, &words("abc"), chars_max);
            let (marks, lines): (Vec<_>, Vec<_>) = shown.lines().partition(|line| line.starts_with("[…"));
            prop_assert!(lines.iter().map(|line| cost(line)).sum::<usize>() <= chars_max);
            prop_assert!(marks.len() <= lines.len() + 1);
            let mut all = body.lines().map(|line| cut(line, LINE_CHARS_MAX));
            prop_assert!(lines.iter().all(|line| all.any(|other| other == **line)), "{}", shown);
            let whole = excerpt(&body, &words("abc"), 1_000_000);
            prop_assert_eq!(whole.lines().count(), body.lines().count());
        }
    }
}
