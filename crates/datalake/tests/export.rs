//! Tests of the content of exports, and that an export is reproducible.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{at, edit, mark, record};
use datalake::{
    Feedback, FeedbackRecord, InteractionRecord, Source, Warning,
    export::{
        self, Counts, FileFormat, Filter, Format, Inputs, MinFeedback, Options, Preview, Progress, SessionRating,
    },
};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fs, io, path::Path};

/// Seven answers: positive, negative, edited, neutral, without feedback, rated by session, and edited with an
/// unknown text.
fn interactions() -> Vec<InteractionRecord> {
    vec![
        record("good", 30, "Which port?", "5432"),
        record("bad", 20, "Which port?", "3306"),
        record("edited", 10, "Greet Ann.", "Yo Ann"),
        record("neutral", 40, "And?", "So."),
        record("unknown", 50, "Hello?", "Hi."),
        record("rated", 60, "Where?", "Here."),
        record("lost-edit", 70, "Sign it.", "Signed."),
        record("good", 30, "Which port?", "5432"),
    ]
}

fn feedback() -> Vec<FeedbackRecord> {
    vec![
        mark("good", 100, Feedback::Negative, Source::OutcomeTracker),
        mark("good", 200, Feedback::Positive, Source::Manual),
        mark("bad", 100, Feedback::Negative, Source::OutcomeTracker),
        edit("edited", 100, "Dear Ann"),
        mark("neutral", 100, Feedback::Neutral, Source::Manual),
        FeedbackRecord { edited: None, ..edit("lost-edit", 100, "") },
        mark("nobody", 100, Feedback::Negative, Source::Manual),
    ]
}

fn inputs() -> Inputs<'static> {
    let torn = Warning { file: "x.jsonl".into(), line: 7, reason: "torn".to_owned() };
    let rating = |record: &InteractionRecord| Ok((record.id == "rated").then_some(Feedback::Positive));
    Inputs {
        interactions: Box::new(interactions().into_iter().map(Ok).chain([Err(torn)])),
        feedback: Box::new(feedback().into_iter().map(Ok)),
        rating: Box::new(rating),
    }
}

fn run(options: &Options, folder: &Path) -> (Preview, Vec<Value>) {
    let preview = export::export(inputs(), options, folder, &mut |_| true).unwrap();
    let name = folder.join(format!("{}.jsonl", options.format.as_str()));
    let text = fs::read_to_string(name).unwrap_or_default();
    (preview, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
}

fn rows(format: Format, min_feedback: MinFeedback) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    run(&Options { min_feedback, ..Options::new(format, FileFormat::Jsonl) }, folder.path()).1
}

fn user(text: &str) -> Value {
    json!([{"role": "user", "content": text}])
}

fn assistant(text: &str) -> Value {
    json!([{"role": "assistant", "content": text}])
}

#[test]
fn sft_holds_what_helped_as_it_was_used() {
    let chat = |prompt: &str, answer: &str| json!({"messages": [{"role": "user", "content": prompt}, {"role": "assistant", "content": answer}], "tools": null});
    let helped = [chat("Greet Ann.", "Dear Ann"), chat("Which port?", "5432"), chat("Where?", "Here.")];
    assert_eq!(rows(Format::Sft, MinFeedback::Positive), helped);
    assert_eq!(rows(Format::Sft, MinFeedback::Neutral).len(), 4);
    assert_eq!(rows(Format::Sft, MinFeedback::Negative).len(), 5);
    // Only here are answers without feedback exported. An answer that was edited with an unknown text never is.
    assert_eq!(rows(Format::Sft, MinFeedback::None).len(), 6);
}

#[test]
fn dpo_pairs_an_edit_with_what_was_proposed_and_answers_to_one_prompt() {
    let edit = json!({"prompt": user("Greet Ann."), "chosen": assistant("Dear Ann"), "rejected": assistant("Yo Ann"), "tools": null});
    let compared = json!({"prompt": user("Which port?"), "chosen": assistant("5432"), "rejected": assistant("3306"), "tools": null});
    assert_eq!(rows(Format::Dpo, MinFeedback::Negative), [edit.clone(), compared]);
    assert_eq!(rows(Format::Dpo, MinFeedback::Positive), [edit]);
}

