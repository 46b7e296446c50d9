//! The change that a memory proposal makes: lines by word, each with the turns that it comes from.

use super::{
    evidence::{Turn, Turns, evidence},
    item_text::{task, values},
};
use domain::{
    gate::{MemoryProposal, Task},
    memory_writer::{
        diff::{Line, Piece, lines},
        text::says_something,
    },
};
use leptos::prelude::*;
use std::collections::HashSet;
use wire::approval::{Approval, ApprovalDetail, ChangedDocument};

/// One line of the change, with its turns.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    line: Line,
    turns: Vec<Turn>,
}

/// Lines that follow each other and come from the same turns.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Group {
    lines: Vec<Line>,
    turns: Vec<Turn>,
}

impl Group {
    fn is_changed(&self) -> bool {
        self.lines.first().is_some_and(|line| line.is_changed)
    }

    /// Whether the change only removes these lines.
    fn is_removed(&self) -> bool {
        self.lines.iter().all(|line| line.number.is_none())
    }
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

/// Groups lines by their turns. A new heading or blank line belongs to the line below it, or else to the one above.
fn groups(mut rows: Vec<Row>) -> Vec<Group> {
    for at in (1..rows.len()).rev() {
        if is_frame(&rows[at - 1].line) && is_new(&rows[at].line) {
            rows[at - 1].turns = rows[at].turns.clone();
        }
    }
    for at in 1..rows.len() {
        let takes = is_frame(&rows[at].line) && rows[at].turns.is_empty() && is_new(&rows[at - 1].line);
        if takes {
            rows[at].turns = rows[at - 1].turns.clone();
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    for Row { line, turns } in rows {
        match groups.last_mut() {
            Some(group) if group.is_changed() == line.is_changed && group.turns == turns => group.lines.push(line),
            _ => groups.push(Group { lines: vec![line], turns }),
        }
    }
    groups
}

fn is_new(line: &Line) -> bool {
    line.is_changed && line.number.is_some()
}

/// Whether a line is new and says nothing by itself, as headings and blank lines.
fn is_frame(line: &Line) -> bool {
    let text: String = line.pieces.iter().map(text_of).collect();
    is_new(line) && !says_something(&text)
}

/// The lists of one item. The text of a turn is quoted once: in the first list that has it, beside the lines that
/// come from the fewest other turns. Elsewhere the turn is a link.
#[derive(Default)]
struct Quoted(HashSet<String>);

impl Quoted {
    fn list(&mut self, groups: Vec<Group>) -> impl IntoView + use<> {
        let mut order: Vec<usize> = (0..groups.len()).collect();
        order.sort_by_key(|at| (groups[*at].is_removed(), groups[*at].turns.len(), *at));
        let mut quotes: Vec<Vec<bool>> = vec![Vec::new(); groups.len()];
        for at in order {
            let of = groups[at].turns.iter();
            quotes[at] = of.map(|turn| turn.said.is_some() && self.0.insert(turn.href.clone())).collect();
        }
        let rows = groups.into_iter().zip(quotes).map(|(group, quotes)| {
            let marks = if group.is_changed() { "changed" } else { "same" };
            let words = group.lines.into_iter().map(line_view).collect_view();
            let said = evidence(group.turns.into_iter().zip(quotes).collect());
            view! { <li data-line=marks><div class="memory-words">{words}</div>{said}</li> }
        });
        view! { <ol role="list">{rows.collect_view()}</ol> }
    }
}

/// Shows why the change is proposed, and the change. `None` for other items.
pub fn memory_view(item: &ApprovalDetail) -> Option<impl IntoView + use<>> {
    let approval = &item.approval;
    let Some(Task::Memory(proposal)) = task(approval) else { return None };
    let is_new = proposal.base_version == 0;
    let heading = if is_new { "New document" } else { "Change" };
    let turns = Turns::new(&proposal, &item.turns);
    let body = MemoryProposal::body_of(&values(approval));
    let mut quoted = Quoted::default();
    let list = quoted.list(groups(rows(&turns, &turns.of_removed(), &proposal.base, &body)));
    Some(view! {
        <section class="memory-change" aria-labelledby="memory-change">
            <h3 id="memory-change">{heading}</h3>
            <p dir="auto">{proposal.reason.clone()}</p>
            {list}
        </section>
        {item.document.as_ref().map(|document| newer(document, approval, &turns, &mut quoted))}
    })
}

/// The newer version beside the proposal. Without a conflict one sentence is enough.
fn newer(document: &ChangedDocument, approval: &Approval, turns: &Turns, quoted: &mut Quoted) -> AnyView {
    let now = match document.version {
        0 => "The document was deleted meanwhile.".to_owned(),
        version => format!("The document has changed meanwhile: it is at version {version}."),
    };
    if let Some(joined) = &document.joined {
        return together(&now, document, joined, (turns, quoted)).into_any();
    }
    let body = MemoryProposal::body_of(&values(approval));
    let list = quoted.list(groups(rows(turns, &[], &document.body, &body)));
    view! {
        <section class="memory-change" aria-labelledby="memory-newer">
            <h3 id="memory-newer">"The newest version beside the proposal"</h3>
            <p role="note">{now}" Both changed the same lines. Below is what the text in the form makes of the newest version: what is struck out would be lost. Change the text so that it is right, and approve it."</p>
            {list}
        </section>
    }
    .into_any()
}

/// What an approval writes, when both changes fit together: the difference to the newest version, and the whole text.
fn together(
    now: &str,
    document: &ChangedDocument,
    joined: &str,
    (turns, quoted): (&Turns, &mut Quoted),
) -> impl IntoView + use<> {
    let sentence = format!("{now} Both changes fit together. An approval writes this:");
    let list = quoted.list(groups(rows(turns, &[], &document.body, joined)));
    let is_same = document.body == joined;
    view! {
        <section class="memory-change" aria-labelledby="memory-joined">
            <h3 id="memory-joined">"The document after an approval"</h3>
            <p role="note">{sentence}</p>
            {is_same.then(|| view! { <p class="meta">"The newest version has this text already."</p> })}
            {(!is_same).then_some(list)}
            <details><summary>"The whole document"</summary><p class="memory-line" dir="auto">{joined.to_owned()}</p></details>
        </section>
    }
}

fn line_view(line: Line) -> impl IntoView {
    let pieces = line.pieces.into_iter().filter(|piece| !text_of(piece).is_empty()).map(piece).collect_view();
    view! { <p class="memory-line" dir="auto">{pieces}</p> }
}

fn text_of(piece: &Piece) -> &str {
    match piece {
        Piece::Same(text) | Piece::Old(text) | Piece::New(text) => text,
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
        assert_eq!(html.matches("I play chess.</q>").count(), 1, "what was said stands once: {html}");
        assert_eq!(html.matches(">turn 3</a>").count(), 2, "the newest version has links: {html}");
        item.document = changed("# Alice S.\n\n", Some("# Alice S.\n\n- Plays chess\n"));
        let html = crate::render::to_html(memory_view(&item));
        assert!(html.contains("fit together") && !html.contains("<del>"), "{html}");
        assert_eq!(html.matches("I play chess.</q>").count(), 1, "what was said stands once: {html}");
        assert_eq!(html.matches(">turn 3</a>").count(), 2, "the joined text has links: {html}");
        assert!(html.contains("# Alice S.\n\n- Plays chess\n</p>"), "the whole document: {html}");
    }

    #[test]
    fn lines_of_the_same_turns_have_their_text_once_and_below_them() {
        let mut item = detail(memory(1));
        let body = "# Alice\n\n## Games\n\n- Plays chess\n- Plays go\n- Sings\n";
        let line = |line: u32, sequence: u64| json!({ "line": line, "session": "0193b0a0-0000-7000-8000-000000000001", "sequence": sequence });
        let evidence: Vec<_> =
            [(3, 3), (3, 4), (3, 5), (5, 3), (5, 4), (6, 3), (6, 4), (7, 5)].map(|(at, turn)| line(at, turn)).into();
        let mut task: serde_json::Value = serde_json::from_str(item.approval.task.get()).unwrap();
        let values = json!({ "body": body, "baseVersion": 1 });
        (task["evidence"], task["values"]) = (evidence.into(), values.clone());
        item.approval.task = raw(&task);
        item.approval.proposed = Some(raw(&values));
        item.turns = vec![turn(3, "Chess."), turn(4, "And go."), turn(5, "I sing.")];
        let html = crate::render::to_html(memory_view(&item));
        assert_eq!(html.matches("data-line=\"changed\"").count(), 2, "{html}");
        let (games, sings) = html.split_once("- Sings").unwrap();
        for (said, part) in [("Chess.</q>", games), ("And go.</q>", games), ("I sing.</q>", sings)] {
            assert_eq!((html.matches(said).count(), part.matches(said).count()), (1, 1), "{said}: {html}");
        }
    }
}
