//! Measures how well outcomes are inferred, on turns that were labelled by hand. Thresholds and phrases may be
//! tuned on the split `dev`, and `test` is checked meanwhile. `unseen` was written after the phrases were
//! finished. It is used for measuring only, and the guaranteed figures are about it. `fresh` was written later,
//! in English, and is used for measuring only. `docs/feedback-data.md` quotes the snapshot.

use domain::outcome::{CONFIDENT_MIN, Inferred, Languages, Outcome, infer};
use serde::Deserialize;
use std::fmt::Write as _;

/// Least precision for accepted and rejected outcomes on the split `unseen`, in thousandths.
const REJECTED_PRECISION_MIN: usize = 970;
const ACCEPTED_PRECISION_MIN: usize = 950;
/// Least recall for accepted and rejected outcomes on the split `unseen`, in thousandths.
const RECALL_MIN: usize = 500;
/// Languages with a table of phrases.
const LANGUAGES: [&str; 4] = ["en", "de", "es", "fr"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Labelled {
    id: u32,
    split: String,
    language: String,
    #[serde(rename = "domain")]
    _domain: String,
    prompt: String,
    reply: String,
    next: String,
    label: Outcome,
}

impl Labelled {
    fn inferred(&self) -> Inferred {
        infer(Languages::built_in(), &self.prompt, &self.reply, &self.next)
    }
}

const CLASSES: [Outcome; 3] = [Outcome::Accepted, Outcome::Rejected, Outcome::Neutral];

fn labelled() -> Vec<Labelled> {
    let lines = include_str!("outcome/labelled.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Counts of turns: rows are the labels of people, columns the inferred outcomes.
#[derive(Default, Clone, Copy)]
struct Confusion([[usize; 3]; 3]);

impl Confusion {
    fn of(turns: &[Labelled], keep: impl Fn(&Labelled) -> bool) -> Confusion {
        let mut table = Confusion::default();
        for turn in turns.iter().filter(|turn| keep(turn)) {
            table.0[turn.label as usize][turn.inferred().outcome as usize] += 1;
        }
        table
    }

    fn precision(&self, class: usize) -> usize {
        let called: usize = self.0.iter().map(|row| row[class]).sum();
        1_000 * self.0[class][class] / called.max(1)
    }

    fn recall(&self, class: usize) -> usize {
        1_000 * self.0[class][class] / self.0[class].iter().sum::<usize>().max(1)
    }

    fn render(&self, title: &str) -> String {
        let total: usize = self.0.iter().flatten().sum();
        let mut text =
            format!("{title}: {total} turns\n  labelled  as accepted  as rejected  as neutral  precision  recall\n");
        for (at, class) in CLASSES.iter().enumerate() {
            let [accepted, rejected, neutral] = self.0[at];
            let (precision, recall) = (self.precision(at), self.recall(at));
            let name = format!("{class:?}").to_lowercase();
            let _ = writeln!(text, "  {name:8}  {accepted:11}  {rejected:11}  {neutral:10}  {precision:9}  {recall:6}");
        }
        text
    }
}

#[test]
fn outcomes_are_inferred_as_well_as_promised() {
    let turns = labelled();
    let of = |split: &'static str| Confusion::of(&turns, move |turn| turn.split == split);
    let unseen = of("unseen");
    let mut report = vec![
        of("dev").render("dev (tuned on)"),
        of("test").render("test (looked at while tuning)"),
        unseen.render("unseen (only measured)"),
    ];
    for language in LANGUAGES {
        let own = Confusion::of(&turns, |turn| turn.split == "unseen" && turn.language == language);
        report.push(own.render(&format!("unseen, {language}")));
    }
    let is_confident = |turn: &Labelled| turn.inferred().confidence >= CONFIDENT_MIN;
    report.push(of("fresh").render("fresh, en (only measured)"));
    let confident = Confusion::of(&turns, |turn| turn.split == "unseen" && is_confident(turn));
    report.push(confident.render("unseen, confident"));
    insta::assert_snapshot!(report.join("\n"));
    for (class, precision_min) in [(0, ACCEPTED_PRECISION_MIN), (1, REJECTED_PRECISION_MIN)] {
        let (precision, recall) = (unseen.precision(class), unseen.recall(class));
        assert!(precision >= precision_min, "precision of {:?} is {precision}", CLASSES[class]);
        assert!(recall >= RECALL_MIN, "recall of {:?} is {recall}", CLASSES[class]);
    }
}

#[test]
fn no_turn_is_taken_for_another_language() {
    // Error messages of tools are English in every conversation.
    let turns = labelled().into_iter().filter(|turn| !turn.next.to_lowercase().contains("error"));
    let wrong: Vec<String> = turns
        .filter_map(|turn| {
            let found = turn.inferred().evidence.language?;
            (found != turn.language).then(|| format!("{}: {found} {:?}", turn.id, turn.next))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Requests of the same kind, and repeated requests: they are similar to the request before, and their outcome
/// is neutral.
#[test]
fn a_request_that_resembles_the_one_before_rejects_nothing() {
    let pairs = [
        ("What is a hash?", "And what is a salt?"),
        ("What is a hash?", "What is a hash?"),
        ("How do I sort a list in Python?", "How do I sort a dict in Python?"),
        ("How do I sort a list in Python?", "How can I sort a list using Python?"),
        ("Write a poem about the sea in four lines.", "Write a poem about the sea in eight lines."),
        ("What is the capital of France?", "And what is the capital of Spain and of Portugal?"),
        ("Translate the first paragraph into French.", "Translate the second paragraph into French."),
        ("Wie lange muss ich Linsen kochen?", "Wie lange muss ich denn rote Linsen kochen?"),
        ("¿Cómo ordeno una lista en Python?", "¿Cómo ordeno una lista grande en Python?"),
        ("Comment trier une liste en Python ?", "Comment trier une grande liste en Python ?"),
        ("Jak posortować listę w Pythonie?", "Jak posortować dużą listę w Pythonie?"),
    ];
    for (prompt, next) in pairs {
        let inferred = infer(Languages::built_in(), prompt, "Here is the answer.", next);
        assert_eq!((inferred.outcome, inferred.confidence), (Outcome::Neutral, 0), "{prompt} {next}: {inferred:?}");
    }
}

#[test]
fn the_labelled_set_is_large_and_varied() {
    let turns = labelled();
    assert!(turns.iter().all(|turn| ["dev", "test", "unseen", "fresh"].contains(&turn.split.as_str())));
    for language in LANGUAGES {
        let unseen = turns.iter().filter(|turn| turn.split == "unseen" && turn.language == language);
        assert!(unseen.count() >= 50, "{language}");
        assert!(turns.iter().filter(|turn| turn.language == language).count() >= 150, "{language}");
    }
    for class in CLASSES {
        assert!(turns.iter().filter(|turn| turn.label == class).count() >= 200, "{class:?}");
    }
    assert!(turns.iter().zip(1..).all(|(turn, number)| turn.id == number), "ids count from 1");
}

/// Prints the wrong outcomes on the split `dev`: `cargo test -p domain --test outcomes -- --nocapture`.
#[test]
fn mistakes_of_the_split_dev_can_be_listed() {
    let turns: Vec<Labelled> = labelled().into_iter().filter(|turn| turn.split == "dev").collect();
    let mistakes = turns.iter().filter_map(|turn| {
        let inferred = turn.inferred();
        (inferred.outcome != turn.label)
            .then(|| format!("{} {:?}: {:?} {:?}", turn.id, turn.label, turn.next, inferred))
    });
    let listed: Vec<String> = mistakes.collect();
    println!("{}", listed.join("\n"));
    assert!(listed.len() * 5 < turns.len(), "{} mistakes", listed.len());
}