#[test]
fn kto_judges_only_what_somebody_judged() {
    let judged = |prompt: &str, answer: &str, label: bool| json!({"prompt": user(prompt), "completion": assistant(answer), "label": label, "tools": null});
    let all = [
        judged("Greet Ann.", "Dear Ann", true),
        judged("Greet Ann.", "Yo Ann", false),
        judged("Which port?", "3306", false),
        judged("Which port?", "5432", true),
        judged("Where?", "Here.", true),
    ];
    assert_eq!(rows(Format::Kto, MinFeedback::Negative), all);
    // Neutral feedback and no feedback give no label, even if the least feedback admits them.
    assert_eq!(rows(Format::Kto, MinFeedback::None), all);
}

#[test]
fn an_edit_to_the_same_text_keeps_the_answer() {
    let rows = |format: Format| {
        let folder = tempfile::tempdir().unwrap();
        let inputs = Inputs {
            interactions: Box::new([Ok(record("a", 0, "Why?", "Because."))].into_iter()),
            feedback: Box::new([Ok(edit("a", 100, "Because."))].into_iter()),
            rating: Box::new(|_| Ok(None)),
        };
        let options = Options::new(format, FileFormat::Jsonl);
        export::export(inputs, &options, folder.path(), &mut |_| true).unwrap().manifest.counts.rows
    };
    // It is one good answer, and there is no other text to compare it with.
    assert_eq!((rows(Format::Sft), rows(Format::Kto)), (1, 1));
}

#[test]
fn the_manifest_says_what_there_was_and_what_became_of_it() {
    let folder = tempfile::tempdir().unwrap();
    let (preview, rows) = run(&Options::new(Format::Kto, FileFormat::Jsonl), folder.path());
    let counts = Counts {
        interactions: 7,
        repeated: 1,
        positive: 4,
        negative: 1,
        neutral: 1,
        unknown: 1,
        unreadable_ratings: 0,
        edited: 2,
        doubtful: 0,
        outside: 0,
        orphans: 1,
        skipped_lines: 1,
        left_out: 3,
        rows: 5,
        merged_rows: 0,
    };
    assert_eq!((preview.manifest.counts, preview.manifest.unknown_permille, rows.len()), (counts, 142, 5));
    assert_eq!(preview.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(), ["x.jsonl:7: torn"]);
    assert_eq!(preview.samples.len(), 3);
    let written = fs::read_to_string(folder.path().join("manifest.json")).unwrap();
    insta::assert_snapshot!(written);
}

#[test]
fn ratings_that_cannot_be_read_are_counted_and_none_that_can_is_no_export() {
    let options = Options::new(Format::Kto, FileFormat::Jsonl);
    let unreadable = |of: &'static [&'static str]| Inputs {
        rating: Box::new(move |record| match record.id.as_str() {
            id if of.contains(&id) => Err(format!("{id} is locked")),
            _ => Ok(Some(Feedback::Positive)),
        }),
        ..inputs()
    };
    // Ratings are read only for the two answers without other feedback.
    let some = tempfile::tempdir().unwrap();
    let preview = export::export(unreadable(&["rated"]), &options, some.path(), &mut |_| true).unwrap();
    let counts = preview.manifest.counts;
    assert_eq!((counts.unreadable_ratings, counts.unknown, counts.positive), (1, 1, 4));

    let none = tempfile::tempdir().unwrap();
    let refused = export::export(unreadable(&["rated", "unknown"]), &options, none.path(), &mut |_| true);
    let why = refused.map(drop).unwrap_err().to_string();
    assert!(why.contains("is locked") && why.contains("leave out the source session"), "{why}");
    assert_eq!(fs::read_dir(none.path()).unwrap().count(), 0, "nothing is left behind");
    // If the source session is not selected, unreadable ratings have no effect.
    let sources = [Source::Manual].into();
    let folder = tempfile::tempdir().unwrap();
    let inputs = unreadable(&["rated", "unknown"]);
    export::export(inputs, &Options { sources, ..options }, folder.path(), &mut |_| true).unwrap();
}

#[test]
fn feedback_of_other_sources_was_never_given() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::new(Format::Kto, FileFormat::Jsonl);
    options.sources = [Source::OutcomeTracker].into();
    let (preview, rows) = run(&options, folder.path());
    let labels: Vec<bool> = rows.iter().filter_map(|row| row["label"].as_bool()).collect();
    // Without a person's later feedback the tracker's feedback counts: both answers about the port were
    // rejected.
    assert_eq!(labels, [false, false]);
    assert_eq!(preview.manifest.counts.unknown, 5);
    assert_eq!(preview.manifest.by_source.into_iter().collect::<Vec<_>>(), [("outcome_tracker", 2)]);
}

