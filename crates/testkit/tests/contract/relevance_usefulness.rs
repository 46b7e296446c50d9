//! The figures of a document's lines: which memories helped, in which sessions.

use crate::{
    hook::{payload, send},
    relevance::{CODER, ask, newest, rate, remember},
};
use chrono::TimeDelta;
use domain::{id::SessionId, memory_writer::block::items, relevance::Worth};
use ledger::{
    memory::{self, Write},
    page::{
        memory::{Selection, memory as page},
        memory_document::Part,
        memory_usefulness::Usefulness,
    },
};
use serde_json::json;
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    the_lines_of_a_document_have_their_figures_and_sessions,
    the_figures_of_a_line_begin_anew_when_it_changes,
    few_figures_say_nothing_and_sessions_of_other_documents_do_not_count,
);

const PATH: &str = "topics/launch.md";
const TEXT: &str =
    "---\nimportance: 0.5\n---\n# Launch\n\n- The launch is on Friday\n\n# Crane\n\nCrane repaired in May\n";

async fn usefulness(f: &Fixture, path: &str) -> Usefulness {
    let shown = Selection::Document(memory::path(path).unwrap(), Part::Usefulness);
    page(&f.ledger, &f.member, CODER, shown).await.unwrap().document.unwrap().usefulness.unwrap()
}

/// A session whose agent is given the memory about the launch and rates it. Returns it.
async fn rated(f: &Fixture, session: &str, value: f64) -> SessionId {
    f.clock.advance(TimeDelta::seconds(1));
    let context = ask(f, session).await.unwrap();
    let (memory, _) = items(&context).into_iter().find(|(_, text)| text.contains("Friday")).unwrap();
    let id = newest(f).await;
    rate(f, &f.member, id, &json!({ &memory: value })).await.unwrap();
    id
}

async fn the_lines_of_a_document_have_their_figures_and_sessions(f: Fixture) {
    remember(&f, CODER, PATH, TEXT).await;
    let first = rated(&f, "s-1", 1.0).await;
    let second = rated(&f, "s-2", 1.0).await;
    let again = rated(&f, "s-2", -0.5).await;
    assert_eq!(second, again);
    let of = usefulness(&f, PATH).await;
    assert!(!of.is_cut && of.earlier == 0, "{of:?}");
    let [launch, crane] = of.passages.as_slice() else { panic!("two passages: {of:?}") };
    assert_eq!((launch.line, launch.text.as_str()), (6, "- The launch is on Friday"), "the front matter has lines too");
    assert_eq!((launch.given.count, launch.given.sessions), (3, 2));
    assert_eq!((launch.rated.count, launch.rated.sessions, launch.mean), (3, 2, Some(0.5)));
    assert_eq!((launch.used.count, launch.used.newest.len()), (0, 0));
    assert_eq!(launch.worth, Worth::Helpful);
    // One prompt of each session, the newest first.
    let sessions: Vec<SessionId> = launch.given.newest.iter().map(|prompt| prompt.session_id).collect();
    assert_eq!(sessions, [second, first]);
    assert_eq!((crane.line, crane.given.count, crane.worth), (10, 0, Worth::NotGiven));
    f.done().await;
}

async fn the_figures_of_a_line_begin_anew_when_it_changes(f: Fixture) {
    remember(&f, CODER, PATH, TEXT).await;
    for session in ["s-1", "s-2", "s-3"] {
        rated(&f, session, -1.0).await;
    }
    assert_eq!(usefulness(&f, PATH).await.passages[0].worth, Worth::Harmful);
    let text = TEXT.replace("Friday", "Monday");
    let write = Write { base_version: 1, text, ..Write::default() };
    memory::write(&f.ledger, &f.operator, CODER, memory::path(PATH).unwrap(), write).await.unwrap();
    let of = usefulness(&f, PATH).await;
    assert_eq!((of.passages[0].given.count, of.passages[0].worth, of.earlier), (0, Worth::NotGiven, 3));
    f.done().await;
}

async fn few_figures_say_nothing_and_sessions_of_other_documents_do_not_count(f: Fixture) {
    remember(&f, CODER, PATH, TEXT).await;
    remember(&f, CODER, "topics/harbour.md", "# Harbour\n\n- Gate closed on Sunday\n").await;
    rated(&f, "s-1", -1.0).await;
    let prompt = json!({ "session_id": "s-2", "prompt": "Gate closed?" });
    send(&f, &f.member, payload("UserPromptSubmit", prompt)).await.unwrap();
    let of = usefulness(&f, PATH).await;
    assert_eq!((of.passages[0].given.count, of.passages[0].worth), (1, Worth::Unknown), "one rating can be chance");
    assert_eq!(usefulness(&f, "topics/harbour.md").await.passages[0].given.count, 1);
    f.done().await;
}
