//! One run: two people write, and what they wrote is compared with the text at the end.

use crate::script::{Person, STEP_MS, Script, Stroke, is_letter};
use domain::canvas::edit::position_after;
use std::collections::HashSet;

/// The editor sends what was typed so long after the last key (`app/src/canvas/editor/state.rs`).
const QUIET_MS: u64 = 300;
/// After the last key there is time for everything to arrive.
const REST_MS: u64 = 20_000;

/// A way to merge, with two people and the server.
pub trait World {
    /// Begins with this text, so many milliseconds from the server.
    fn new(paragraph: &str, latency_ms: u64) -> Self;
    /// The text that a person sees.
    fn text(&self, who: usize) -> String;
    /// Changes the text that a person sees: characters of `removed` go, and `typed` comes in their place.
    fn change(&mut self, who: usize, removed: std::ops::Range<usize>, typed: &str);
    /// Sends what a person wrote, unless the way waits for an answer.
    fn flush(&mut self, who: usize, now_ms: u64);
    /// Delivers the messages that have arrived.
    fn deliver(&mut self, now_ms: u64);
    /// The texts at the end, of the two people and of the server.
    fn texts(&self) -> Vec<String>;
    /// What a person was notified of: the texts of theirs that were not taken, or were replaced.
    fn notices(&self, who: usize) -> &[String];
    /// Bytes on the wire, of the log, and of the document at the end.
    fn bytes(&self) -> [usize; 3];
}

/// What became of what was written, over all runs.
#[derive(Default, Clone)]
pub struct Outcome {
    /// Letters that were typed.
    pub typed: usize,
    /// Letters that were typed and are gone, without a deletion by someone who saw them. Their author has a notice with
    /// them.
    pub lost_with_notice: usize,
    /// The same, and the author has none.
    pub lost_without_notice: usize,
    /// Letters that are there more than once.
    pub doubled: usize,
    /// Words whose letters are all there, but not side by side.
    pub broken: usize,
    /// Letters that a person deleted and that are there at the end. The person has a notice.
    pub back_with_notice: usize,
    /// The same, and the person has none.
    pub back_without_notice: usize,
    /// Letters of the first text that are gone, and that no one deleted.
    pub first_text_lost: usize,
    /// Notices that the two people got.
    pub notices: usize,
    /// Runs at whose end not all have the same text.
    pub differ: usize,
    /// Bytes on the wire, of the log, and of the document at the end.
    pub bytes: [usize; 3],
}

impl Outcome {
    /// Adds the counts of another run.
    pub fn add(&mut self, other: &Self) {
        self.typed += other.typed;
        self.lost_with_notice += other.lost_with_notice;
        self.lost_without_notice += other.lost_without_notice;
        self.doubled += other.doubled;
        self.broken += other.broken;
        self.back_with_notice += other.back_with_notice;
        self.back_without_notice += other.back_without_notice;
        self.first_text_lost += other.first_text_lost;
        self.notices += other.notices;
        self.differ += other.differ;
        for (sum, bytes) in self.bytes.iter_mut().zip(other.bytes) {
            *sum += bytes;
        }
    }
}

/// Someone at the keyboard.
struct Hand<'a> {
    person: &'a Person,
    done: usize,
    caret: usize,
    last_key_ms: Option<u64>,
    /// What they saw last.
    seen: String,
    deleted: HashSet<char>,
}

impl<'a> Hand<'a> {
    fn new(person: &'a Person, paragraph: &str) -> Self {
        let seen = paragraph.to_owned();
        Self { person, done: 0, caret: person.caret, last_key_ms: None, seen, deleted: HashSet::new() }
    }

    /// The text may have changed: the cursor keeps its place, as in the editor.
    fn look(&mut self, text: String) {
        if text != self.seen {
            self.caret = position_after(&self.seen, &text, self.caret);
            self.seen = text;
        }
    }