#[test]
fn inferred_feedback_counts_from_a_confidence_on_and_explicit_feedback_always() {
    let labels = |min_confidence: u16, confidence: Option<u16>, source: Source| {
        let folder = tempfile::tempdir().unwrap();
        let inferred = FeedbackRecord { confidence, ..mark("a", 100, Feedback::Negative, source) };
        let inputs = Inputs {
            interactions: Box::new([Ok(record("a", 0, "Why?", "Because."))].into_iter()),
            feedback: Box::new([Ok(inferred)].into_iter()),
            rating: Box::new(|_| Ok(None)),
        };
        let options = Options { min_confidence, ..Options::new(Format::Kto, FileFormat::Jsonl) };
        let preview = export::export(inputs, &options, folder.path(), &mut |_| true).unwrap();
        (preview.manifest.counts.rows, preview.manifest.counts.doubtful)
    };
    let least = Options::new(Format::Kto, FileFormat::Jsonl).min_confidence;
    assert_eq!(labels(least, Some(least), Source::OutcomeTracker), (1, 0));
    assert_eq!(labels(least, Some(least - 1), Source::OutcomeTracker), (0, 1));
    // Lines that are older than the field for the confidence.
    assert_eq!(labels(least, None, Source::OutcomeTracker), (0, 1));
    assert_eq!(labels(0, None, Source::OutcomeTracker), (1, 0));
    for source in [Source::Manual, Source::Reviewer] {
        assert_eq!(labels(1_000, None, source), (1, 0));
    }
}

#[test]
fn a_rating_of_a_session_counts_for_its_last_answer_or_where_it_is_asked_for_all() {
    let rows = |session_rating: SessionRating| {
        let folder = tempfile::tempdir().unwrap();
        let answer = |id: &str, seconds: i64, session: &str| {
            let session_id = session.to_owned();
            Ok(InteractionRecord { session_id, ..record(id, seconds, "Why?", &format!("Because {id}.")) })
        };
        let answers = [answer("a", 3, "one"), answer("b", 1, "one"), answer("c", 2, "two"), answer("d", 9, "one")];
        let inputs = Inputs {
            interactions: Box::new(answers.into_iter()),
            feedback: Box::new([].into_iter()),
            rating: Box::new(|_| Ok(Some(Feedback::Positive))),
        };
        let options = Options { session_rating, ..Options::new(Format::Sft, FileFormat::Jsonl) };
        export::export(inputs, &options, folder.path(), &mut |_| true).unwrap();
        let text = fs::read_to_string(folder.path().join("sft.jsonl")).unwrap();
        ["a", "b", "c", "d"].map(|id| text.contains(&format!("Because {id}.")))
    };
    assert_eq!(Options::new(Format::Sft, FileFormat::Jsonl).session_rating, SessionRating::Last);
    assert_eq!(rows(SessionRating::Last), [false, false, true, true]);
    assert_eq!(rows(SessionRating::All), [true; 4]);
    assert_eq!(rows(SessionRating::None), [false; 4]);
}

#[test]
fn a_filter_leaves_out_by_time_agent_and_action_and_counts_what_it_leaves_out() {
    let count = |filter: Filter| {
        let folder = tempfile::tempdir().unwrap();
        let of = |id: &str, seconds, agent: &str, action: Option<&str>| {
            let (agent, action_id) = (Some(agent.to_owned()), action.map(str::to_owned));
            Ok(InteractionRecord { agent, action_id, ..record(id, seconds, "Why?", &format!("Because {id}.")) })
        };
        let answers = [of("a", 0, "ann", Some("x")), of("b", 10, "bob", None), of("c", 20, "ann", Some("y"))];
        let inputs = Inputs {
            interactions: Box::new(answers.into_iter()),
            feedback: Box::new(
                ["a", "b", "c"].map(|id| Ok(mark(id, 99, Feedback::Positive, Source::Manual))).into_iter(),
            ),
            rating: Box::new(|_| Ok(None)),
        };
        let options = Options { filter, ..Options::new(Format::Sft, FileFormat::Jsonl) };
        let counts = export::export(inputs, &options, folder.path(), &mut |_| true).unwrap().manifest.counts;
        assert_eq!((counts.interactions + counts.outside, counts.orphans), (3, 0));
        let text = fs::read_to_string(folder.path().join("sft.jsonl")).unwrap();
        ["a", "b", "c"].into_iter().filter(|id| text.contains(&format!("Because {id}."))).collect::<String>()
    };
    let agents = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(count(Filter::default()), "abc");
    assert_eq!(count(Filter { since: Some(at(10)), ..Filter::default() }), "bc");
    assert_eq!(count(Filter { until: Some(at(10)), ..Filter::default() }), "a");
    assert_eq!(count(Filter { agents: agents(&["ann"]), ..Filter::default() }), "ac");
    assert_eq!(count(Filter { actions: agents(&["x", "y"]), until: Some(at(20)), ..Filter::default() }), "a");
}

