//! One document: its views.

use super::{
    change::{change_forms, edit_form},
    lines::changed_lines,
    props::{Props, Selected, View},
    usefulness::usefulness,
};
use crate::{
    memory::document_href,
    render::static_html,
    session::turn_href,
    shell::Shell,
    text::{html::Html, number::counted, shorten::one_line},
    ui::{
        button::{Button, ButtonLink},
        notice::{Notice, Tone},
        tabs::{Tab, Tabs},
        time::moment,
    },
};
use domain::{
    id::SessionId,
    memory::{Document, fold},
    memory_writer::turn::own_path,
    role::Permission,
};
use leptos::prelude::*;
use wire::memory::{MemoryBlamedLine, MemoryDiff, MemoryEvidence, MemoryVersion};

/// The document with its facts, its views and its forms.
pub fn document(shell: &Shell, props: &Props, selected: &Selected) -> impl IntoView + use<> {
    let (agent, path) = (&props.agent, &selected.document.path);
    let writes = shell.may(Permission::WriteMemory);
    let tab = |(label, view): (&str, View)| Tab::new(label, document_href(agent, path, view), selected.view == view);
    let views = [View::Text, View::History, View::Origin, View::Usefulness];
    let mut tabs: Vec<Tab> = ["Text", "History", "Origin", "Usefulness"].into_iter().zip(views).map(tab).collect();
    // Members correct what is remembered of them.
    if (writes || is_about(shell, path)) && !selected.document.is_deleted {
        tabs.push(tab(("Edit", View::Edit)));
    }
    let body = match selected.view {
        View::Text => static_html(text(selected)).into_any(),
        View::History => static_html(history(props, selected, writes)).into_any(),
        View::Origin => static_html(origin(agent, &selected.origin, writes)).into_any(),
        View::Usefulness => static_html(usefulness(selected.usefulness.as_ref())).into_any(),
        View::Edit => static_html(edit_form(props, selected)).into_any(),
    };
    let erases = shell.may(Permission::Administer);
    let changes = (writes && selected.view == View::Text).then(|| static_html(change_forms(props, selected, erases)));
    view! {
        <dl class="facts">
            <div><dt>"Path"</dt><dd dir="auto">{one_line(path, 200)}</dd></div>
            <div><dt>"Version"</dt><dd>{selected.document.version}</dd></div>
            <div><dt>"Changed"</dt><dd>{moment(selected.document.updated_at)}" by "{props.people.word(&selected.document.author)}</dd></div>
            <div><dt>"Source"</dt><dd>{source_words(selected.document.source.as_str())}</dd></div>
            <div><dt>"Size"</dt><dd>{counted(selected.document.bytes, "byte")}</dd></div>
        </dl>
        <Tabs label="Views" tabs=tabs/>
        {static_html(state(selected))}
        {body}
        {changes}
    }
}

/// Whether a document is about the person who looks.
fn is_about(shell: &Shell, path: &str) -> bool {
    let user = shell.viewer.as_ref().and_then(|viewer| viewer.user.as_ref());
    user.is_some_and(|user| fold(&own_path(user.id)) == fold(path))
}

/// The words for what wrote a version.
pub fn source_words(source: &str) -> &'static str {
    match source {
        "memory_writer" => "memory writer",
        "person" => "person",
        "agent" => "agent",
        "import" => "import",
        "erasure" => "erasure",
        "card" => "character card",
        _ => "unknown",
    }
}

fn state(selected: &Selected) -> Option<AnyView> {
    selected.document.is_deleted.then(|| {
        let notice = view! {
            <Notice tone=Tone::Wait><p>"This document is deleted. Its history is kept: you can revert to any version there."</p></Notice>
        };
        static_html(notice).into_any()
    })
}

fn text(selected: &Selected) -> impl IntoView + use<> {
    let parts = Document::parse(&selected.text);
    let mut html = Html::with_capacity(selected.text.len() + 64);
    html.markdown(&parts.body);
    let rendered = html.finish();
    let is_empty = parts.body.trim().is_empty() && !selected.document.is_deleted;
    view! {
        {parts.front_matter.map(|front| view! { <pre class="memory-front" dir="auto" tabindex="0" role="group" aria-label="Front matter">{front}</pre> })}
        {is_empty.then(|| view! { <p class="meta">"This document is empty."</p> })}
        <div class="prose" dir="auto" inner_html=rendered></div>
    }
}

