//! Names, and other texts on one line that people read.

/// Whether a character overrides or isolates the direction of the text after it, which can make a text look like
/// another one.
pub const fn overrides_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Whether a character changes the direction in which the text beside it is shown: an override, an isolate, or a mark.
/// Texts of people can have marks. Names cannot have any of them.
pub const fn changes_direction(c: char) -> bool {
    overrides_direction(c) || matches!(c, '\u{200e}' | '\u{200f}' | '\u{61c}')
}

/// The text with a replacement character in the place of each that overrides or isolates the direction.
pub fn without_overrides(text: &str) -> String {
    text.chars().map(|c| if overrides_direction(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Whether `text` has 1 to `max` characters on one line that are not all white space.
pub fn is_line(text: &str, max: usize) -> bool {
    !text.trim().is_empty() && text.chars().count() <= max && !text.chars().any(char::is_control)
}

/// Returns why `text` is no name of at most `max` characters; `None` if it is one.
pub fn name_problem(text: &str, max: usize) -> Option<String> {
    problem(text, max, changes_direction)
}

/// Returns why `text` is no label of at most `max` characters; `None` if it is one. Labels are texts of people, which
/// can have marks.
pub fn label_problem(text: &str, max: usize) -> Option<String> {
    problem(text, max, overrides_direction)
}

/// Returns why `text` is no option of at most `max` characters; `None` if it is one. People choose an option by its
/// text, so options are labels without spaces around them.
pub fn option_problem(text: &str, max: usize) -> Option<String> {
    if !is_line(text, max) || text.trim() != text {
        return Some(format!("1 to {max} characters on one line, no space around them"));
    }
    label_problem(text, max)
}

fn problem(text: &str, max: usize, is_refused: impl Fn(char) -> bool) -> Option<String> {
    if !is_line(text, max) {
        return Some(format!("1 to {max} characters on one line"));
    }
    let changing = text.chars().find(|c| is_refused(*c))?;
    Some(format!("no characters that change the direction of text, such as U+{:04X}", u32::from(changing)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_one_line_and_no_character_that_changes_the_direction() {
        for name in ["Ann", "مها", "נועה", "a‍b", "👩‍👩‍👧", &"x".repeat(10)] {
            assert_eq!(name_problem(name, 10), None, "{name}");
        }
        for bad in ["", " ", "a\nb", &"x".repeat(11)] {
            assert_eq!(name_problem(bad, 10).as_deref(), Some("1 to 10 characters on one line"), "{bad:?}");
        }
        let all = ('\u{202a}'..='\u{202e}').chain('\u{2066}'..='\u{2069}').chain(['\u{200e}', '\u{200f}', '\u{61c}']);
        for c in all {
            let why = name_problem(&format!("a{c}b"), 10).unwrap();
            assert!(why.contains("direction") && why.ends_with(&format!("U+{:04X}", u32::from(c))), "{why}");
            assert_eq!(label_problem(&format!("a{c}b"), 10).is_some(), overrides_direction(c), "{c:?}");
            assert_eq!(option_problem(&format!("a{c}b"), 10).is_some(), overrides_direction(c), "{c:?}");
        }
    }

    #[test]
    fn an_option_has_no_space_around_it() {
        assert_eq!(option_problem("a b", 10), None);
        for bad in ["", " ", " a", "a ", "a\nb", &"x".repeat(11)] {
            let why = option_problem(bad, 10);
            assert_eq!(why.as_deref(), Some("1 to 10 characters on one line, no space around them"), "{bad:?}");
        }
    }
}