#[test]
fn sessions_for_validation_have_a_file_of_their_own_and_no_session_is_in_both() {
    let answers = || {
        (0..200_i64).map(|number| {
            let session_id = format!("session-{}", number / 4);
            let mut answer =
                record(&format!("{number:03}"), number, "Why?", &format!("Because of {session_id}. No. {number}."));
            answer.user_feedback = Some(if number % 2 == 0 { Feedback::Positive } else { Feedback::Negative });
            Ok(InteractionRecord { session_id, ..answer })
        })
    };
    for format in Format::ALL {
        let folder = tempfile::tempdir().unwrap();
        let inputs = Inputs {
            interactions: Box::new(answers()),
            feedback: Box::new([].into_iter()),
            rating: Box::new(|_| Ok(None)),
        };
        let options = Options { validation_share: 300, ..Options::new(format, FileFormat::Jsonl) };
        let manifest = export::export(inputs, &options, folder.path(), &mut |_| true).unwrap().manifest;
        let sessions = |name: String| -> BTreeSet<String> {
            let text = fs::read_to_string(folder.path().join(name)).unwrap();
            text.split("Because of ").skip(1).map(|rest| rest.split('.').next().unwrap().to_owned()).collect()
        };
        let [train, validation] = manifest.files.as_slice() else { panic!("{:?}", manifest.files) };
        assert_eq!(validation.name, format!("{}-validation.jsonl", format.as_str()));
        assert_eq!(train.rows + validation.rows, manifest.counts.rows);
        let (train, validation) = (sessions(train.name.clone()), sessions(validation.name.clone()));
        assert!(train.is_disjoint(&validation) && !train.is_empty() && !validation.is_empty(), "{}", format.as_str());
    }
}

#[test]
fn the_same_data_gives_the_same_bytes_in_any_order() {
    for file_format in FileFormat::ALL {
        for format in Format::ALL {
            let options = Options { min_feedback: MinFeedback::None, ..Options::new(format, file_format) };
            let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            run(&options, one.path());
            let mut turned = inputs();
            turned.interactions = Box::new(interactions().into_iter().rev().map(Ok));
            export::export(turned, &options, other.path(), &mut |_| true).unwrap();
            let name = format!("{}.{}", format.as_str(), file_format.as_str());
            let bytes = |folder: &Path| fs::read(folder.join(&name)).unwrap();
            assert!(!bytes(one.path()).is_empty());
            assert_eq!(bytes(one.path()), bytes(other.path()), "{name}");
        }
    }
}

#[test]
fn parquet_bytes_are_those_that_were_reviewed() {
    let folder = tempfile::tempdir().unwrap();
    let digests: Vec<String> = Format::ALL
        .into_iter()
        .map(|format| {
            let folder = folder.path().join(format.as_str());
            let (preview, _) = run(&Options::new(format, FileFormat::Parquet), &folder);
            let file = preview.manifest.files.into_iter().next().unwrap();
            format!("{} {} bytes {}", file.name, file.bytes, file.sha256)
        })
        .collect();
    insta::assert_snapshot!(digests.join("\n"));
}

#[test]
fn secrets_do_not_leave() {
    let folder = tempfile::tempdir().unwrap();
    let mut secret =
        record("s", 0, "My key is sbk_0123456789abcdefghijkl, is it safe?", "No: sbk_0123456789abcdefghijkl");
    secret.user_feedback = Some(Feedback::Positive);
    let inputs = Inputs {
        interactions: Box::new([Ok(secret)].into_iter()),
        feedback: Box::new([].into_iter()),
        rating: Box::new(|_| Ok(None)),
    };
    let options = Options::new(Format::Sft, FileFormat::Jsonl);
    let preview = export::export(inputs, &options, folder.path(), &mut |_| true).unwrap();
    let text = fs::read_to_string(folder.path().join("sft.jsonl")).unwrap();
    assert!(!text.contains("0123456789abcdef") && text.matches("[REDACTED:shiftbook_token]").count() == 2, "{text}");
    assert_eq!(preview.manifest.redactions["shiftbook_token"], 2);
    assert_eq!(preview.manifest.redactions["private_key"], 0);
}

