//! Measures what the default export gets from two sets of turns that are split by a fixed rule: a turn whose id is a
//! multiple of three is in the unseen third, of which the authors of the rules measure sums and read no mistakes.
//! `docs/feedback-data.md` quotes the snapshot.
//!
//! `third_author` is of an author who did not know the rules. `follow_ups` was written by an author of the rules before
//! the last change: acceptances, complaints, corrections of facts, irony, praise of a part, praise of another thing.
//! `unread`, `verdicts`, `principles` and `unseen_third` are not split: each was measured once before anything was
//! read. `kinds` was written by an author of the rules, for the kinds of mistakes of `unseen_third`.

mod figures;

use domain::outcome::{CONFIDENT_MIN, Languages, Outcome, infer};
use figures::Figures;
use serde::Deserialize;
use std::fmt::Write as _;

const SETS: [(&str, &str); 2] = [
    ("third_author", include_str!("outcome/third_author.jsonl")),
    ("follow_ups", include_str!("outcome/follow_ups.jsonl")),
];
const LANGUAGES: [&str; 12] = ["en", "de", "es", "fr", "it", "ja", "nl", "pl", "pt", "ru", "tr", "zh"];
/// The languages of the sets that have Korean too.
const LANGUAGES_WITH_KOREAN: [&str; 13] =
    ["en", "de", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "tr", "zh"];
/// Every third turn is unseen.
const THIRD: u32 = 3;
/// The aims for the default export, in thousandths. They hold on what was used for tuning, and on turns that were
/// written for one measurement.
const ACCEPTED_PRECISION_AIM: usize = 950;
const REJECTED_PRECISION_AIM: usize = 970;
const REJECTED_RECALL_AIM: usize = 500;
/// Least precision and recall on the unseen third of both sets, in thousandths. They are what was reached; the aims are
/// 950 and 970.
const UNSEEN_ACCEPTED_PRECISION_MIN: usize = 920;
const UNSEEN_REJECTED_PRECISION_MIN: usize = 960;
const UNSEEN_REJECTED_RECALL_MIN: usize = 500;
/// Least precision of rejections on the turns of an author who knew neither the rules nor the other sets, in
/// thousandths.
const OTHER_REJECTED_PRECISION_MIN: usize = 970;
/// Least figures on turns of other trades that were measured once, in thousandths. They are what was reached; the aims
/// are 950, 970 and 500.
const TRADES_ACCEPTED_PRECISION_MIN: usize = 900;
const TRADES_REJECTED_PRECISION_MIN: usize = 970;
const TRADES_REJECTED_RECALL_MIN: usize = 310;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Turn {
    id: u32,
    language: String,
    prompt: String,
    reply: String,
    next: String,
    label: Outcome,
}

impl Turn {
    /// Returns the label and the outcome that the default export uses: a doubtful one is none.
    fn measured(&self) -> (Outcome, Outcome) {
        let inferred = infer(Languages::built_in(), &self.prompt, &self.reply, &self.next);
        let is_exported = inferred.confidence >= CONFIDENT_MIN;
        (self.label, if is_exported { inferred.outcome } else { Outcome::Neutral })
    }
}

fn turns(lines: &str) -> Vec<Turn> {
    lines.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
}

/// Returns the labels and outcomes of one part of a set, of one language or of all.
fn part(turns: &[Turn], is_unseen: bool, language: Option<&str>) -> Vec<(Outcome, Outcome)> {
    let is_part = |turn: &&Turn| turn.id.is_multiple_of(THIRD) == is_unseen;
    let speaks = |turn: &&Turn| language.is_none_or(|language| turn.language == language);
    turns.iter().filter(is_part).filter(speaks).map(Turn::measured).collect()
}

fn both(measured: &[(Outcome, Outcome)]) -> [Figures; 2] {
    [Outcome::Accepted, Outcome::Rejected].map(|class| Figures::of(measured, class))
}

