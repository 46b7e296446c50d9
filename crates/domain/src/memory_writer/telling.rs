//! The words of a message by which memories are looked for.

use super::select::tells_apart;
use crate::memory::{Forms, query_words};

/// Returns the words of a message that are looked for, each once: those of [`query_words`] without the commonest words
/// of the message's language. Nearly every document has those, and the claim that waits would read and count them all.
/// If no other word of the message [tells documents apart](tells_apart), all are returned.
pub fn telling_words(message: &str) -> Vec<String> {
    let words = query_words(message);
    let telling = Forms::of_text(message).without_common(&words);
    if telling.iter().any(|word| tells_apart(word)) { telling } else { words }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limit::MEMORY_QUERY_TERMS_MAX;

    #[test]
    fn the_commonest_words_of_the_language_are_left_out() {
        for (message, telling) in [
            ("When is the launch of our boat?", "launch boat"),
            ("Wann ist der Start für das Boot?", "wann start boot"),
            ("Где новая книга?", "где новая книга"),
            ("Who sits on the TV table?", "sits tv table"),
        ] {
            assert_eq!(telling_words(message).join(" "), telling, "{message}");
        }
    }

    #[test]
    fn a_message_without_another_word_that_tells_documents_apart_keeps_them() {
        for message in ["who are you", "is the tv on", "go on with it", "no"] {
            assert_eq!(telling_words(message).join(" "), message);
        }
        assert_eq!(telling_words("…"), Vec::<String>::new());
    }

    #[test]
    fn a_long_message_leaves_room_for_the_words_that_tell_something() {
        let common = "what is the name of the one who has been with us when they did it and should have been there too";
        let telling: Vec<String> = (10..10 + MEMORY_QUERY_TERMS_MAX).map(|number| format!("word{number}")).collect();
        assert_eq!(telling_words(&format!("{common} {}", telling.join(" "))).len(), MEMORY_QUERY_TERMS_MAX + 4);
    }
}
