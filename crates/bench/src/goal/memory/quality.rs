//! How much of what is looked for is among the first ten documents. Questions and documents are made to be hard.
//!
//! Every document that answers a question has others beside it that have most of its words. Reported, without a goal:
//! without vectors a paraphrase without common words is not found, whatever the implementation.

use super::GOAL;
use crate::{
    goal::{Bench, Site},
    http::{Connection, Request, credentials, encoded},
    report::Finding,
};
use anyhow::Result;
use serde::Deserialize;
use serde_json::json;

/// The agent whose documents these are.
const AGENT: &str = "bench-quality";
/// Documents about nothing that is asked for, which have the words of the questions.
const DISTRACTORS: usize = 400;
/// Documents of an answer.
const FIRST: usize = 10;

/// Subject, a statement about it, and a question with its words.
const FACTS: [(&str, &str, &str); 12] = [
    ("boiler", "The boiler in the cellar leaks since the frost.", "boiler leaks"),
    ("invoices", "Invoices go out on the last Friday.", "invoices Friday"),
    ("allergy", "Nuts make her ill, also traces of them.", "nuts ill"),
    ("launch", "The launch was moved because tests failed.", "launch moved tests"),
    ("garden", "Tomatoes grow behind the shed this year.", "tomatoes shed"),
    ("printer", "The printer needs the blue driver.", "printer driver"),
    ("contract", "The contract ends in March and renews itself.", "contract renews"),
    ("server", "The server restarts at night for updates.", "server restarts"),
    ("coffee", "He drinks coffee without milk.", "coffee milk"),
    ("flight", "The flight to Lisbon was cancelled twice.", "flight Lisbon"),
    ("passwords", "Passwords are kept in the safe of the office.", "passwords safe"),
    ("piano", "She practises the piano every evening.", "piano evening"),
];
/// Documents with a question in other forms of their words, in five languages, one of each line; `domain` measures the
/// same ones.
const FORMS: [(&str, &str); 2] = [
    ("other forms of the words", include_str!("../../../../domain/tests/memory_forms/seen.tsv")),
    ("other forms, not tuned for", include_str!("../../../../domain/tests/memory_forms/unseen.tsv")),
];
/// Some of these documents with a question in their words, and one in others.
const ASKED: &str = include_str!("../../../../domain/tests/memory_forms/asked.tsv");
/// The kinds of questions.
const KINDS: [&str; 7] = ["terms", FORMS[0].0, FORMS[1].0, "paraphrases", "names", "names without accents", "dates"];
/// Given names and family names; every pair is a person, so a name shares each half with others.
const GIVEN: [&str; 6] = ["Ana", "Björn", "Chloé", "Dmitri", "Elif", "Femi"];
const FAMILY: [&str; 6] = ["García", "Müller", "Ndiaye", "O'Brien", "Søndergaard", "Nguyễn"];
const PLAIN: [[&str; 6]; 2] = [
    ["ana", "bjorn", "chloe", "dmitri", "elif", "femi"],
    ["garcia", "muller", "ndiaye", "o'brien", "sondergaard", "nguyen"],
];

#[derive(Deserialize)]
struct Found {
    items: Vec<FoundItem>,
}

#[derive(Deserialize)]
struct FoundItem {
    document: FoundDocument,
}

#[derive(Deserialize)]
struct FoundDocument {
    path: String,
}

/// Writes the documents.
pub async fn write(site: &Site) -> Result<()> {
    let (target, headers) = (site.server.address(), credentials(&site.account.token));
    let mut connection = Connection::open(target).await?;
    for (path, text) in made().0 {
        let body = json!({ "baseVersion": 0, "text": text }).to_string();
        let path = format!("/api/agents/{AGENT}/memory/document?path={path}");
        connection.call(&Request::put(target, &path, &headers, &body)).await?;
    }
    Ok(())
}

/// Asks the questions. `how` follows their kind in the report.
pub async fn ask(bench: &mut Bench, site: &Site, how: &str) -> Result<()> {
    let (target, headers) = (site.server.address(), credentials(&site.account.token));
    let mut connection = Connection::open(target).await?;
    let (documents, questions) = made();
    for kind in KINDS {
        let (mut asked, mut right) = (0, 0);
        for question in questions.iter().filter(|question| question.kind == kind) {
            let query = encoded(&question.query);
            let path = format!("/api/agents/{AGENT}/memory/search?q={query}&limit={FIRST}");
            let answer = connection.call(&Request::get(target, &path, &headers)).await?;
            let found: Found = serde_json::from_slice(answer.body)?;
            asked += 1;
            right += usize::from(found.items.iter().any(|item| item.document.path == question.answer));
        }
        let what = format!("recall@{FIRST}, {kind}{how}");
        let finding = Finding::new(GOAL, what, "", right as f64 / f64::max(asked as f64, 1.0));
        bench.found(finding.facts(format!("{right} of {asked} questions, {} documents", documents.len())));
    }
    Ok(())
}