fn history(props: &Props, selected: &Selected, writes: bool) -> impl IntoView + use<> {
    let looked = selected.diff.as_ref().map(|diff| diff.to.version);
    let items =
        selected.versions.iter().map(|version| item(props, selected, version, looked, writes)).collect::<Vec<_>>();
    let diff = selected.diff.as_ref().map(|diff| {
        let from = diff.from.as_ref().map_or_else(|| "nothing".to_owned(), |from| format!("version {}", from.version));
        let words = if diff.is_erased {
            format!("Version {} beside {from}", diff.to.version)
        } else {
            let (added, removed) = (counted(diff.added, "line"), counted(diff.removed, "line"));
            format!("Version {} beside {from}: {added} added, {removed} removed", diff.to.version)
        };
        let lines = if diff.is_erased {
            static_html(view! { <p class="meta">{erased_sides(diff)}</p> })
        } else {
            static_html(changed_lines(&diff.lines))
        };
        view! {
            <section class="section" aria-labelledby="diff-title">
                <h2 id="diff-title">{words}</h2>
                {lines}
            </section>
        }
    });
    view! {
        {diff}
        <section class="section" aria-labelledby="versions-title">
            <h2 id="versions-title">"Versions"</h2>
            <ol class="history">{items}</ol>
            {pager(&props.agent, selected).map(static_html)}
        </section>
    }
}

/// Links to the newest and to older versions. `None` if all versions are listed.
fn pager(agent: &str, selected: &Selected) -> Option<impl IntoView + use<>> {
    let all = document_href(agent, &selected.document.path, View::History);
    let last = selected.versions.last().filter(|_| selected.has_more_versions);
    let older = last.map(|last| format!("{all}&before={}", last.version));
    let newest = selected.before.map(|_| all);
    (newest.is_some() || older.is_some()).then(|| {
        view! {
            <nav class="pager" aria-label="Versions">
                {newest.map(|href| view! { <ButtonLink small=true href=href>"Newest versions"</ButtonLink> })}
                {older.map(|href| view! { <ButtonLink small=true attr:rel="next" href=href>"Older versions"</ButtonLink> })}
            </nav>
        }
    })
}

/// Says which texts of a comparison were erased.
fn erased_sides(diff: &MemoryDiff) -> String {
    let sides = diff.from.iter().chain([&diff.to]).filter(|side| side.erased_at.is_some());
    let numbers: Vec<_> = sides.map(|side| side.version.to_string()).collect();
    let erased = match numbers.as_slice() {
        [one] => format!("The text of version {one} was erased"),
        all => format!("The texts of versions {} were erased", all.join(" and ")),
    };
    format!("{erased}, so what changed is not known.")
}

fn item(
    props: &Props,
    selected: &Selected,
    version: &MemoryVersion,
    looked: Option<u64>,
    writes: bool,
) -> impl IntoView + use<> {
    let listed = selected.before.map(|before| format!("&before={before}")).unwrap_or_default();
    let all = document_href(&props.agent, &selected.document.path, View::History);
    let href = format!("{all}&version={}{listed}", version.version);
    let is_here = (looked == Some(version.version)).then_some("true");
    let is_newest = version.version == selected.document.version;
    let has_text = version.erased_at.is_none() && !matches!(version.operation.as_str(), "deleted" | "erased");
    let action = format!("/agents/{}/memory", props.agent);
    let revert = (writes && has_text && !is_newest).then(|| {
        view! {
            <form method="post" action=action>
                <input type="hidden" name="step" value="revert"/>
                <input type="hidden" name="path" value=selected.document.path.clone()/>
                <input type="hidden" name="baseVersion" value=selected.document.version.to_string()/>
                <input type="hidden" name="toVersion" value=version.version.to_string()/>
                <Button small=true about=format!("version {}", version.version)>"Revert to this"</Button>
            </form>
        }
    });
    view! {
        <li class="history-item">
            <p class="history-head">
                <a class="history-version" href=href aria-current=is_here>"Version "{version.version}</a>
                <span class="meta">{version.operation.as_str()}" · "{source_words(version.source.as_str())}" · "{moment(version.created_at)}</span>
            </p>
            <p class="meta history-who">{props.people.word(&version.author)}{(!version.reason.is_empty()).then(|| format!(": {}", one_line(&version.reason, 500)))}</p>
            {version.erased_at.is_some().then(|| view! { <p class="meta">"Its text was erased."</p> })}
            {revert}
        </li>
    }
}

/// Turns of a line that are shown at once. The others are shown on request.
const TURNS_OPEN: usize = 5;
/// Most sessions of which the view of origins offers what they wrote.
const SESSIONS_OFFERED: usize = 10;

/// The sessions that lines come from, in the order in which the lines name them. A turn is named with the number of its
/// session in this list.
fn sessions_of(lines: &[MemoryBlamedLine]) -> Vec<SessionId> {
    let mut all = Vec::new();
    for one in lines.iter().flat_map(|line| &line.evidence) {
        if !all.contains(&one.session) {
            all.push(one.session);
        }
    }
    all
}