#[test]
fn the_default_export_labels_turns_that_were_not_read() {
    let mut report = String::new();
    let (mut tuned, mut unseen) = (Vec::new(), Vec::new());
    for (name, lines) in SETS {
        let all = turns(lines);
        assert!(all.iter().zip(1..).all(|(turn, number)| turn.id == number), "{name}: ids count from 1");
        for language in LANGUAGES.map(Some).into_iter().chain([None]) {
            let measured = part(&all, true, language);
            if measured.is_empty() {
                continue;
            }
            let [accepted, rejected] = both(&measured);
            let _ = writeln!(report, "{name:12} {:3}: accepted {}", language.unwrap_or("all"), accepted.render());
            let _ = writeln!(report, "                  rejected {}", rejected.render());
        }
        tuned.extend(part(&all, false, None));
        unseen.extend(part(&all, true, None));
    }
    let [accepted, rejected] = both(&tuned);
    let _ = writeln!(report, "two thirds of both, used for tuning: accepted {}", accepted.render());
    let _ = writeln!(report, "                  rejected {}", rejected.render());
    assert!(accepted.precision() >= ACCEPTED_PRECISION_AIM, "tuned: accepted {}", accepted.render());
    assert!(rejected.precision() >= REJECTED_PRECISION_AIM, "tuned: rejected {}", rejected.render());
    assert!(rejected.recall() >= REJECTED_RECALL_AIM, "tuned: rejected {}", rejected.render());
    let [accepted, rejected] = both(&unseen);
    let _ = writeln!(report, "the unseen third of both: accepted {}", accepted.render());
    let _ = writeln!(report, "                  rejected {}", rejected.render());
    println!("{report}");
    insta::assert_snapshot!(report);
    assert!(accepted.precision() >= UNSEEN_ACCEPTED_PRECISION_MIN, "unseen: accepted {}", accepted.render());
    assert!(rejected.precision() >= UNSEEN_REJECTED_PRECISION_MIN, "unseen: rejected {}", rejected.render());
    assert!(rejected.recall() >= UNSEEN_REJECTED_RECALL_MIN, "unseen: rejected {}", rejected.render());
}

/// Returns the figures of a set by language, and then of all of it, with their lines of the report.
fn by_language(all: &[Turn], languages: &[&'static str]) -> (String, Vec<(&'static str, [Figures; 2])>) {
    assert!(all.iter().zip(1..).all(|(turn, number)| turn.id == number), "ids count from 1");
    let mut report = String::new();
    let mut figures = Vec::new();
    for language in languages.iter().copied().chain(["all"]) {
        let speaks = |turn: &&Turn| language == "all" || turn.language == language;
        let measured: Vec<_> = all.iter().filter(speaks).map(Turn::measured).collect();
        let [accepted, rejected] = both(&measured);
        let _ = writeln!(report, "{language:3}: accepted {}", accepted.render());
        let _ = writeln!(report, "     rejected {}", rejected.render());
        figures.push((language, [accepted, rejected]));
    }
    (report, figures)
}

/// Turns that were written for one measurement, by someone who did not read the rules. No one has read their mistakes.
#[test]
fn the_default_export_labels_turns_that_were_written_for_one_measurement() {
    let (report, figures) = by_language(&turns(include_str!("outcome/unread.jsonl")), &LANGUAGES);
    println!("{report}");
    insta::assert_snapshot!(report);
    for (language, [accepted, rejected]) in figures {
        assert!(accepted.precision() >= ACCEPTED_PRECISION_AIM, "{language}: accepted {}", accepted.render());
        assert!(rejected.precision() >= REJECTED_PRECISION_AIM, "{language}: rejected {}", rejected.render());
        assert!(rejected.recall() >= REJECTED_RECALL_AIM, "{language}: rejected {}", rejected.render());
    }
}

/// Measures a set that was used for tuning: the aims for precision hold in each language, and that for recall in all,
/// as a language has too few rejections for an aim of its own.
fn check_tuned_set(lines: &str) -> String {
    let (report, figures) = by_language(&turns(lines), &LANGUAGES_WITH_KOREAN);
    println!("{report}");
    for (language, [accepted, rejected]) in &figures {
        assert!(accepted.precision() >= ACCEPTED_PRECISION_AIM, "{language}: accepted {}", accepted.render());
        assert!(rejected.precision() >= REJECTED_PRECISION_AIM, "{language}: rejected {}", rejected.render());
    }
    let Some((_, [_, rejected])) = figures.last() else { panic!("the set has figures") };
    assert!(rejected.recall() >= REJECTED_RECALL_AIM, "rejected {}", rejected.render());
    report
}

/// Turns that were written before the rules were read. Their mistakes were read afterwards and rules were changed for
/// them, so these are figures of tuning; the document has those of the first measurement.
#[test]
fn the_default_export_labels_verdicts_of_every_kind() {
    insta::assert_snapshot!(check_tuned_set(include_str!("outcome/verdicts.jsonl")));
}

/// Turns by kinds of words against something that is not the answer: letters of complaint, questions for an error,
/// opinions of other people, conditions, faults that have ended. They are figures of tuning too.
#[test]
fn the_default_export_rejects_no_answer_for_what_is_not_about_it() {
    insta::assert_snapshot!(check_tuned_set(include_str!("outcome/principles.jsonl")));
}

