//! Joining a proposal with a document that has changed since the proposal was made.

use diffy::MergeOptions;

/// The result of a three-way merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Merged {
    /// Both changes fit together.
    Clean(String),
    /// Both changed the same lines. The text has conflict marks around them.
    Conflict(String),
}

/// Joins `current` and `proposed`, which both come from `base`.
pub fn three_way(base: &str, current: &str, proposed: &str) -> Merged {
    if current == base || current == proposed {
        return Merged::Clean(proposed.to_owned());
    }
    if proposed == base {
        return Merged::Clean(current.to_owned());
    }
    match MergeOptions::new().merge(base, current, proposed) {
        Ok(text) => Merged::Clean(text),
        Err(text) => Merged::Conflict(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn changes_of_other_lines_fit_and_changes_of_the_same_line_do_not() {
        let base = "# A\n\n- one\n- two\n- three\n\n## B\n\n- x\n";
        let current = base.replace("- x", "- y");
        let proposed = base.replace("- one", "- ONE");
        let Merged::Clean(merged) = three_way(base, &current, &proposed) else { panic!("they fit") };
        assert!(merged.contains("- ONE") && merged.contains("- y"));
        let other = base.replace("- one", "- uno");
        let Merged::Conflict(text) = three_way(base, &other, &proposed) else { panic!("they conflict") };
        assert!(text.contains("- ONE") && text.contains("- uno"));
    }

    proptest! {
        #[test]
        fn a_side_that_did_not_change_yields_to_the_other(base in "([a-c]\n){0,8}", other in "([a-c]\n){0,8}") {
            prop_assert_eq!(three_way(&base, &base, &other), Merged::Clean(other.clone()));
            prop_assert_eq!(three_way(&base, &other, &base), Merged::Clean(other.clone()));
            prop_assert_eq!(three_way(&base, &other, &other), Merged::Clean(other));
        }

        #[test]
        fn no_added_line_is_lost(base in "([a-c]\n){0,8}", head in "[x-y]\n", tail in "[v-w]\n") {
            let current = format!("{head}{base}");
            let proposed = format!("{base}{tail}");
            if let Merged::Clean(text) = three_way(&base, &current, &proposed) {
                prop_assert!(text.contains(&head) && text.contains(&tail));
            }
        }
    }
}
