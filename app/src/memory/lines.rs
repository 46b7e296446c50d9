//! The lines of two texts beside each other, with changed words marked.

use domain::memory::LineChange;
use leptos::prelude::*;
use wire::memory::{MemoryDiffLine, MemoryDiffPart};

/// Unchanged lines that are shown around a change.
const AROUND: usize = 3;
/// Most lines that are shown.
const LINES_MAX: usize = 4_000;

/// The changed lines with some around them, as a list.
pub fn changed_lines(lines: &[MemoryDiffLine]) -> impl IntoView + use<> {
    let is_changed = |at: usize| lines[at].change != LineChange::Kept;
    let near = |at: usize| {
        let from = at.saturating_sub(AROUND);
        (from..=(at + AROUND).min(lines.len() - 1)).any(is_changed)
    };
    let mut shown = Vec::new();
    let mut is_gap = false;
    for (at, line) in lines.iter().enumerate().take(LINES_MAX) {
        if near(at) {
            shown.push(line_view(line).into_any());
            is_gap = false;
        } else if !is_gap {
            shown.push(
                view! { <li class="memory-gap"><span class="hidden-text">"Unchanged lines are left out."</span></li> }
                    .into_any(),
            );
            is_gap = true;
        }
    }
    let is_same = lines.iter().all(|line| line.change == LineChange::Kept);
    let is_cut = lines.len() > LINES_MAX;
    view! {
        {is_same.then(|| view! { <p class="meta">"Nothing differs."</p> })}
        {(!is_same).then(|| view! { <ol class="memory-diff" tabindex="0" role="list" aria-label="Changed lines">{shown}</ol> })}
        {is_cut.then(|| view! { <p class="meta">"Only the first lines are shown."</p> })}
    }
}

fn line_view(line: &MemoryDiffLine) -> impl IntoView + use<> {
    let (sign, said) = match line.change {
        LineChange::Kept => (" ", ""),
        LineChange::Added => ("+", "Added: "),
        LineChange::Removed => ("−", "Removed: "),
    };
    let number = line.new.or(line.old).unwrap_or_default();
    let is_added = line.change == LineChange::Added;
    let parts = line.parts.iter().map(|part| part_view(part, is_added)).collect::<Vec<_>>();
    view! {
        <li data-change=line.change.as_str()>
            <span class="memory-number" aria-hidden="true">{number}</span>
            <span aria-hidden="true">{sign}</span>
            <span class="memory-text" dir="auto"><span class="hidden-text">{said}</span>{parts}</span>
        </li>
    }
}

fn part_view(part: &MemoryDiffPart, is_added: bool) -> AnyView {
    let text = part.text.clone();
    match (part.is_changed, is_added) {
        (false, _) => view! { <span>{text}</span> }.into_any(),
        (true, true) => view! { <ins>{text}</ins> }.into_any(),
        (true, false) => view! { <del>{text}</del> }.into_any(),
    }
}
