//! Uses of memories that the server sees: the text of a memory, or words that only this memory has, in what an agent
//! said or did.

use crate::{memory::terms, memory_writer::select::words};
use std::collections::BTreeSet;

/// Words of a line from which on the line itself is looked for.
const LINE_WORDS_MIN: usize = 4;
/// Rare words of a memory that a text must have.
const RARE_WORDS_MIN: usize = 2;
/// Characters from which on a word counts as rare. Shorter ones come up by chance.
const RARE_CHARS_MIN: usize = 4;

/// Returns for each memory in how many of the texts it was used. `prompt` is what the person wrote: words and lines of
/// it are no sign of a use, because an answer repeats them anyway.
///
/// A text uses a memory if it has one of its lines of four or more words, or two of its rare words. A rare word has
/// four or more characters, and neither the prompt nor another memory has it.
pub fn uses(memories: &[&str], prompt: &str, texts: &[&str]) -> Vec<u32> {
    let asked = words(prompt);
    let of_memories: Vec<BTreeSet<String>> = memories.iter().map(|text| words(text)).collect();
    let rare = |at: usize| -> BTreeSet<String> {
        let is_elsewhere = |word: &String| {
            let mut others = of_memories.iter().enumerate().filter(|(other, _)| *other != at);
            asked.contains(word) || others.any(|(_, words)| words.contains(word))
        };
        let own = of_memories.get(at).into_iter().flatten();
        own.filter(|&word| word.chars().count() >= RARE_CHARS_MIN && !is_elsewhere(word)).cloned().collect()
    };
    let asked_line = line(prompt);
    let wanted: Vec<(BTreeSet<String>, Vec<String>)> = memories
        .iter()
        .enumerate()
        .map(|(at, text)| {
            let long = text.lines().filter(|one| terms(one).len() >= LINE_WORDS_MIN);
            (rare(at), long.map(line).filter(|one| !asked_line.contains(one.as_str())).collect())
        })
        .collect();
    let mut uses = vec![0_u32; memories.len()];
    for text in texts {
        let (said, said_line) = (words(text), line(text));
        for ((rare, lines), uses) in wanted.iter().zip(&mut uses) {
            let has_line = lines.iter().any(|one| said_line.contains(one.as_str()));
            if has_line || rare.intersection(&said).count() >= RARE_WORDS_MIN {
                *uses = uses.saturating_add(1);
            }
        }
    }
    uses
}

/// The words of a text between spaces, so that whole words are compared.
fn line(text: &str) -> String {
    let words: Vec<String> = terms(text).into_iter().collect();
    format!(" {} ", words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEA: &str = "- Prefers green tea from Kyoto in the morning";
    const BOAT: &str = "- Owns a sailing boat called Halcyon, berthed in Bergen";

    #[test]
    fn a_line_or_two_rare_words_are_a_use() {
        let used = |texts: &[&str]| uses(&[TEA, BOAT], "What shall I bring?", texts);
        assert_eq!(used(&["She prefers green tea from Kyoto in the morning."]), [1, 0], "a line");
        assert_eq!(used(&["Halcyon is in BERGEN today", "{\"place\":\"bergen\",\"boat\":\"halcyon\"}"]), [0, 2]);
        assert_eq!(used(&["Kyoto is nice", "Nothing of it"]), [0, 0], "one word is chance");
        assert_eq!(used(&[]), [0, 0]);
        assert_eq!(uses(&[], "", &["Halcyon Bergen"]), Vec::<u32>::new());
    }

    #[test]
    fn what_the_prompt_or_another_memory_says_too_is_no_sign() {
        let answer = ["Yes: Halcyon is in Bergen"];
        assert_eq!(uses(&[BOAT], "Is Halcyon berthed in Bergen?", &answer), [0]);
        assert_eq!(uses(&[BOAT, "- Halcyon sails from Bergen on Friday"], "Where?", &answer), [0, 0]);
        let whole = "- Owns a boat there";
        assert_eq!(uses(&[whole], "I think she owns a boat there", &["She owns a boat there"]), [0]);
    }
}