#[test]
fn a_preview_writes_nothing_and_says_the_same() {
    let (scratch, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = Options::new(Format::Sft, FileFormat::Jsonl);
    let seen = export::preview(inputs(), &options, scratch.path(), &mut |_| true).unwrap();
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0);
    let (written, _) = run(&options, folder.path());
    assert_eq!((seen.manifest.counts, seen.samples), (written.manifest.counts, written.samples));
}

#[test]
fn nothing_is_overwritten_and_a_cancelled_export_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::new(Format::Sft, FileFormat::Jsonl);
    let many = (0..3_000).map(|number| Ok(record(&format!("{number:05}"), number, "Why?", "Because.")));
    let inputs_of_many = Inputs {
        interactions: Box::new(many),
        feedback: Box::new([].into_iter()),
        rating: Box::new(|_| Ok(Some(Feedback::Positive))),
    };
    let mut heard = Vec::new();
    let cancelled = export::export(inputs_of_many, &options, folder.path(), &mut |progress| {
        heard.push(progress);
        progress != Progress::Written(2_000, 3_000)
    });
    assert!(matches!(cancelled, Err(export::Error::Cancelled)));
    assert_eq!(heard.len(), 8, "{heard:?}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    run(&options, folder.path());
    let again = export::export(inputs(), &options, folder.path(), &mut |_| true);
    assert!(matches!(again, Err(export::Error::Io(error)) if error.kind() == io::ErrorKind::AlreadyExists));
}

#[test]
fn an_export_is_cancelled_while_it_reads_feedback_or_skips_lines() {
    let options = Options::new(Format::Sft, FileFormat::Jsonl);
    let marks = (0..1_000).map(|seconds| Ok(mark("nobody", seconds, Feedback::Positive, Source::Manual)));
    let torn = (1..=1_000).map(|line| Err(Warning { file: "x.jsonl".into(), line, reason: "torn".to_owned() }));
    let reads_feedback =
        Inputs { interactions: Box::new([].into_iter()), feedback: Box::new(marks), rating: Box::new(|_| Ok(None)) };
    let skips =
        Inputs { interactions: Box::new(torn), feedback: Box::new([].into_iter()), rating: Box::new(|_| Ok(None)) };
    for inputs in [reads_feedback, skips] {
        let folder = tempfile::tempdir().unwrap();
        let mut heard = Vec::new();
        let cancelled = export::export(inputs, &options, folder.path(), &mut |progress| {
            heard.push(progress);
            false
        });
        assert!(matches!(cancelled, Err(export::Error::Cancelled)));
        assert_eq!(heard, [Progress::Read(0)]);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn an_export_is_cancelled_while_it_leaves_interactions_out_or_finds_none_for_feedback() {
    let nobody = Filter { agents: BTreeSet::from(["nobody".to_owned()]), ..Filter::default() };
    let options = Options { filter: nobody, ..Options::new(Format::Sft, FileFormat::Jsonl) };
    let id = |number: i64| format!("{number:05}");
    let left_out = (0..1_000).map(|number| Ok(record(&id(number), number, "Why?", "Because.")));
    let orphans = (0..1_000).map(|number| Ok(mark(&id(number), number, Feedback::Positive, Source::Manual)));
    let leaves_out =
        Inputs { interactions: Box::new(left_out), feedback: Box::new([].into_iter()), rating: Box::new(|_| Ok(None)) };
    let finds_none =
        Inputs { interactions: Box::new([].into_iter()), feedback: Box::new(orphans), rating: Box::new(|_| Ok(None)) };
    for inputs in [leaves_out, finds_none] {
        let folder = tempfile::tempdir().unwrap();
        let mut goes_on = |progress: Progress| !matches!(progress, Progress::Matched(..));
        let cancelled = export::export(inputs, &options, folder.path(), &mut goes_on);
        assert!(matches!(cancelled, Err(export::Error::Cancelled)));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
