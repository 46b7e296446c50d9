//! The page /canvases/{id}/versions: one version of a canvas among the others, what changed, and who changed it.

use super::block::block_view;
use crate::{
    document::render,
    entity::People,
    form::FormState,
    memory::changed_lines,
    render::static_html,
    session::turn_href,
    shell::{RailEntry, Shell, frame},
    text::number::{grouped, unit},
    ui::{
        button::{Button, ButtonLink, Look},
        notice::Refused,
        page_head::PageHead,
        section::Section,
        table::{Column, Table},
        time::{moment, stamp},
    },
};
use domain::{Timestamp, canvas::outline::Block, id::SessionId};
use leptos::{prelude::*, tachys::html::InertElement};
use std::collections::BTreeMap;
use wire::memory::MemoryDiffLine;

/// A version in the list.
#[derive(Debug, Clone)]
pub struct Version {
    /// Sequence of the event of its patch.
    pub version: u64,
    /// Author of the patch: `user:…`, `token:…` or `agent:…`.
    pub by: String,
    /// When it was accepted (UTC).
    pub at: Timestamp,
    /// Number of values that it wrote.
    pub writes: usize,
}

/// Data of the page.
#[derive(Debug, Clone)]
pub struct VersionsProps {
    /// UUID of the canvas.
    pub id: SessionId,
    /// Title of the canvas.
    pub title: String,
    /// The first version.
    pub first: u64,
    /// The newest version.
    pub head: u64,
    /// The version that is shown.
    pub version: u64,
    /// The version that it is compared with; `None` before the first.
    pub from: Option<u64>,
    /// Both versions as Markdown, line by line.
    pub lines: Vec<MemoryDiffLine>,
    /// The blocks of the version that is shown.
    pub blocks: Vec<Block>,
    /// The patch that changed each block last, by the block's id.
    pub blame: BTreeMap<String, Version>,
    /// Versions around the one that is shown, newest first.
    pub versions: Vec<Version>,
    /// Whether there are later ones than these.
    pub has_newer: bool,
    /// Whether there are earlier ones than these.
    pub has_older: bool,
    /// Names of the authors.
    pub people: People,
    /// Whether the viewer may restore a version.
    pub may_restore: bool,
    /// State of the form that restores one.
    pub form: FormState,
}

impl VersionsProps {
    fn href(&self) -> String {
        format!("/canvases/{}/versions", self.id)
    }

    /// The page of another version.
    fn at(&self, version: u64) -> String {
        format!("{}?at={version}", self.href())
    }

    /// The nearest version before and after the one that is shown.
    fn neighbours(&self) -> (Option<u64>, Option<u64>) {
        let all = self.versions.iter().map(|one| one.version);
        (all.clone().filter(|one| *one < self.version).max(), all.filter(|one| *one > self.version).min())
    }
}

/// Renders the page.
pub fn versions_page(shell: &Shell, props: &VersionsProps) -> String {
    let title = format!("Versions of {}", props.title);
    render(shell, &title, || {
        let canvas = format!("/canvases/{}", props.id);
        let crumbs = vec![("Canvases".to_owned(), "/canvases".to_owned()), (props.title.clone(), canvas)];
        let export = format!("/canvases/{}/export?at={}", props.id, props.version);
        let restore = (props.may_restore && props.version < props.head).then(|| restore_form(shell, props));
        let page = view! {
            <PageHead title=title.clone() crumbs=crumbs>
                <ButtonLink href=format!("{export}&format=md")>"Markdown"</ButtonLink>
                <ButtonLink href=format!("{export}&format=json")>"JSON"</ButtonLink>
            </PageHead>
            {summary(props)}
            {stepper(props)}
            {restore}
            {changes(props)}
            {document(props)}
            {list(props)}
        };
        let page = view! { {page}{scrub_script(&shell.nonce, &shell.scrub_js_href)} };
        frame(shell, RailEntry::Sessions, page)
    })
}

/// Which version is shown, by whom, and when.
fn summary(props: &VersionsProps) -> InertElement {
    let shown = props.versions.iter().find(|one| one.version == props.version);
    let by = shown.map(|one| {
        let who = props.people.word(&one.by);
        view! { ", by "<span dir="auto">{who}</span>", "{moment(one.at)} }
    });
    let of = if props.version == props.head {
        format!("Version {}, the newest", grouped(props.version))
    } else {
        format!("Version {} of {}", grouped(props.version), grouped(props.head))
    };
    static_html(view! { <p class="meta">{of}{by}</p> })
}

/// Steps to other versions: by links, and by a slider in a form.
fn stepper(props: &VersionsProps) -> InertElement {
    let (older, newer) = props.neighbours();
    let link = |version: Option<u64>, label: &'static str| {
        version.map(|version| view! { <ButtonLink small=true href=props.at(version)>{label}</ButtonLink> })
    };
    let first = (props.version > props.first).then_some(props.first);
    let last = (props.version < props.head).then_some(props.head);
    let value = props.version.to_string();
    static_html(view! {
        <nav class="pager" aria-label="Versions">
            {link(first, "First")}
            {link(older, "Older")}
            {link(newer, "Newer")}
            {link(last, "Newest")}
        </nav>
        <form class="canvas-scrub" method="get" action=props.href() data-scrub="">
            <label for="scrub-at">"Version"</label>
            <input
                id="scrub-at"
                name="at"
                type="range"
                min=props.first.to_string()
                max=props.head.to_string()
                step="1"
                value=value
                aria-valuetext=format!("version {}", props.version)
            />
            <Button small=true>"Show"</Button>
        </form>
    })
}

