//! The change that a memory proposal makes: lines by word, each with a link to the turn that it comes from.

use super::item_text::{task, values};
use crate::session::turn_href;
use domain::{
    gate::{MemoryProposal, Task},
    id::SessionId,
    memory_writer::diff::{Line, Piece, lines},
};
use leptos::prelude::*;
use wire::approval::{Approval, ApprovalDetail, ChangedDocument};

/// One line of the change, with links to its turns as address and text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    line: Line,
    turns: Vec<(String, String)>,
}

/// The lines of a proposal; empty for other items. The turns of a line that a reviewer edited are known once it is
/// written.
fn rows(approval: &Approval) -> Vec<Row> {
    let Some(Task::Memory(proposal)) = task(approval) else { return Vec::new() };
    let body = MemoryProposal::body_of(&values(approval));
    let is_as_proposed = body == proposal.body();
    let sessions = sessions_of(&proposal);
    let turns = |line: &Line| {
        let own = proposal.evidence.iter().filter(|turn| line.is_changed && Some(turn.line) == line.number);
        let own = own.filter(|_| is_as_proposed);
        let link = |session: SessionId, sequence: u64| {
            let of = sessions.iter().position(|known| *known == session).filter(|_| sessions.len() > 1);
            let of = of.map(|at| format!("session {}, ", at + 1)).unwrap_or_default();
            (turn_href(session, sequence), format!("{of}turn {sequence}"))
        };
        let mut links: Vec<_> = own.map(|turn| link(turn.session, turn.sequence)).collect();
        if line.number.is_none() {
            links.extend(proposal.turns.iter().map(|turn| link(turn.session, turn.sequence)));
        }
        links
    };
    lines(&proposal.base, &body).into_iter().map(|line| Row { turns: turns(&line), line }).collect()
}

/// The sessions that a proposal comes from, in the order in which it names them. With more than one, each turn is shown
/// with the number of its session.
fn sessions_of(proposal: &MemoryProposal) -> Vec<SessionId> {
    let mut all = Vec::new();
    let turns = proposal.turns.iter().map(|turn| turn.session);
    for session in turns.chain(proposal.evidence.iter().map(|line| line.session)) {
        if !all.contains(&session) {
            all.push(session);
        }
    }
    all
}

/// Shows why the change is proposed, and the change. `None` for other items.
pub fn memory_view(item: &ApprovalDetail) -> Option<impl IntoView + use<>> {
    let approval = &item.approval;
    let Some(Task::Memory(proposal)) = task(approval) else { return None };
    let is_new = proposal.base_version == 0;
    let heading = if is_new { "New document" } else { "Change" };
    let rows = rows(approval).into_iter().map(|row| {
        let marks = if row.line.is_changed { "changed" } else { "same" };
        let pieces = row.line.pieces.into_iter().filter(|piece| !is_empty(piece)).map(piece).collect_view();
        let turns = row.turns.into_iter().map(|(href, text)| view! { <a href=href>{text}</a> }).collect_view();
        view! {
            <li data-line=marks><span class="memory-line" dir="auto">{pieces}</span><span class="memory-turns">{turns}</span></li>
        }
    });
    Some(view! {
        <section class="memory-change" aria-labelledby="memory-change">
            <h3 id="memory-change">{heading}</h3>
            <p dir="auto">{proposal.reason.clone()}</p>
            <ol>{rows.collect_view()}</ol>
        </section>
        {item.document.as_ref().map(|document| newer(document, approval))}
    })
}

/// The newer version beside the proposal. Without a conflict one sentence is enough.
fn newer(document: &ChangedDocument, approval: &Approval) -> AnyView {
    let now = match document.version {
        0 => "The document was deleted meanwhile.".to_owned(),
        version => format!("The document has changed meanwhile: it is at version {version}."),
    };
    if let Some(joined) = &document.joined {
        return together(&now, document, joined).into_any();
    }
    let body = MemoryProposal::body_of(&values(approval));
    let rows = lines(&document.body, &body).into_iter().map(line_view);
    view! {
        <section class="memory-change" aria-labelledby="memory-newer">
            <h3 id="memory-newer">"The newest version beside the proposal"</h3>
            <p role="note">{now}" Both changed the same lines. Below is what the text in the form makes of the newest version: what is struck out would be lost. Change the text so that it is right, and approve it."</p>
            <ol>{rows.collect_view()}</ol>
        </section>
    }
    .into_any()
}