/// Links to what each session wrote, where it can be reverted.
fn sessions(agent: &str, sessions: &[SessionId]) -> Option<impl IntoView + use<>> {
    let links = sessions.iter().take(SESSIONS_OFFERED).enumerate().map(|(at, session)| {
        let href = format!("/agents/{agent}/memory/session?id={session}");
        view! { <li><a href=href title=session.to_string()>"What session "{at + 1}" wrote"</a></li> }
    });
    let links = links.collect::<Vec<_>>();
    (!links.is_empty()).then(|| view! { <ul class="meta">{links}</ul> })
}

fn origin(agent: &str, lines: &[MemoryBlamedLine], writes: bool) -> impl IntoView + use<> {
    if lines.is_empty() {
        return view! { <p class="meta">"There are no lines."</p> }.into_any();
    }
    let named = sessions_of(lines);
    let rows = lines
        .iter()
        .enumerate()
        .map(|(at, line)| {
            let link = |one: &MemoryEvidence| {
                let href = turn_href(one.session, one.sequence);
                let of = named.iter().position(|session| *session == one.session).filter(|_| named.len() > 1);
                let of = of.map(|at| format!("session {} ", at + 1));
                view! { <a class="quiet" href=href>{of}"turn "{one.sequence}<span class="hidden-text">" that line "{at + 1}" comes from"</span></a>" " }
            };
            let (open, more) = line.evidence.split_at(line.evidence.len().min(TURNS_OPEN));
            let open = open.iter().map(link).collect::<Vec<_>>();
            let more = more.iter().map(link).collect::<Vec<_>>();
            let more = (!more.is_empty()).then(|| {
                let summary = counted(u64::try_from(more.len()).unwrap_or(u64::MAX), "more turn");
                view! { <details><summary>{summary}</summary>{more}</details> }
            });
            let from = if line.is_oldest { "version ≤ " } else { "version " };
            let by = source_words(line.version.source.as_str());
            view! {
                <li>
                    <span class="memory-number" aria-hidden="true">{at + 1}</span>
                    <span class="memory-text" dir="auto">{line.text.clone()}</span>
                    <div class="meta memory-origin">{from}{line.version.version}" · "{by}" "{open}{more}</div>
                </li>
            }
        })
        .collect::<Vec<_>>();
    let sessions = writes.then(|| sessions(agent, &named)).flatten();
    view! {
        <ol class="memory-lines" tabindex="0" role="list" aria-label="Lines and where they come from">{rows}</ol>
        {sessions.map(static_html)}
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(number: u64, erased: bool) -> serde_json::Value {
        let mut version = serde_json::json!({
            "documentId": "0193b0a0-0000-7000-8000-000000000001", "version": number, "path": "topics/a.md",
            "operation": "modified", "sha256": "0".repeat(64), "source": "person", "author": "system", "reason": "",
            "createdAt": "2026-11-25T10:00:00Z",
        });
        if erased {
            version["erasedAt"] = "2026-11-25T11:00:00Z".into();
        }
        version
    }

    #[test]
    fn turns_of_several_sessions_name_their_session() {
        let line = |sessions: &[u32]| {
            let evidence = sessions.iter().map(|n| {
                let session = format!("0193b0a0-0000-7000-8000-{n:012}");
                serde_json::json!({ "line": 1, "session": session, "sequence": 2 })
            });
            let evidence: Vec<_> = evidence.collect();
            let blamed = serde_json::json!({
                "text": "- x", "version": version(1, false), "isOldest": false, "evidence": evidence,
            });
            serde_json::from_value::<MemoryBlamedLine>(blamed).unwrap()
        };
        let html = crate::render::to_html(origin("scout", &[line(&[1, 2]), line(&[2])], true));
        assert_eq!((html.matches(">session 1 ").count(), html.matches(">session 2 ").count()), (1, 2), "{html}");
        assert!(html.contains("What session ") && !html.contains(">0193b0a0"), "{html}");
        let html = crate::render::to_html(origin("scout", &[line(&[1])], true));
        assert!(!html.contains(">session 1 "), "there is one session only: {html}");
        for turns in [1, 2, 7, 40] {
            let html = crate::render::to_html(origin("scout", &[line(&vec![1; turns])], true));
            let (open, _) = html.split_once("<details>").unwrap_or((&html, ""));
            let links = |html: &str| html.matches("class=\"quiet\"").count();
            assert_eq!((links(&html), links(open)), (turns, turns.min(TURNS_OPEN)), "{html}");
        }
    }

    #[test]
    fn a_comparison_names_the_versions_that_were_erased() {
        let sides = |from: bool, to: bool| {
            let diff = serde_json::json!({
                "from": version(2, from), "to": version(3, to), "isErased": true, "added": 0, "removed": 0, "lines": [],
            });
            erased_sides(&serde_json::from_value(diff).unwrap())
        };
        assert_eq!(sides(true, false), "The text of version 2 was erased, so what changed is not known.");
        assert_eq!(sides(true, true), "The texts of versions 2 and 3 were erased, so what changed is not known.");
    }
}
