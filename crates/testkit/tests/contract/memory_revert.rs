//! Reverting what one session wrote into a memory: all documents at once, and nothing else.

use crate::memory::{AGENT, put};
use chrono::TimeDelta;
use domain::{
    id::SessionId,
    limit::{MEMORY_EVIDENCE_MAX, MEMORY_EVIDENCE_SESSIONS_MAX, MEMORY_REVERT_DOCUMENTS_MAX},
    memory::{Evidence, ToolCommand},
};
use ledger::{
    Error, ListPage,
    memory::{self, RevertSession, RevertedDocument, Write},
    memory_forget::{self, Forget},
    thread::{self, NewThread},
};
use testkit::{Fixture, on_both_engines};

on_both_engines!(
    what_a_session_wrote_goes_from_all_documents_at_once,
    lines_of_other_sessions_and_of_people_stay,
    lines_that_came_back_still_name_their_sessions,
    lines_of_people_stay_in_a_document_that_came_back,
    a_text_with_lines_of_many_sessions_comes_back,
    a_document_that_lost_a_forgotten_person_keeps_lines_of_people,
    a_document_that_was_made_again_or_renamed_is_reverted_where_it_is,
    a_repeat_leaves_what_people_did_since,
    a_text_that_a_session_wrote_twice_gives_way_to_that_of_people,
    text_of_the_session_itself_does_not_come_back,
    documents_are_found_by_their_origin,
    of_many_documents_each_call_reverts_the_next_ones,
    only_those_who_may_write_revert_and_only_their_own_workspace,
    every_line_of_a_long_file_of_the_memory_tool_has_an_origin,
);

async fn session(f: &Fixture) -> SessionId {
    let new = NewThread { agent: AGENT.into(), message: Some("We spoke".into()), ..NewThread::default() };
    thread::start(&f.ledger, &f.member, new).await.unwrap().session.id
}

/// Writes a document whose lines with these numbers come from event 2 of a session.
async fn from(f: &Fixture, path: &str, base_version: u64, text: &str, lines: &[(u32, SessionId)]) {
    from_event(f, path, base_version, text, lines, 2).await;
}

/// Writes a document whose lines with these numbers come from this event of a session.
async fn from_event(f: &Fixture, path: &str, base_version: u64, text: &str, lines: &[(u32, SessionId)], event: u64) {
    let evidence = lines.iter().map(|(line, session)| Evidence { line: *line, session: *session, sequence: event });
    let write = Write { base_version, text: text.into(), evidence: evidence.collect(), ..Write::default() };
    memory::write(&f.ledger, &f.operator, AGENT, memory::path(path).unwrap(), write).await.unwrap();
}

