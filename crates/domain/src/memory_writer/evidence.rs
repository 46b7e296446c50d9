//! The turns that a line of a memory comes from.

use crate::evidence::{Evidence, LineEvidence};
use std::collections::HashMap;

/// The texts of lines, each with the turns from which it comes.
pub type Sources = HashMap<String, Vec<Evidence>>;

/// Returns the numbers (from 1) of the lines of `after` that `before` does not have, with their texts. A line that
/// occurs more often than before is new as often as that. Blank lines are left out.
pub fn new_lines<'t>(before: &str, after: &'t str) -> Vec<(u32, &'t str)> {
    let mut known: HashMap<&str, u32> = HashMap::new();
    for line in before.lines() {
        *known.entry(line).or_default() += 1;
    }
    let mut new = Vec::new();
    for (line, number) in after.lines().zip(1_u32..) {
        match known.get_mut(line).filter(|left| **left > 0) {
            Some(left) => *left -= 1,
            None if line.trim().is_empty() => {}
            None => new.push((number, line)),
        }
    }
    new
}

/// Returns the evidence of every new line of `after`. A line that a person has edited keeps the evidence of the
/// source line that is most like it; a line that is like none has no evidence.
pub fn of_lines(before: &str, after: &str, sources: &Sources) -> Vec<LineEvidence> {
    let mut found = Vec::new();
    for (line, text) in new_lines(before, after) {
        let exact = sources.get(text);
        let turns = exact.or_else(|| nearest(text, sources)).map_or(&[][..], Vec::as_slice);
        found.extend(turns.iter().map(|turn| LineEvidence { line, session: turn.session, sequence: turn.sequence }));
    }
    found
}

/// Likeness from which an edited line counts as derived from a source line, thousandths.
pub(super) const DERIVED_FROM: u16 = 400;

fn nearest<'s>(text: &str, sources: &'s Sources) -> Option<&'s Vec<Evidence>> {
    let normal = super::text::normal(text);
    let rated = sources.iter().map(|(source, turns)| {
        let likeness = super::text::likeness(&normal, &super::text::normal(source));
        (likeness, source, turns)
    });
    // The text breaks ties, so that the result does not depend on the order of the map.
    let best = rated.max_by(|one, other| (one.0, other.1).cmp(&(other.0, one.1)))?;
    (best.0 >= DERIVED_FROM).then_some(best.2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SessionId;
    use uuid::Uuid;

    fn turn(sequence: u64) -> Evidence {
        Evidence { session: SessionId(Uuid::from_u128(1)), sequence }
    }

    #[test]
    fn only_lines_that_were_not_there_are_new() {
        assert_eq!(new_lines("a\nb\n\nb\n", "a\nb\nc\nb\nb\n"), [(3, "c"), (5, "b")]);
        assert_eq!(new_lines("", "x\n\n"), [(1, "x")]);
        assert_eq!(new_lines("x\n", ""), []);
    }

    #[test]
    fn an_edited_line_keeps_the_turn_of_the_line_that_it_was() {
        let sources = Sources::from([
            ("- Alice prefers green tea".to_owned(), vec![turn(3)]),
            ("- The launch is on Friday".to_owned(), vec![turn(7), turn(8)]),
        ]);
        let after =
            "# Alice\n- Alice prefers green tea in winter\n- The launch is on Friday\n- A word of the reviewer\n";
        let found = of_lines("# Alice\n", after, &sources);
        let lines: Vec<_> = found.iter().map(|e| (e.line, e.sequence)).collect();
        assert_eq!(lines, [(2, 3), (3, 7), (3, 8)]);
    }
}
