//! The change that a memory proposal makes: lines by word, each with the turns that it comes from.

use super::{
    evidence::{Turn, Turns, evidence},
    item_text::{task, values},
};
use domain::{
    gate::{MemoryProposal, Task},
    memory_writer::diff::{Line, Piece, lines},
};
use leptos::prelude::*;
use wire::approval::{Approval, ApprovalDetail, ChangedDocument};

/// One line of the change, with its turns.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    line: Line,
    turns: Vec<Turn>,
}

/// The lines that differ. Removed lines have the turns `of_removed`. The turns of a line that a reviewer reworded are
/// known once it is written.
fn rows(turns: &Turns, of_removed: &[Turn], old: &str, new: &str) -> Vec<Row> {
    let of = |line: &Line| match line.number {
        None => of_removed.to_vec(),
        Some(number) if line.is_changed => turns.of_line(new, number),
        Some(_) => Vec::new(),
    };
    lines(old, new).into_iter().map(|line| Row { turns: of(&line), line }).collect()
}

/// Shows why the change is proposed, and the change. `None` for other items.
pub fn memory_view(item: &ApprovalDetail) -> Option<impl IntoView + use<>> {
    let approval = &item.approval;
    let Some(Task::Memory(proposal)) = task(approval) else { return None };
    let is_new = proposal.base_version == 0;
    let heading = if is_new { "New document" } else { "Change" };
    let turns = Turns::new(&proposal, &item.turns);
    let body = MemoryProposal::body_of(&values(approval));
    let rows = rows(&turns, &turns.of_change, &proposal.base, &body).into_iter().map(row_view);
    Some(view! {
        <section class="memory-change" aria-labelledby="memory-change">
            <h3 id="memory-change">{heading}</h3>
            <p dir="auto">{proposal.reason.clone()}</p>
            <ol>{rows.collect_view()}</ol>
        </section>
        {item.document.as_ref().map(|document| newer(document, approval, &turns))}
    })
}

/// The newer version beside the proposal. Without a conflict one sentence is enough.
fn newer(document: &ChangedDocument, approval: &Approval, turns: &Turns) -> AnyView {
    let now = match document.version {
        0 => "The document was deleted meanwhile.".to_owned(),
        version => format!("The document has changed meanwhile: it is at version {version}."),
    };
    if let Some(joined) = &document.joined {
        return together(&now, document, joined, turns).into_any();
    }
    let body = MemoryProposal::body_of(&values(approval));
    let rows = rows(turns, &[], &document.body, &body).into_iter().map(row_view);
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
fn together(now: &str, document: &ChangedDocument, joined: &str, turns: &Turns) -> impl IntoView + use<> {
    let sentence = format!("{now} Both changes fit together. An approval writes this:");
    let rows = rows(turns, &[], &document.body, joined).into_iter().map(row_view).collect_view();
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

fn row_view(Row { line, turns }: Row) -> impl IntoView {
    let marks = if line.is_changed { "changed" } else { "same" };
    let pieces = line.pieces.into_iter().filter(|piece| !is_empty(piece)).map(piece).collect_view();
    view! { <li data-line=marks><span class="memory-line" dir="auto">{pieces}</span>{evidence(turns)}</li> }
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
    use crate::inbox::fixture::{detail, memory, raw, turn};
    use serde_json::json;

    #[test]
    fn each_new_line_has_the_words_that_it_comes_from() {
        let mut item = detail(memory(1));
        item.turns = vec![turn(3, "I play chess.")];
        let html = crate::render::to_html(memory_view(&item));
        for part in ["<ins>- Plays chess</ins>", "?before=103#seq-3\">turn 3</a>", "I play chess.</q>"] {
            assert_eq!(html.matches(part).count(), 1, "{part}: {html}");
        }
        // A line that a reviewer leaves as it is keeps them; one that they write has none yet.
        item.approval.proposed = Some(raw(&json!({ "body": "# Alice\n\n- Sings\n- Plays chess\n", "baseVersion": 1 })));
        let html = crate::render::to_html(memory_view(&item));
        assert!(html.contains("<ins>- Sings</ins>"), "{html}");
        assert_eq!(html.matches("I play chess.</q>").count(), 1, "{html}");
    }

    #[test]
    fn a_conflict_shows_the_newest_version_and_the_form_is_based_on_it() {
        let mut item = detail(memory(1));
        let changed = |body: &str, joined: Option<&str>| {
            let (conflicts, joined) = (joined.is_none(), joined.map(str::to_owned));
            Some(ChangedDocument { version: 4, body: body.into(), conflicts, joined })
        };
        item.turns = vec![turn(3, "I play chess.")];
        item.document = changed("# Alice\n\n- Plays go\n", None);
        let html = crate::render::to_html(memory_view(&item));
        assert!(html.contains("at version 4") && html.contains("<del>go</del><ins>chess</ins>"), "{html}");
        assert_eq!(html.matches("I play chess.</q>").count(), 2, "beside the newest version, too: {html}");
        item.document = changed("# Alice S.\n\n", Some("# Alice S.\n\n- Plays chess\n"));
        let html = crate::render::to_html(memory_view(&item));
        assert!(html.contains("fit together") && !html.contains("<del>"), "{html}");
        assert_eq!(html.matches("I play chess.</q>").count(), 2, "beside the joined text, too: {html}");
        assert!(html.contains("# Alice S.\n\n- Plays chess\n</p>"), "the whole document: {html}");
    }
}
