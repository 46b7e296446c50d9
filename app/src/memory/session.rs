//! The page /agents/{slug}/memory/session: what one session wrote into the agent's memory, and the form that reverts
//! it.

use super::{document_href, document_name, lines::changed_lines, props::View};
use crate::{
    document::render,
    entity::People,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{number::counted, shorten::one_line},
    ui::{
        button::{Button, Look},
        page_head::PageHead,
        section::Section,
    },
};
use domain::{id::SessionId, role::Permission};
use leptos::prelude::*;
use wire::memory_revert::RevertedMemory;

/// Data of the page.
#[derive(Debug, Clone)]
pub struct SessionProps {
    /// Slug of the agent.
    pub agent: String,
    /// Whose turns the lines come from.
    pub session: SessionId,
    /// Documents with lines that come from it.
    pub documents: Vec<RevertedMemory>,
    /// Whether more documents follow when these are reverted.
    pub has_more: bool,
    /// Names of the people of the workspace.
    pub people: People,
}

/// Renders the page.
pub fn session_page(shell: &Shell, props: SessionProps) -> String {
    render(shell, "What a session wrote", || {
        let memory = format!("/agents/{}/memory", props.agent);
        let crumbs = vec![("Memory".to_owned(), "/memory".to_owned()), (props.agent.clone(), memory)];
        let documents =
            props.documents.iter().map(|one| document(&props.agent, one, &props.people)).collect::<Vec<_>>();
        let transcript = format!("/sessions/{}", props.session);
        let body = if documents.is_empty() && !props.has_more {
            view! { <p class="meta">"No line of this memory comes from this session."</p> }.into_any()
        } else {
            view! { <div>{documents}</div> }.into_any()
        };
        let more = props.has_more.then(|| static_html(more()));
        let may = shell.may(Permission::WriteMemory) && (props.has_more || !props.documents.is_empty());
        let form = may.then(|| static_html(revert(&props.agent, &props.session.to_string(), props.documents.len())));
        let page = view! {
            <PageHead title="What a session wrote" crumbs=crumbs/>
            <p class="meta">"Lines that come from "<a href=transcript>"this session"</a>", and what the documents are without them."</p>
            {static_html(body)}
            {more}
            {form}
        };
        frame(shell, RailEntry::Memory, page)
    })
}

/// Says that not all documents are shown.
fn more() -> impl IntoView {
    view! { <p class="meta">"More documents name this session. They are shown when these are reverted."</p> }
}

/// The form that reverts.
fn revert(agent: &str, session: &str, documents: usize) -> impl IntoView + use<> {
    let about = counted(documents as u64, "document");
    let action = format!("/agents/{agent}/memory/session");
    view! {
        <Section name="revert" title="Revert">
            <p>"The changes above are written as new versions, all of them or none. Earlier versions are kept, so each document can be brought back."</p>
            <form class="form" method="post" action=action>
                <input type="hidden" name="session" value=session.to_owned()/>
                <div class="form-actions"><Button look=Look::Danger about=about>"Revert"</Button></div>
            </form>
        </Section>
    }
}

fn document(agent: &str, document: &RevertedMemory, people: &People) -> impl IntoView + use<> {
    let name = one_line(&document_name(people, &document.path), 120);
    let href = document_href(agent, &document.path, View::Origin);
    let what = if document.is_whole { "nothing is left: it is deleted" } else { "loses these lines" };
    let lines = static_html(changed_lines(&document.lines));
    view! {
        <section class="section" aria-label=name.clone()>
            <h2><a href=href dir="auto">{name.clone()}</a></h2>
            <p class="meta">"Version "{document.version}", "{what}</p>
            {lines}
        </section>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::memory::LineChange;
    use wire::memory::{MemoryDiffLine, MemoryDiffPart};

    #[test]
    fn the_page_shows_each_document_and_offers_the_revert() {
        let part = MemoryDiffPart { text: "- <b>poison".into(), is_changed: true };
        let line = MemoryDiffLine { change: LineChange::Removed, old: Some(1), new: None, parts: vec![part] };
        let document = RevertedMemory { path: "topics/a.md".into(), version: 3, is_whole: true, lines: vec![line] };
        let html = crate::render::to_html(self::document("scout", &document, &People::default()));
        assert!(html.contains("/agents/scout/memory?path=") && html.contains("&amp;view=origin"), "{html}");
        assert!(html.contains("&lt;b&gt;poison") && html.contains("nothing is left"), "{html}");
        let html = crate::render::to_html(revert("scout", "01940000-0000-7000-8000-000000000001", 1));
        assert!(html.contains("action=\"/agents/scout/memory/session\"") && html.contains("1 document"), "{html}");
        assert!(crate::render::to_html(more()).contains("More documents"));
    }
}
