//! Tracks the outcomes of one conversation, turn by turn.

use super::{Evidence, Inferred, Languages, Outcome, Rule, infer};

/// One prompt and its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Identifier that the caller chooses, such as the id of the interaction record.
    pub id: String,
    /// The person's message.
    pub prompt: String,
    /// The agent's answer.
    pub reply: String,
}

/// Infers the outcome of each turn when the next turn is recorded.
#[derive(Debug, Clone)]
pub struct OutcomeTracker<'a> {
    languages: &'a Languages,
    last_turn: Option<Turn>,
    last_outcome: Option<(String, Inferred)>,
}

impl Default for OutcomeTracker<'_> {
    fn default() -> Self {
        OutcomeTracker::new(Languages::built_in())
    }
}

impl<'a> OutcomeTracker<'a> {
    /// Starts a conversation without turns.
    pub fn new(languages: &'a Languages) -> OutcomeTracker<'a> {
        OutcomeTracker { languages, last_turn: None, last_outcome: None }
    }

    /// Records a turn that has ended. Returns the id and the outcome of the turn before it; `None` for the
    /// first turn.
    pub fn record_turn(&mut self, turn: Turn) -> Option<&(String, Inferred)> {
        let outcome = self.last_turn.replace(turn).zip(self.last_turn.as_ref());
        self.last_outcome = outcome.map(|(before, now)| {
            let inferred = infer(self.languages, &before.prompt, &before.reply, &now.prompt);
            (before.id, inferred)
        });
        self.last_outcome.as_ref()
    }

    /// Ends the conversation. Returns the id and the outcome of the last turn, which is neutral because no
    /// message follows it; `None` if there was no turn.
    pub fn close(&mut self) -> Option<&(String, Inferred)> {
        let last = self.last_turn.take()?;
        let evidence = Evidence { rule: Rule::NothingFollowed, language: None, words: Vec::new(), similarity: None };
        self.last_outcome = Some((last.id, Inferred { outcome: Outcome::Neutral, confidence: 0, evidence }));
        self.last_outcome.as_ref()
    }

    /// Returns the outcome that was inferred last, with the id of its turn.
    pub fn get_last_outcome(&self) -> Option<&(String, Inferred)> {
        self.last_outcome.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(id: &str, prompt: &str) -> Turn {
        Turn { id: id.to_owned(), prompt: prompt.to_owned(), reply: "Use `sort -u`.".to_owned() }
    }

    fn parts(outcome: Option<&(String, Inferred)>) -> Option<(&str, Outcome, Rule)> {
        outcome.map(|(id, inferred)| (id.as_str(), inferred.outcome, inferred.evidence.rule))
    }

    #[test]
    fn each_turn_is_judged_by_the_next() {
        let mut tracker = OutcomeTracker::default();
        assert_eq!(tracker.record_turn(turn("1", "How do I remove duplicate lines?")), None);
        assert_eq!(tracker.get_last_outcome(), None);
        let thanks = tracker.record_turn(turn("2", "That worked, thanks! How do I count them?"));
        assert_eq!(parts(thanks), Some(("1", Outcome::Accepted, Rule::Success)));
        let wrong = tracker.record_turn(turn("3", "That's wrong, it counts all of them"));
        assert_eq!(parts(wrong), Some(("2", Outcome::Rejected, Rule::Correction)));
        assert_eq!(parts(tracker.get_last_outcome()), Some(("2", Outcome::Rejected, Rule::Correction)));
        assert_eq!(parts(tracker.close()), Some(("3", Outcome::Neutral, Rule::NothingFollowed)));
        assert_eq!(tracker.close(), None);
    }

    #[test]
    fn a_conversation_of_one_turn_is_neutral() {
        let mut tracker = OutcomeTracker::default();
        tracker.record_turn(turn("only", "Thanks in advance: which port is it?"));
        assert_eq!(parts(tracker.close()), Some(("only", Outcome::Neutral, Rule::NothingFollowed)));
    }
}