/// Turns by kinds of use and of faults, and of words that are no verdict: the person's own mistake, irony, opinions of
/// other people, verdicts of a part, a question after a complaint.
#[test]
fn the_default_export_labels_use_and_abstains_from_what_is_no_verdict() {
    insta::assert_snapshot!(check_tuned_set(include_str!("outcome/kinds.jsonl")));
}

/// Turns of another author, who had not read the rules and knew five turns of the other sets: 6 acceptances, 7
/// rejections and 7 neutral turns in each language. They were measured once; then their mistakes were read and rules
/// were written for kinds of them, so these are figures of tuning. The document has those of the measurement.
#[test]
fn the_default_export_keeps_its_figures_on_turns_of_another_author() {
    let languages = LANGUAGES_WITH_KOREAN;
    let all = turns(include_str!("outcome/unseen_third.jsonl"));
    for language in languages {
        let count = |label: Outcome| all.iter().filter(|turn| turn.language == language && turn.label == label).count();
        let counts = [Outcome::Accepted, Outcome::Rejected, Outcome::Neutral].map(count);
        assert_eq!(counts, [6, 7, 7], "{language}: accepted, rejected, neutral");
    }
    let (report, figures) = by_language(&all, &languages);
    let Some((_, [accepted, rejected])) = figures.last() else { panic!("the set has figures") };
    assert!(accepted.precision() >= ACCEPTED_PRECISION_AIM, "accepted {}", accepted.render());
    assert!(rejected.precision() >= OTHER_REJECTED_PRECISION_MIN, "rejected {}", rejected.render());
    assert!(rejected.recall() >= REJECTED_RECALL_AIM, "rejected {}", rejected.render());
    insta::assert_snapshot!(report);
}

/// Returns the languages of the sets that have no Turkish.
fn languages_without_turkish() -> Vec<&'static str> {
    LANGUAGES_WITH_KOREAN.into_iter().filter(|language| *language != "tr").collect()
}

/// Turns of a further author, who had not read the rules: a quarter acceptances, a quarter rejections, a half neither.
/// They were measured once; then their mistakes were read and rules were written for the kinds of them, so these are
/// figures of tuning. The document has those of the measurement.
#[test]
fn the_default_export_labels_turns_as_people_write_them_at_work() {
    let all = turns(include_str!("outcome/fresh_240.jsonl"));
    let (report, figures) = by_language(&all, &languages_without_turkish());
    println!("{report}");
    insta::assert_snapshot!(report);
    let Some((_, [accepted, rejected])) = figures.last() else { panic!("the set has figures") };
    assert!(accepted.precision() >= ACCEPTED_PRECISION_AIM, "accepted {}", accepted.render());
    assert!(rejected.precision() >= REJECTED_PRECISION_AIM, "rejected {}", rejected.render());
    assert!(rejected.recall() >= REJECTED_RECALL_AIM, "rejected {}", rejected.render());
}

/// Turns of other trades, in the proportions of the set before. They were labelled before their author read the rules,
/// and measured once, after the rules for the mistakes of that set. Sums are measured, and no mistakes are read.
#[test]
fn the_default_export_labels_turns_of_other_trades() {
    let all = turns(include_str!("outcome/fresh_240_b.jsonl"));
    let (report, figures) = by_language(&all, &languages_without_turkish());
    println!("{report}");
    insta::assert_snapshot!(report);
    let Some((_, [accepted, rejected])) = figures.last() else { panic!("the set has figures") };
    assert!(accepted.precision() >= TRADES_ACCEPTED_PRECISION_MIN, "accepted {}", accepted.render());
    assert!(rejected.precision() >= TRADES_REJECTED_PRECISION_MIN, "rejected {}", rejected.render());
    assert!(rejected.recall() >= TRADES_REJECTED_RECALL_MIN, "rejected {}", rejected.render());
}

#[test]
fn each_language_of_the_unseen_third_has_turns_of_every_kind() {
    for (name, lines) in SETS {
        let all = turns(lines);
        for language in LANGUAGES.into_iter().filter(|language| all.iter().any(|turn| turn.language == *language)) {
            let measured = part(&all, true, Some(language));
            for label in [Outcome::Accepted, Outcome::Rejected, Outcome::Neutral] {
                assert!(
                    measured.iter().filter(|(found, _)| *found == label).count() >= 2,
                    "{name} {language} {label:?}"
                );
            }
        }
    }
}