/// The script that shows a version while the slider is moved; `None` if the site was not built.
fn scrub_script(nonce: &str, src: &str) -> Option<InertElement> {
    (!src.is_empty())
        .then(|| static_html(view! { <script type="module" nonce=nonce.to_owned() src=src.to_owned()></script> }))
}

/// Restores the version that is shown.
fn restore_form(shell: &Shell, props: &VersionsProps) -> InertElement {
    static_html(view! {
        <form class="form-actions" method="post" action=props.href()>
            <Refused messages=props.form.general(&[])/>
            <input type="hidden" name="at" value=props.version.to_string()/>
            <input type="hidden" name="base" value=props.head.to_string()/>
            <input type="hidden" name="key" value=shell.form_key.clone()/>
            <Button look=Look::Primary>"Restore this version"</Button>
            <span class="meta">"It becomes the newest version. Later ones are kept."</span>
        </form>
    })
}

/// What differs from the version before, or from another one.
fn changes(props: &VersionsProps) -> InertElement {
    let title = match props.from {
        Some(from) => format!("Changes since version {}", grouped(from)),
        None => "The first version".to_owned(),
    };
    let value = props.from.unwrap_or(props.first).to_string();
    let compare = (props.version > props.first).then(|| {
        view! {
            <form class="canvas-scrub" method="get" action=props.href()>
                <input type="hidden" name="at" value=props.version.to_string()/>
                <label for="compare-from">"Compare with version"</label>
                <input
                    class="input"
                    id="compare-from"
                    name="from"
                    type="number"
                    min=props.first.to_string()
                    max=props.head.to_string()
                    value=value
                />
                <Button small=true>"Compare"</Button>
            </form>
        }
    });
    static_html(view! {
        <Section name="changes" title=title>{static_html(view! { {compare} {changed_lines(&props.lines)} })}</Section>
    })
}

/// The blocks, each with the patch that changed it last.
fn document(props: &VersionsProps) -> InertElement {
    let form = FormState::default();
    let blocks = props.blocks.iter().enumerate().map(|(at, block)| {
        let blame = (!block.id.is_empty()).then(|| blame(props, &block.id));
        static_html(view! { {block_view(at, block, None, &form)} {blame} })
    });
    let blocks = blocks.collect::<Vec<_>>();
    let empty = blocks.is_empty().then(|| view! { <p class="meta">"There was nothing on this canvas."</p> });
    static_html(view! { <Section name="document" title="Document">{empty}{blocks}</Section> })
}

/// Who changed a block last, with a link to the event in the log.
fn blame(props: &VersionsProps, block: &str) -> InertElement {
    let Some(last) = props.blame.get(block) else {
        return static_html(view! { <p class="meta canvas-blame">"Changed long ago"</p> });
    };
    let who = props.people.word(&last.by);
    let log = turn_href(props.id, last.version);
    static_html(view! {
        <p class="meta canvas-blame">
            "Changed by "<span dir="auto">{who}</span>" in "
            <a href=props.at(last.version)>{format!("version {}", grouped(last.version))}</a>", "{moment(last.at)}" · "
            <a href=log>"Log"<span class="hidden-text">" of block "{block.to_owned()}</span></a>
        </p>
    })
}

/// The versions around the one that is shown.
fn list(props: &VersionsProps) -> InertElement {
    let rows = props
        .versions
        .iter()
        .map(|one| {
            let current = (one.version == props.version).then_some("true");
            let label = grouped(one.version);
            let log = turn_href(props.id, one.version);
            view! {
                <tr aria-current=current>
                    <td class="table-main"><a href=props.at(one.version)>"Version "{label.clone()}</a></td>
                    <td dir="auto">{props.people.word(&one.by)}</td>
                    <td class="meta table-number">{grouped(one.writes as u64)}<span class="unit">{unit(one.writes as u64, "value")}</span></td>
                    <td class="meta">{stamp(one.at)}</td>
                    <td><a class="quiet" href=log>"Log"<span class="hidden-text">" of version "{label}</span></a></td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let columns = vec![
        Column::text("Version"),
        Column::text("By"),
        Column::number("Values"),
        Column::text("Accepted"),
        Column::hidden("Log"),
    ];
    let newer = props.versions.first().filter(|_| props.has_newer).map(|one| props.at(one.version));
    let older = props.versions.last().filter(|_| props.has_older).map(|one| props.at(one.version));
    static_html(view! {
        <Section name="versions" title="Around this version">
            <Table caption="Versions, newest first" columns=columns>{rows}</Table>
            <nav class="pager" aria-label="More versions">
                {newer.map(|href| view! { <ButtonLink small=true href=href>"Later versions"</ButtonLink> })}
                {older.map(|href| view! { <ButtonLink small=true href=href>"Earlier versions"</ButtonLink> })}
            </nav>
        </Section>
    })
}
