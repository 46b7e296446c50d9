//! What two people type: the keys with their times, the same for every way to merge.

use std::ops::Range;

/// The first letter of a run in which every letter is typed once: each is a code point of its own, of the block "CJK
/// Unified Ideographs Extension A" and those after it.
const FIRST_LETTER: u32 = 0x3400;
const SENTENCES: usize = 4;
const SENTENCE_WORDS: usize = 15;
/// Words that a person types.
const WORDS: usize = 20;
/// Between two keys: 5 letters in a second.
const KEY_MS: u64 = 200;
/// After a word there is a pause once in so many words.
const PAUSE_ONE_IN: usize = 5;
const PAUSE_MS: Range<usize> = 500..3_000;
/// The second person begins at most so much later.
const LATER_MS_MAX: usize = 1_000;
/// When the sentence is deleted.
const DELETE_MS: Range<usize> = 2_000..20_000;
/// The step of the simulated time. Every time is a multiple of it.
pub const STEP_MS: u64 = 10;

/// Where the two people write.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Each after a word of their own, with at least one word between.
    DifferentWords,
    /// Both within one word.
    SameWord,
    /// One types in a sentence that the other one deletes.
    DeletedSentence,
    /// One types in a sentence, the other one deletes another.
    OtherSentence,
}

/// What one press of a key does.
#[derive(Clone)]
pub enum Stroke {
    /// Types a character at the cursor.
    Type(char),
    /// Deletes the sentence with this index, as it is then, up to its full stop.
    DeleteSentence(usize),
}

/// Someone who writes.
pub struct Person {
    /// Place of the cursor at the beginning, in characters.
    pub caret: usize,
    /// What they do, with the time in milliseconds, oldest first.
    pub strokes: Vec<(u64, Stroke)>,
    /// The words that they type.
    pub words: Vec<String>,
}

/// A paragraph and two people.
pub struct Script {
    /// The text at the beginning.
    pub paragraph: String,
    /// Who writes in it.
    pub people: [Person; 2],
}

/// Whether a character is counted: letters are, spaces and full stops are not.
pub fn is_letter(char: char) -> bool {
    char.is_alphabetic()
}

/// Pseudo-random numbers (SplitMix64), the same for the same seed.
struct Random(u64);

impl Random {
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    fn within(&mut self, range: Range<usize>) -> usize {
        range.start + (self.next() % (range.end - range.start) as u64) as usize
    }

    /// A time, in whole steps.
    fn time(&mut self, range: Range<usize>) -> u64 {
        self.within(range) as u64 / STEP_MS * STEP_MS
    }
}

struct Writer {
    random: Random,
    next_letter: u32,
    is_ascii: bool,
}

impl Writer {
    /// A word of 2 to 8 letters.
    fn word(&mut self) -> String {
        (0..self.random.within(2..9)).map(|_| self.letter()).collect()
    }

    fn letter(&mut self) -> char {
        let letter = FIRST_LETTER + self.next_letter;
        self.next_letter += 1;
        // The same numbers are drawn for both alphabets, so that lengths, places and times are the same.
        let ascii = char::from(b'a' + (self.random.next() % 26) as u8);
        if self.is_ascii { ascii } else { char::from_u32(letter).unwrap_or_default() }
    }

    /// Someone who types words. `begins_inside` if the first letter continues the word at the cursor.
    fn typist(&mut self, caret: usize, begins_ms: u64, begins_inside: bool) -> Person {
        let words: Vec<String> = (0..WORDS).map(|_| self.word()).collect();
        let (mut at_ms, mut strokes) = (begins_ms, Vec::new());
        for (n, word) in words.iter().enumerate() {
            let space = (n > 0 || !begins_inside).then_some(' ');
            for char in space.into_iter().chain(word.chars()) {
                strokes.push((at_ms, Stroke::Type(char)));
                at_ms += KEY_MS;
            }
            if self.random.within(0..PAUSE_ONE_IN) == 0 {
                at_ms += self.random.time(PAUSE_MS);
            }
        }
        Person { caret, strokes, words }
    }
}

impl Script {
    /// The script of a seed. With `is_ascii` letters are of one byte, as in an English text, and repeat; otherwise
    /// every letter is there once, so that it can be found again.
    pub fn new(seed: u64, place: Place, is_ascii: bool) -> Self {
        let mut writer = Writer { random: Random(seed), next_letter: 0, is_ascii };
        let words: Vec<String> = (0..SENTENCES * SENTENCE_WORDS).map(|_| writer.word()).collect();
        let (mut paragraph, mut starts) = (String::new(), Vec::new());
        for (n, word) in words.iter().enumerate() {
            starts.push(paragraph.chars().count());
            paragraph.push_str(word);
            if (n + 1) % SENTENCE_WORDS == 0 {
                paragraph.push('.');
            }
            if n + 1 < words.len() {
                paragraph.push(' ');
            }
        }
        let end = |n: usize| starts[n] + words[n].chars().count();
        let later = writer.random.time(0..LATER_MS_MAX);
        let first = writer.random.within(0..words.len());
        let people = match place {
            Place::DifferentWords => {
                let far = |n: &usize| n.abs_diff(first) >= 2;
                let others: Vec<usize> = (0..words.len()).filter(far).collect();
                let second = others[writer.random.within(0..others.len())];
                [writer.typist(end(first), 0, false), writer.typist(end(second), later, false)]
            }
            Place::SameWord => {
                let mut caret = || starts[first] + writer.random.within(0..words[first].chars().count() + 1);
                let carets = [caret(), caret()];
                [writer.typist(carets[0], 0, true), writer.typist(carets[1], later, true)]
            }
            Place::DeletedSentence | Place::OtherSentence => {
                // Not after the last word of the sentence.
                let sentence = first / SENTENCE_WORDS;
                let word = sentence * SENTENCE_WORDS + writer.random.within(0..SENTENCE_WORDS - 1);
                let apart = if place == Place::DeletedSentence { 0 } else { SENTENCES / 2 };
                let gone = (sentence + apart) % SENTENCES;
                let strokes = vec![(writer.random.time(DELETE_MS), Stroke::DeleteSentence(gone))];
                let caret = starts[gone * SENTENCE_WORDS];
                [writer.typist(end(word), 0, false), Person { caret, strokes, words: Vec::new() }]
            }
        };
        Self { paragraph, people }
    }
}