/// What an approval writes, when both changes fit together: the difference to the newest version, and the whole text.
fn together(now: &str, document: &ChangedDocument, joined: &str) -> impl IntoView + use<> {
    let sentence = format!("{now} Both changes fit together. An approval writes this:");
    let rows = lines(&document.body, joined).into_iter().map(line_view).collect_view();
    let is_same = document.body == joined;
    view! {
        <section class="memory-change" aria-labelledby="memory-joined">
            <h3 id="memory-joined">"The document after an approval"</h3>
            <p role="note">{sentence}</p>
            {is_same.then(|| view! { <p class="meta">"The newest version has this text already."</p> })}
            {(!is_same).then(|| view! { <ol>{rows}</ol> })}
            <details><summary>"The whole document"</summary><p class="memory-line" dir="auto">{joined.to_owned()}</p></details>
        </section>
    }
}

/// One line of a difference, without turns.
fn line_view(line: Line) -> impl IntoView {
    let marks = if line.is_changed { "changed" } else { "same" };
    let pieces = line.pieces.into_iter().filter(|piece| !is_empty(piece)).map(piece).collect_view();
    view! { <li data-line=marks><span class="memory-line" dir="auto">{pieces}</span></li> }
}

/// Whether a piece has no text, as that of a blank line.
fn is_empty(piece: &Piece) -> bool {
    match piece {
        Piece::Same(text) | Piece::Old(text) | Piece::New(text) => text.is_empty(),
    }
}

fn piece(piece: Piece) -> AnyView {
    match piece {
        Piece::Same(text) => view! { <span>{text}</span> }.into_any(),
        Piece::Old(text) => view! { <del>{text}</del> }.into_any(),
        Piece::New(text) => view! { <ins>{text}</ins> }.into_any(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inbox::fixture::{detail, memory};

    #[test]
    fn each_new_line_links_to_the_turn_that_it_comes_from() {
        let found = rows(&memory(1));
        let changed: Vec<_> = found.iter().filter(|row| row.line.is_changed).collect();
        assert_eq!(changed.len(), 1);
        let session = "0193b0a0-0000-7000-8000-000000000001";
        assert_eq!(changed[0].turns, [(format!("/sessions/{session}?before=28#seq-3"), "turn 3".to_owned())]);
        let html = crate::render::to_html(memory_view(&detail(memory(1))));
        assert!(html.contains("<ins>- Plays chess</ins>"), "{html}");
    }

    #[test]
    fn turns_of_several_sessions_name_their_session() {
        let mut item = memory(1);
        let mut task: serde_json::Value = serde_json::from_str(item.task.get()).unwrap();
        let other = "0193b0a0-0000-7000-8000-000000000002";
        task["turns"].as_array_mut().unwrap().push(serde_json::json!({ "session": other, "sequence": 8 }));
        task["evidence"][0]["session"] = other.into();
        item.task = crate::inbox::fixture::raw(&task);
        let turns: Vec<_> = rows(&item).into_iter().flat_map(|row| row.turns).collect();
        assert_eq!(turns, [(format!("/sessions/{other}?before=28#seq-3"), "session 2, turn 3".to_owned())]);
    }

    #[test]
    fn a_conflict_shows_the_newest_version_and_the_form_is_based_on_it() {
        let mut item = detail(memory(1));
        let changed = |body: &str, joined: Option<&str>| {
            let (conflicts, joined) = (joined.is_none(), joined.map(str::to_owned));
            Some(ChangedDocument { version: 4, body: body.into(), conflicts, joined })
        };
        item.document = changed("# Alice\n\n- Plays go\n", None);
        let html = crate::render::to_html(memory_view(&item));
        assert!(html.contains("at version 4") && html.contains("<del>go</del><ins>chess</ins>"), "{html}");
        item.document = changed("# Alice S.\n\n", Some("# Alice S.\n\n- Plays chess\n"));
        let html = crate::render::to_html(memory_view(&item));
        assert!(html.contains("fit together") && !html.contains("<del>"), "{html}");
        assert!(html.contains("# Alice S.\n\n- Plays chess\n</p>"), "the whole document: {html}");
    }
}
