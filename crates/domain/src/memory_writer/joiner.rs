//! Characters that no one sees: which of them a text needs, and which only hide something.
//!
//! The zero-width joiner makes one emoji of several. With the zero-width non-joiner it chooses the forms of letters in
//! Persian, Hindi and other languages. Everywhere else both are hidden text.

use crate::untrusted::is_invisible;

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';

/// Whether a text has a character that hides text or changes how other text is displayed.
pub fn has_hidden(text: &str) -> bool {
    hidden(text).any(|(_, is_hidden)| is_hidden)
}

/// Returns a text without such characters.
pub fn without_hidden(text: &str) -> String {
    hidden(text).filter(|(_, is_hidden)| !is_hidden).map(|(c, _)| c).collect()
}

fn hidden(text: &str) -> impl Iterator<Item = (char, bool)> + '_ {
    let mut chars = text.chars().peekable();
    // The last character that is not hidden, and the last such one that is no selector or modifier of an emoji.
    let (mut last, mut base) = (None, None);
    std::iter::from_fn(move || {
        let c = chars.next()?;
        let is_hidden = is_invisible(c) && !joins(c, (last, base), chars.peek().copied());
        if !is_hidden {
            last = Some(c);
            if !matches!(c, '\u{fe0f}' | '\u{1f3fb}'..='\u{1f3ff}') {
                base = Some(c);
            }
        }
        Some((c, is_hidden))
    })
}

/// Whether a joiner is where a script or an emoji needs it. `last` is the character before it, and `base` the last
/// one that is no selector or modifier.
fn joins(c: char, (last, base): (Option<char>, Option<char>), next: Option<char>) -> bool {
    if ![JOINER, NON_JOINER].contains(&c) {
        return false;
    }
    let joins_emoji = c == JOINER && base.is_some_and(is_emoji) && next.is_some_and(is_emoji);
    // At the end of a word it chooses the form of the last letter.
    let ends_or_goes_on = next.is_none_or(|next| uses_joiners(next) || next.is_whitespace() || is_mark(next));
    joins_emoji || (last.is_some_and(uses_joiners) && ends_or_goes_on)
}

fn is_mark(c: char) -> bool {
    c.is_ascii_punctuation() || matches!(c, '،' | '؛' | '؟' | '।' | '»' | '”' | '’' | '…')
}

const fn is_emoji(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{25a0}'..='\u{27bf}' | '\u{2900}'..='\u{297f}'
        | '\u{2b00}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// Whether letters of a script have forms that joiners choose: Arabic and Syriac, the scripts of India and its
/// neighbours, Mongolian.
const fn uses_joiners(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{74f}' | '\u{750}'..='\u{7ff}' | '\u{8a0}'..='\u{8ff}' | '\u{900}'..='\u{dff}'
        | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{1820}'..='\u{18af}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn joiners_of_scripts_and_emoji_stay_and_others_go() {
        for text in ["می\u{200c}خواهم", "نمی\u{200c}دانم.", "क्\u{200d}ष", "👩🏽\u{200d}💻", "❤\u{fe0f}\u{200d}🔥"]
        {
            assert_eq!(without_hidden(text), text);
        }
        for (text, shown) in [
            ("a\u{200d}b", "ab"),
            ("a\u{200b}b\u{202e}c", "abc"),
            ("می\u{200c}\u{200c}خواهم", "می\u{200c}خواهم"),
            ("می\u{200c}b", "میb"),
            ("👍\u{200d}", "👍"),
            ("\u{200c}می", "می"),
        ] {
            assert!(has_hidden(text), "{text:?}");
            assert_eq!(without_hidden(text), shown, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn what_is_left_hides_nothing(text in "(?s)(\u{200c}|\u{200d}|\u{200b}|\u{fe0f}|م|क|👩|a| ){0,12}") {
            let shown = without_hidden(&text);
            prop_assert!(!has_hidden(&shown), "{:?}: {:?}", text, shown);
        }
    }
}