    /// Presses the key that is due. Returns whether what was written is to be sent at once.
    fn press<W: World>(&mut self, who: usize, now_ms: u64, world: &mut W) -> bool {
        let due = self.person.strokes.get(self.done).filter(|(at_ms, _)| *at_ms <= now_ms);
        let Some((_, stroke)) = due else { return false };
        self.done += 1;
        self.last_key_ms = Some(now_ms);
        let ends_word = match stroke {
            Stroke::Type(char) => {
                world.change(who, self.caret..self.caret, &char.to_string());
                self.caret += 1;
                !is_letter(*char)
            }
            Stroke::DeleteSentence(sentence) => {
                let chars: Vec<char> = self.seen.chars().collect();
                let mut ends = chars.iter().enumerate().filter(|(_, char)| **char == '.').map(|(at, _)| at + 1);
                // A space is after the sentence before.
                let begin = sentence.checked_sub(1).and_then(|before| ends.nth(before)).map_or(0, |end| end + 1);
                let end = ends.next().unwrap_or(chars.len());
                self.deleted.extend(chars[begin..end].iter().filter(|char| is_letter(**char)));
                world.change(who, begin..end, "");
                self.caret = begin;
                false
            }
        };
        self.seen = world.text(who);
        ends_word
    }
}

/// Runs a script in a world of the kind.
pub fn run<W: World>(script: &Script, latency_ms: u64) -> Outcome {
    let mut world = W::new(&script.paragraph, latency_ms);
    let mut hands = script.people.each_ref().map(|person| Hand::new(person, &script.paragraph));
    let last_ms = script.people.iter().filter_map(|person| person.strokes.last()).map(|(at_ms, _)| *at_ms).max();
    for now_ms in (0..last_ms.unwrap_or(0) + REST_MS).step_by(STEP_MS as usize) {
        world.deliver(now_ms);
        for (who, hand) in hands.iter_mut().enumerate() {
            hand.look(world.text(who));
            let ends_word = hand.press(who, now_ms, &mut world);
            if ends_word || hand.last_key_ms.is_some_and(|last_ms| now_ms == last_ms + QUIET_MS) {
                world.flush(who, now_ms);
            }
        }
    }
    compare(script, &world, hands.map(|hand| hand.deleted))
}

fn compare<W: World>(script: &Script, world: &W, deleted: [HashSet<char>; 2]) -> Outcome {
    let texts = world.texts();
    let text = texts[0].as_str();
    let count = |letter: char| text.chars().filter(|char| *char == letter).count();
    let is_deleted = |letter: char| deleted.iter().any(|letters| letters.contains(&letter));
    let mut outcome = Outcome {
        bytes: world.bytes(),
        differ: usize::from(texts.iter().any(|other| other != text)),
        notices: (0..2).map(|who| world.notices(who).len()).sum(),
        ..Outcome::default()
    };
    for (who, person) in script.people.iter().enumerate() {
        let is_in_notice = |letter: char| world.notices(who).iter().any(|notice| notice.contains(letter));
        for word in &person.words {
            for letter in word.chars() {
                outcome.typed += 1;
                match count(letter) {
                    0 if is_deleted(letter) => {}
                    0 if is_in_notice(letter) => outcome.lost_with_notice += 1,
                    0 => outcome.lost_without_notice += 1,
                    1 => {}
                    _ => outcome.doubled += 1,
                }
            }
            outcome.broken +=
                usize::from(word.chars().all(|letter| count(letter) > 0) && !text.contains(word.as_str()));
        }
        let back = deleted[who].iter().filter(|letter| count(**letter) > 0).count();
        let kind = if world.notices(who).is_empty() {
            &mut outcome.back_without_notice
        } else {
            &mut outcome.back_with_notice
        };
        *kind += back;
    }
    for letter in script.paragraph.chars().filter(|char| is_letter(*char)) {
        match count(letter) {
            0 if is_deleted(letter) => {}
            0 => outcome.first_text_lost += 1,
            1 => {}
            _ => outcome.doubled += 1,
        }
    }
    outcome
}

/// Messages under way, each with the time of its arrival.
pub struct Wire<T>(std::collections::VecDeque<(u64, T)>);

impl<T> Wire<T> {
    /// Nothing is under way.
    pub const fn new() -> Self {
        Self(std::collections::VecDeque::new())
    }

    /// Sends a message that arrives at that time.
    pub fn send(&mut self, at_ms: u64, message: T) {
        self.0.push_back((at_ms, message));
    }

    /// The next message that has arrived.
    pub fn arrived(&mut self, now_ms: u64) -> Option<T> {
        self.0.pop_front_if(|(at_ms, _)| *at_ms <= now_ms).map(|(_, message)| message)
    }
}