struct Question {
    kind: &'static str,
    query: String,
    answer: String,
}

fn made() -> (Vec<(String, String)>, Vec<Question>) {
    let (mut documents, mut questions) = (Vec::new(), Vec::new());
    let mut random = fastrand::Rng::with_seed(3);
    for (subject, fact, terms) in FACTS {
        let answer = format!("topics/note-{}.md", documents.len());
        documents.push((answer.clone(), format!("# Note\n\n- {fact}\n")));
        questions.push(Question { kind: "terms", query: terms.to_owned(), answer });
        // As many words about the subject as the answer has, and not the answer itself.
        for number in 0..4 {
            let path = format!("topics/aside-{}-{number}.md", documents.len());
            documents.push((path, format!("# Note\n\n- They spoke of the {subject} again, number {number}.\n")));
        }
    }
    for (kind, text) in FORMS {
        for (fact, query) in forms(text) {
            let is_of = |(_, text): &&(String, String)| text.contains(fact);
            let known = documents.iter().find(is_of).map(|(path, _)| path.clone());
            let answer = known.unwrap_or_else(|| {
                let path = format!("topics/note-{}.md", documents.len());
                documents.push((path.clone(), format!("# Note\n\n- {fact}\n")));
                path
            });
            questions.push(Question { kind, query: query.to_owned(), answer });
        }
    }
    for row in ASKED.lines().filter(|line| !line.starts_with('#')).map(|line| line.split('\t').collect::<Vec<_>>()) {
        let [_, fact, _, query] = row[..] else { continue };
        let known = documents.iter().find(|(_, text)| text.contains(fact)).map(|(path, _)| path.clone());
        questions.extend(known.map(|answer| Question { kind: "paraphrases", query: query.to_owned(), answer }));
    }
    for (given, plain_given) in GIVEN.iter().zip(PLAIN[0]) {
        for (family, plain_family) in FAMILY.iter().zip(PLAIN[1]) {
            let answer = format!("people/slack-u{}.md", documents.len());
            documents.push((answer.clone(), format!("# {given} {family}\n\n- Works on offers\n")));
            let plain = format!("{plain_given} {plain_family}");
            questions.push(Question { kind: "names", query: format!("{given} {family}"), answer: answer.clone() });
            questions.push(Question { kind: "names without accents", query: plain, answer });
        }
    }
    for day in 1..=28 {
        let answer = format!("sessions/2026-03-{day:02}-morning.md");
        documents.push((answer.clone(), format!("# A talk\n\nThey met and planned the {} offers.\n", day % 5)));
        questions.push(Question { kind: "dates", query: format!("2026-03-{day:02}"), answer });
    }
    let words = FACTS.iter().flat_map(|fact| fact.1.split(' '));
    let foreign = FORMS.iter().flat_map(|(_, text)| forms(text)).flat_map(|(fact, _)| fact.split(' '));
    let words: Vec<&str> = words.chain(foreign).collect();
    for number in 0..DISTRACTORS {
        let text: Vec<&str> = (0..25).map(|_| words[random.usize(..words.len())]).collect();
        documents.push((format!("topics/talk-{number}.md"), format!("# Talk\n\n{}\n", text.join(" "))));
    }
    (documents, questions)
}

/// Documents and their questions.
fn forms(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let rows = text.lines().filter(|line| !line.starts_with('#')).map(|line| line.splitn(3, '\t'));
    rows.filter_map(|mut row| Some((row.nth(1)?, row.next()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn paraphrases_share_no_word_with_their_answer() {
        let (documents, questions) = made();
        let of = |text: &str| -> BTreeSet<String> {
            text.to_lowercase()
                .split(|c: char| !c.is_alphanumeric())
                .filter(|word| word.len() > 3)
                .map(str::to_owned)
                .collect()
        };
        for question in questions.iter().filter(|question| question.kind == "paraphrases") {
            let answer = &documents.iter().find(|(path, _)| *path == question.answer).unwrap().1;
            assert!(of(&question.query).is_disjoint(&of(answer)), "{}: {answer}", question.query);
        }
        assert!(questions.iter().filter(|question| question.kind == "paraphrases").count() >= 60);
        assert!(questions.iter().filter(|question| FORMS.iter().any(|(kind, _)| *kind == question.kind)).count() >= 60);
        let paths: BTreeSet<&String> = documents.iter().map(|(path, _)| path).collect();
        assert_eq!(paths.len(), documents.len());
    }
}
