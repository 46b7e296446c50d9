//! How well outcomes are inferred, measured on turns that were labelled by hand. Thresholds and phrases may be tuned on
//! the split `dev` alone; `test` only reports. `docs/feedback-data.md` quotes the snapshot.

use domain::outcome::{Languages, Outcome, infer};
use serde::Deserialize;
use std::fmt::Write as _;

/// No change may make the figures on the split `test` worse than this: of what is called accepted or rejected, how much
/// is, and of what is, how much is found. In thousandths.
const PRECISION_MIN: usize = 900;
const RECALL_MIN: usize = 750;

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

const CLASSES: [Outcome; 3] = [Outcome::Accepted, Outcome::Rejected, Outcome::Neutral];

fn labelled() -> Vec<Labelled> {
    let lines = include_str!("outcome/labelled.jsonl").lines();
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Rows are what people said it is, columns what was inferred.
#[derive(Default, Clone, Copy)]
struct Confusion([[usize; 3]; 3]);

impl Confusion {
    fn of(turns: &[Labelled], keep: impl Fn(&Labelled) -> bool) -> Confusion {
        let mut table = Confusion::default();
        for turn in turns.iter().filter(|turn| keep(turn)) {
            let inferred = infer(Languages::built_in(), &turn.prompt, &turn.reply, &turn.next).outcome;
            table.0[turn.label as usize][inferred as usize] += 1;
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
fn outcomes_are_inferred_as_well_as_documented() {
    let turns = labelled();
    let test = Confusion::of(&turns, |turn| turn.split == "test");
    let report = [
        Confusion::of(&turns, |turn| turn.split == "dev").render("dev (tuned on)"),
        test.render("test (never tuned on)"),
        Confusion::of(&turns, |turn| turn.split == "test" && turn.language == "en").render("test, English"),
        Confusion::of(&turns, |turn| turn.split == "test" && turn.language == "de").render("test, German"),
    ];
    insta::assert_snapshot!(report.join("\n"));
    for class in [Outcome::Accepted, Outcome::Rejected] {
        let (precision, recall) = (test.precision(class as usize), test.recall(class as usize));
        assert!(precision >= PRECISION_MIN, "precision of {class:?} is {precision}");
        assert!(recall >= RECALL_MIN, "recall of {class:?} is {recall}");
    }
}

#[test]
fn the_labelled_set_is_large_and_varied() {
    let turns = labelled();
    assert!(turns.len() >= 200, "{} turns", turns.len());
    assert!(turns.iter().filter(|turn| turn.language == "de").count() >= 30);
    assert!(turns.iter().filter(|turn| turn.split == "test").count() >= 120);
    assert!(turns.iter().all(|turn| turn.split == "test" || turn.split == "dev"));
    for class in CLASSES {
        assert!(turns.iter().filter(|turn| turn.label == class).count() >= 60, "{class:?}");
    }
    assert!(turns.iter().zip(1..).all(|(turn, number)| turn.id == number), "ids count from 1");
}

/// Prints what is inferred wrongly on the split that may be tuned on: `cargo test -p domain --test outcomes -- --nocapture`.
#[test]
fn mistakes_of_the_split_dev_can_be_listed() {
    let turns = labelled();
    let mistakes = turns.iter().filter(|turn| turn.split == "dev").filter_map(|turn| {
        let inferred = infer(Languages::built_in(), &turn.prompt, &turn.reply, &turn.next);
        (inferred.outcome != turn.label)
            .then(|| format!("{} {:?}: {:?} {:?}", turn.id, turn.label, turn.next, inferred))
    });
    let listed: Vec<String> = mistakes.collect();
    println!("{}", listed.join("\n"));
    assert!(listed.len() * 5 < turns.len(), "{} mistakes", listed.len());
}