async fn text(f: &Fixture, path: &str) -> Option<String> {
    match memory::read(&f.ledger, &f.member, AGENT, memory::path(path).unwrap()).await {
        Ok(found) => Some(found.text),
        Err(Error::NotFound(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

fn of(session_id: SessionId) -> RevertSession {
    RevertSession { session_id, reason: String::new() }
}

async fn preview(f: &Fixture, session: SessionId) -> Vec<RevertedDocument> {
    memory::preview_revert_session(&f.ledger, &f.operator, AGENT, of(session)).await.unwrap().documents
}

async fn revert(f: &Fixture, session: SessionId) -> Vec<RevertedDocument> {
    memory::revert_session(&f.ledger, &f.operator, AGENT, of(session)).await.unwrap().documents
}

async fn what_a_session_wrote_goes_from_all_documents_at_once(f: Fixture) {
    let s = session(&f).await;
    put(&f, &f.operator, "topics/added.md", 0, "# A\n\n- own\n").await.unwrap();
    from(&f, "topics/added.md", 1, "# A\n\n- own\n- poison\n", &[(4, s)]).await;
    put(&f, &f.operator, "topics/added.md", 2, "# A\n\n- own\n- poison\n- later\n").await.unwrap();
    from(&f, "topics/made.md", 0, "# B\n\n- poison\n", &[(1, s), (3, s)]).await;
    put(&f, &f.operator, "topics/replaced.md", 0, "---\na: b\n---\n# C\n\n- before\n").await.unwrap();
    from(&f, "topics/replaced.md", 1, "---\na: b\n---\n# C\n\n- poison\n", &[(6, s)]).await;
    put(&f, &f.operator, "topics/other.md", 0, "# D\n\n- poison that a person wrote\n").await.unwrap();
    let shown = preview(&f, s).await;
    let short: Vec<_> = shown.iter().map(|one| (one.path.as_str(), one.version, one.is_whole)).collect();
    assert_eq!(short, [("topics/added.md", 3, false), ("topics/made.md", 1, true), ("topics/replaced.md", 2, false)]);
    assert_eq!(text(&f, "topics/made.md").await.as_deref(), Some("# B\n\n- poison\n"), "nothing is written yet");
    f.clock.advance(TimeDelta::seconds(1));
    assert_eq!(revert(&f, s).await, shown, "what was shown is what happens");
    assert_eq!(text(&f, "topics/added.md").await.unwrap(), "# A\n\n- own\n- later\n");
    assert_eq!(text(&f, "topics/made.md").await, None);
    assert_eq!(text(&f, "topics/replaced.md").await.unwrap(), "---\na: b\n---\n# C\n\n- before\n");
    let found = memory::search(&f.ledger, &f.member, Some(AGENT), "poison", 0).await.unwrap();
    assert_eq!(found.iter().map(|one| one.document.path.as_str()).collect::<Vec<_>>(), ["topics/other.md"]);
    let newest = memory::audit(&f.ledger, &f.member, AGENT, ListPage { limit: 3, cursor: None }).await.unwrap().items;
    assert!(newest.iter().all(|one| one.reason == format!("Reverted what session {s} wrote.")), "{newest:?}");
    assert!(newest.iter().all(|one| one.author == f.operator.caller.to_string()));
    assert_eq!(revert(&f, s).await, [], "a repeat changes nothing");
    // A version is brought back as any other, and can be reverted again.
    let at = memory::path("topics/made.md").unwrap();
    let change = memory::Change { base_version: 2, ..memory::Change::default() };
    memory::revert(&f.ledger, &f.operator, AGENT, at, 1, change).await.unwrap();
    assert_eq!(revert(&f, s).await.len(), 1);
    assert_eq!(text(&f, "topics/made.md").await, None);
    f.assert_verified().await;
    f.done().await;
}

async fn lines_of_other_sessions_and_of_people_stay(f: Fixture) {
    let (s, other) = (session(&f).await, session(&f).await);
    // One version of the writer from two sessions.
    from(&f, "topics/both.md", 0, "# A\n\n## S\n\n- poison\n\n## T\n\n- good\n", &[(3, s), (5, s), (9, other)]).await;
    // Someone corrected the line: it is theirs now.
    from(&f, "topics/corrected.md", 0, "# B\n\n- poison\n", &[(3, s)]).await;
    put(&f, &f.operator, "topics/corrected.md", 1, "# B\n\n- corrected\n").await.unwrap();
    from(&f, "topics/good.md", 0, "# C\n\n- good\n", &[(3, other)]).await;
    assert_eq!(revert(&f, s).await.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["topics/both.md"]);
    let both = text(&f, "topics/both.md").await.unwrap();
    assert_eq!(both.split_whitespace().collect::<Vec<_>>().join(" "), "# A ## T - good");
    assert_eq!(text(&f, "topics/corrected.md").await.unwrap(), "# B\n\n- corrected\n");
    assert_eq!(text(&f, "topics/good.md").await.unwrap(), "# C\n\n- good\n");
    // What is left still says where it comes from.
    let blamed = memory::blame(&f.ledger, &f.member, AGENT, memory::path("topics/both.md").unwrap()).await.unwrap();
    let good = blamed.iter().find(|line| line.text == "- good").unwrap();
    assert_eq!(good.evidence.iter().map(|one| one.session).collect::<Vec<_>>(), [other]);
    f.assert_verified().await;
    f.done().await;
}

/// Deletes a document at this version, and brings the text of that version back.
async fn bring_back(f: &Fixture, path: &str, version: u64) {
    let at = memory::path(path).unwrap();
    let change = |base_version| memory::Change { base_version, ..memory::Change::default() };
    f.clock.advance(TimeDelta::milliseconds(2));
    memory::delete(&f.ledger, &f.operator, AGENT, at.clone(), change(version)).await.unwrap();
    f.clock.advance(TimeDelta::milliseconds(2));
    memory::revert(&f.ledger, &f.operator, AGENT, at, version, change(version + 1)).await.unwrap();
    f.clock.advance(TimeDelta::milliseconds(2));
}

async fn lines_that_came_back_still_name_their_sessions(f: Fixture) {
    let (s, other, third) = (session(&f).await, session(&f).await, session(&f).await);
    from(&f, "topics/a.md", 0, "- poison\n- good\n", &[(1, s), (2, other)]).await;
    f.clock.advance(TimeDelta::milliseconds(2));
    from(&f, "topics/a.md", 1, "- poison\n- good\n- more\n", &[(3, third)]).await;
    bring_back(&f, "topics/a.md", 2).await;
    let blamed = memory::blame(&f.ledger, &f.member, AGENT, memory::path("topics/a.md").unwrap()).await.unwrap();
    let named: Vec<_> = blamed.iter().flat_map(|line| &line.evidence).map(|one| (one.line, one.session)).collect();
    assert_eq!(named, [(1, s), (2, other), (3, third)]);
    assert_eq!(revert(&f, s).await.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["topics/a.md"]);
    assert_eq!(text(&f, "topics/a.md").await.as_deref(), Some("- good\n- more\n"));
    f.assert_verified().await;
    f.done().await;
}

async fn lines_of_people_stay_in_a_document_that_came_back(f: Fixture) {
    let s = session(&f).await;
    from(&f, "topics/a.md", 0, "- poison\n", &[(1, s)]).await;
    f.clock.advance(TimeDelta::milliseconds(2));
    put(&f, &f.operator, "topics/a.md", 1, "- poison\n- own\n").await.unwrap();
    bring_back(&f, "topics/a.md", 2).await;
    let reverted = revert(&f, s).await;
    assert_eq!(reverted.iter().map(|one| one.is_whole).collect::<Vec<_>>(), [false]);
    assert_eq!(text(&f, "topics/a.md").await.as_deref(), Some("- own\n"));
    f.assert_verified().await;
    f.done().await;
}

async fn a_text_with_lines_of_many_sessions_comes_back(f: Fixture) {
    let mut lines = Vec::new();
    for line in (1..).take(MEMORY_EVIDENCE_SESSIONS_MAX + 1) {
        lines.push((line, session(&f).await));
    }
    let whole: String = lines.iter().map(|(line, _)| format!("- Fact {line}\n")).collect();
    let (last, first) = lines.split_last().unwrap();
    from(&f, "topics/a.md", 0, whole.trim_end_matches(&format!("- Fact {}\n", last.0)), first).await;
    f.clock.advance(TimeDelta::milliseconds(2));
    from(&f, "topics/a.md", 1, &whole, &[*last]).await;
    bring_back(&f, "topics/a.md", 2).await;
    assert_eq!(text(&f, "topics/a.md").await.as_ref(), Some(&whole));
    for (_, session) in [lines[0], *last] {
        assert_eq!(preview(&f, session).await.len(), 1);
    }
    f.assert_verified().await;
    f.done().await;
}

async fn a_document_that_lost_a_forgotten_person_keeps_lines_of_people(f: Fixture) {
    let s = session(&f).await;
    put(&f, &f.operator, "topics/town.md", 0, "# Town\n\n- own\n- Ines sings\n").await.unwrap();
    from(&f, "topics/town.md", 1, "# Town\n\n- own\n- Ines sings\n- poison\n", &[(5, s)]).await;
    let person = Forget { person: "discord-1".into(), names: Some(vec!["Ines".into()]) };
    memory_forget::forget(&f.ledger, &f.admin, person).await.unwrap();
    assert_eq!(text(&f, "topics/town.md").await.as_deref(), Some("# Town\n\n- own\n- poison\n"));
    // The newest version names the session alone, and the version before it has no text any more.
    let shown = preview(&f, s).await;
    assert_eq!(
        shown.iter().map(|one| (one.path.as_str(), one.is_whole)).collect::<Vec<_>>(),
        [("topics/town.md", false)]
    );
    assert_eq!(revert(&f, s).await, shown);
    assert_eq!(text(&f, "topics/town.md").await.as_deref(), Some("# Town\n\n- own\n"));
    f.assert_verified().await;
    f.done().await;
}

async fn a_document_that_was_made_again_or_renamed_is_reverted_where_it_is(f: Fixture) {
    let s = session(&f).await;
    from(&f, "topics/old.md", 0, "# A\n\n- poison\n", &[(1, s), (3, s)]).await;
    let (at, to) = (memory::path("topics/old.md").unwrap(), memory::path("topics/new.md").unwrap());
    let change = |base_version| memory::Change { base_version, ..memory::Change::default() };
    memory::rename(&f.ledger, &f.operator, AGENT, at, to, change(1)).await.unwrap();
    from(&f, "topics/gone.md", 0, "# B\n\n- poison\n", &[(3, s)]).await;
    memory::delete(&f.ledger, &f.operator, AGENT, memory::path("topics/gone.md").unwrap(), change(1)).await.unwrap();
    let reverted = revert(&f, s).await;
    assert_eq!(
        reverted.iter().map(|one| (one.path.as_str(), one.is_whole)).collect::<Vec<_>>(),
        [("topics/new.md", true)]
    );
    assert_eq!(text(&f, "topics/new.md").await, None);
    f.done().await;
}

async fn a_repeat_leaves_what_people_did_since(f: Fixture) {
    let s = session(&f).await;
    let (whole, less) = ("# A\n\n- one\n- two\n- three\n", "# A\n\n- one\n- three\n");
    for path in ["topics/back.md", "topics/same.md"] {
        put(&f, &f.operator, path, 0, whole).await.unwrap();
        from(&f, path, 1, less, &[(3, s)]).await;
    }
    // A person was faster: the revert has nothing to change here.
    put(&f, &f.operator, "topics/same.md", 2, whole).await.unwrap();
    assert_eq!(revert(&f, s).await.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["topics/back.md"]);
    assert_eq!(text(&f, "topics/back.md").await.as_deref(), Some(whole));
    for path in ["topics/back.md", "topics/same.md"] {
        put(&f, &f.operator, path, 3, less).await.unwrap();
    }
    assert_eq!(preview(&f, s).await, []);
    assert_eq!(revert(&f, s).await, []);
    for path in ["topics/back.md", "topics/same.md"] {
        assert_eq!(text(&f, path).await.as_deref(), Some(less));
    }
    // What the session writes after that is reverted, and no more than that.
    from(&f, "topics/back.md", 4, &format!("{less}- poison\n"), &[(5, s)]).await;
    assert_eq!(revert(&f, s).await.len(), 1);
    assert_eq!(text(&f, "topics/back.md").await.as_deref(), Some(less));
    f.done().await;
}

async fn a_text_that_a_session_wrote_twice_gives_way_to_that_of_people(f: Fixture) {
    let s = session(&f).await;
    // Again after a revert, which brought the person's text back.
    let path = "topics/reverted.md";
    put(&f, &f.operator, path, 0, "- coffee\n").await.unwrap();
    from_event(&f, path, 1, "- tea\n", &[(1, s)], 1).await;
    assert_eq!(revert(&f, s).await.len(), 1);
    assert_eq!(text(&f, path).await.as_deref(), Some("- coffee\n"));
    from_event(&f, path, 3, "- tea\n", &[(1, s)], 2).await;
    let shown = preview(&f, s).await;
    assert_eq!(shown.iter().map(|one| (one.version, one.is_whole)).collect::<Vec<_>>(), [(4, false)]);
    assert_eq!(revert(&f, s).await, shown);
    assert_eq!(text(&f, path).await.as_deref(), Some("- coffee\n"));
    // Again after a person corrected it.
    let path = "topics/corrected.md";
    from_event(&f, path, 0, "- tea\n", &[(1, s)], 1).await;
    put(&f, &f.operator, path, 1, "- coffee\n").await.unwrap();
    from_event(&f, path, 2, "- tea\n", &[(1, s)], 2).await;
    assert_eq!(revert(&f, s).await.iter().map(|one| one.is_whole).collect::<Vec<_>>(), [false]);
    assert_eq!(text(&f, path).await.as_deref(), Some("- coffee\n"));
    f.assert_verified().await;
    f.done().await;
}

async fn text_of_the_session_itself_does_not_come_back(f: Fixture) {
    let (s, other) = (session(&f).await, session(&f).await);
    // One version from two sessions, and one from the session alone that replaces its own line.
    from(&f, "topics/a.md", 0, "# A\n\n- poison one\n- good\n", &[(3, s), (4, other)]).await;
    from(&f, "topics/a.md", 1, "# A\n\n- poison two\n- good\n", &[(3, s)]).await;
    // The line of the other session, which the session replaced, comes back.
    from(&f, "topics/b.md", 0, "# B\n\n- poison one\n- good\n", &[(3, s), (4, other)]).await;
    from(&f, "topics/b.md", 1, "# B\n\n- poison two\n", &[(3, s)]).await;
    let shown = preview(&f, s).await;
    assert_eq!(revert(&f, s).await, shown);
    assert_eq!(text(&f, "topics/a.md").await.as_deref(), Some("# A\n\n- good\n"));
    assert_eq!(text(&f, "topics/b.md").await.as_deref(), Some("# B\n\n- good\n"));
    assert_eq!(revert(&f, s).await, []);
    f.assert_verified().await;
    f.done().await;
}

async fn documents_are_found_by_their_origin(f: Fixture) {
    let (s, other) = (session(&f).await, session(&f).await);
    from(&f, "topics/a.md", 0, "# A\n\n- good\n- poison\n", &[(3, other), (4, s)]).await;
    from(&f, "topics/b.md", 0, "# B\n\n- good\n", &[(3, other)]).await;
    let rows = async || f.engine.raw().await.number("SELECT COUNT(*) FROM memory_origins").await;
    assert_eq!(rows().await, 3);
    assert_eq!(revert(&f, s).await.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["topics/a.md"]);
    memory_forget::erase(&f.ledger, &f.admin, AGENT, memory::path("topics/a.md").unwrap()).await.unwrap();
    assert_eq!(rows().await, 1, "an erased document leaves no origin");
    assert_eq!(preview(&f, s).await, []);
    assert_eq!(preview(&f, other).await.iter().map(|one| one.path.as_str()).collect::<Vec<_>>(), ["topics/b.md"]);
    f.done().await;
}

async fn of_many_documents_each_call_reverts_the_next_ones(f: Fixture) {
    let s = session(&f).await;
    let most = MEMORY_REVERT_DOCUMENTS_MAX as usize;
    for number in 0..most + 2 {
        from(&f, &format!("topics/n{number:03}.md"), 0, "- poison\n", &[(1, s)]).await;
    }
    let shown = memory::preview_revert_session(&f.ledger, &f.operator, AGENT, of(s)).await.unwrap();
    assert_eq!((shown.documents.len(), shown.has_more), (most, true));
    assert_eq!(memory::revert_session(&f.ledger, &f.operator, AGENT, of(s)).await.unwrap(), shown);
    let rest = memory::revert_session(&f.ledger, &f.operator, AGENT, of(s)).await.unwrap();
    let paths: Vec<_> = rest.documents.iter().map(|one| one.path.as_str()).collect();
    assert_eq!((paths, rest.has_more), (vec!["topics/n100.md", "topics/n101.md"], false));
    assert_eq!(revert(&f, s).await, []);
    f.done().await;
}

async fn only_those_who_may_write_revert_and_only_their_own_workspace(f: Fixture) {
    let s = session(&f).await;
    from(&f, "topics/a.md", 0, "# A\n\n- learned\n", &[(3, s)]).await;
    for scope in [&f.member, &f.worker] {
        for refused in [
            memory::preview_revert_session(&f.ledger, scope, AGENT, of(s)).await,
            memory::revert_session(&f.ledger, scope, AGENT, of(s)).await,
        ] {
            assert!(matches!(refused, Err(Error::Forbidden(_))), "{refused:?}");
        }
    }
    let nothing = memory::revert_session(&f.ledger, &f.stranger, AGENT, of(s)).await;
    assert!(matches!(&nothing, Ok(found) if found.documents.is_empty()), "{nothing:?}");
    let nothing = memory::revert_session(&f.ledger, &f.operator, "other", of(s)).await.unwrap();
    assert_eq!((nothing.documents, nothing.has_more), (Vec::new(), false));
    let long = RevertSession { session_id: s, reason: "x".repeat(501) };
    assert!(matches!(memory::revert_session(&f.ledger, &f.operator, AGENT, long).await, Err(Error::Invalid(_))));
    assert!(text(&f, "topics/a.md").await.is_some());
    f.done().await;
}

async fn every_line_of_a_long_file_of_the_memory_tool_has_an_origin(f: Fixture) {
    let working = f.running().await;
    let count = MEMORY_EVIDENCE_MAX + 500;
    let file_text: String = (0..count).map(|number| format!("- Fact {number}\n")).collect();
    let create = ToolCommand::Create { path: "/memories/topics/facts.md".into(), file_text };
    let answer = memory::tool(&f.ledger, &f.worker, AGENT, Some(working.id), Some(1), create).await.unwrap();
    assert_eq!((answer.is_error, answer.version), (false, Some(1)), "{}", answer.text);
    let at = memory::path("topics/facts.md").unwrap();
    let blamed = memory::blame(&f.ledger, &f.member, AGENT, at).await.unwrap();
    assert_eq!(blamed.len(), count);
    for (line, number) in blamed.iter().zip(1_u32..) {
        assert_eq!(line.evidence, [Evidence { line: number, session: working.id, sequence: 1 }]);
    }
    let mut edited = text(&f, "topics/facts.md").await.unwrap();
    edited.push_str("- Of a person\n");
    put(&f, &f.operator, "topics/facts.md", 1, &edited).await.unwrap();
    assert_eq!(revert(&f, working.id).await.len(), 1);
    assert_eq!(text(&f, "topics/facts.md").await.as_deref(), Some("- Of a person\n"));
    f.done().await;
}
