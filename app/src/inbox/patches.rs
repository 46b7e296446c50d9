//! The page /inbox/patches: suggestions for canvases that the viewer may accept or decline, and decisions to undo.

use super::page::{Here, tabs};
use crate::{
    document::render,
    entity::People,
    form::FormState,
    memory::changed_lines,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::number::grouped,
    ui::{
        button::{Button, ButtonLink, Look},
        notice::Refused,
        page_head::PageHead,
        section::Section,
        time::moment,
    },
};
use domain::{Timestamp, id::SessionId, limit::REASON_CHARS_MAX};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::memory::MemoryDiffLine;

/// What the names of the check boxes begin with. The value of one is [`PatchItem::key`].
pub const PATCH: &str = "patch[";
/// Name and id of the form that decides what is selected.
pub const PATCH_BATCH: &str = "patches";

/// Name of the form of one suggestion.
pub fn patch_form(canvas: &str, op_id: &str) -> String {
    format!("{canvas} {op_id}")
}

/// A suggestion.
#[derive(Debug, Clone)]
pub struct PatchItem {
    /// UUID of the canvas.
    pub canvas: SessionId,
    /// Title of the canvas.
    pub title: String,
    /// Id that its author gave it.
    pub op_id: String,
    /// Its author: `user:…`, `token:…` or `agent:…`.
    pub by: String,
    /// When it was made (UTC).
    pub at: Timestamp,
    /// Digest of what the page shows of it.
    pub digest: String,
    /// The canvas before and after it as Markdown, line by line; empty if it cannot be accepted.
    pub lines: Vec<MemoryDiffLine>,
    /// Why it cannot be accepted now.
    pub refused: Option<&'static str>,
}

impl PatchItem {
    /// Canvas, digest and id in one text, for forms with several suggestions.
    pub fn key(&self) -> String {
        [&*self.canvas.to_string(), &self.digest, &self.op_id].join(" ")
    }

    fn form(&self) -> String {
        patch_form(&self.canvas.to_string(), &self.op_id)
    }
}

/// A suggestion that the viewer decided a short time ago.
#[derive(Debug, Clone)]
pub struct DecidedPatch {
    /// UUID of the canvas.
    pub canvas: SessionId,
    /// Title of the canvas.
    pub title: String,
    /// Id that its author gave it.
    pub op_id: String,
    /// Its author: `user:…`, `token:…` or `agent:…`.
    pub by: String,
    /// When it was decided (UTC).
    pub at: Timestamp,
    /// Whether it was accepted; otherwise it was declined.
    pub is_accepted: bool,
}

/// A suggestion among several that was not decided.
#[derive(Debug, Clone)]
pub struct PatchRefusal {
    /// See [`patch_form`].
    pub form: String,
    /// Id that its author gave it.
    pub op_id: String,
    /// Reason of the refusal, for the viewer.
    pub message: String,
}

/// Data of the page.
#[derive(Debug, Clone, Default)]
pub struct PatchesProps {
    /// The oldest suggestions that wait.
    pub items: Vec<PatchItem>,
    /// Number of all that wait.
    pub count: u64,
    /// Those that the viewer decided a short time ago, the newest decision first.
    pub decided: Vec<DecidedPatch>,
    /// Names of the authors.
    pub people: People,
    /// State of the form that was refused: that of one suggestion ([`patch_form`]), or [`PATCH_BATCH`].
    pub form: FormState,
    /// Those of the selected ones that were not decided.
    pub refusals: Vec<PatchRefusal>,
}

impl PatchesProps {
    /// What is to be said on top: the refusal of a form that the page no longer has, and of several suggestions the
    /// number of those that were decided, with those that the list no longer has.
    fn messages(&self) -> Vec<String> {
        let is_listed = |form: &str| self.items.iter().any(|one| one.form() == form);
        if is_listed(&self.form.form) {
            return Vec::new();
        }
        let gone = self.refusals.iter().filter(|refusal| !is_listed(&refusal.form));
        let gone = gone.map(|refusal| format!("{}: {}", refusal.op_id, refusal.message));
        self.form.general(&[]).into_iter().chain(gone).collect()
    }
}

/// Renders the page.
pub fn patches_page(shell: &Shell, props: &PatchesProps) -> String {
    render(shell, "Suggested changes", || {
        let items = props.items.iter().enumerate().map(|(at, one)| item(props, at, one)).collect::<Vec<_>>();
        let empty = items.is_empty().then(|| {
            view! { <p class="meta">"No change of a canvas waits for you. Suggestions of people and agents appear here."</p> }
        });
        let shown = props.items.len() as u64;
        let more = (props.count > shown).then(|| {
            let words = format!("The {} oldest of {} are shown.", grouped(shown), grouped(props.count));
            view! { <p class="meta">{words}</p> }
        });
        // One that was refused among several keeps the reason that was typed for all.
        let has_batch = shown > 1 || (shown == 1 && props.form.form == PATCH_BATCH);
        let tabs = static_html(tabs(Here::Patches, props.count));
        // The inbox does without these styles. Comparisons of canvases need them.
        let styles = shell.pages_css_href.clone();
        let styles = (!styles.is_empty()).then(|| view! { <link rel="stylesheet" href=styles/> });
        let page = view! {
            {styles}
            <PageHead title="Inbox">{tabs}<ButtonLink href="/rules" look=Look::Quiet small=true>"Rules"</ButtonLink></PageHead>
            <div class="patches" data-keys="inbox">
                <Refused messages=props.messages()/>
                {empty}
                {more}
                {items}
                {has_batch.then(|| batch(&props.form.of(PATCH_BATCH)))}
                {decided(props)}
            </div>
        };
        frame(shell, RailEntry::Inbox, page)
    })
}

/// One suggestion: by whom, what it changes, and the decision.
fn item(props: &PatchesProps, at: usize, one: &PatchItem) -> InertElement {
    let heading = format!("patch-{at}");
    let who = props.people.word(&one.by);
    let about = format!("{} by {who}", one.title);
    let select = format!("Select {about}");
    let labelled_by = heading.clone();
    let name = one.form();
    let refusal = props.refusals.iter().find(|refusal| refusal.form == name);
    let mut messages = props.form.of(&name).general(&[]);
    messages.extend(refusal.map(|refusal| refusal.message.clone()));
    let change = match one.refused {
        None => static_html(changed_lines(&one.lines)),
        Some(why) => static_html(view! { <p>"It cannot be accepted: "{why}</p> }),
    };
    static_html(view! {
        <section class="section patch" data-row aria-labelledby=labelled_by>
            <h2 id=heading>
                <input
                    type="checkbox" form=PATCH_BATCH name=format!("{PATCH}{at:02}]") value=one.key()
                    checked=refusal.is_some() aria-label=select data-key="select" title="Select (x)"
                />
                " "<a class="row-title" href=format!("/canvases/{}", one.canvas) dir="auto">{one.title.clone()}</a>
            </h2>
            <p class="meta">"Suggested by "<span dir="auto">{who}</span>", "{moment(one.at)}</p>
            {change}
            <Refused messages=messages/>
            {decision(props, at, one, &about)}
        </section>
    })
}

/// Accepts or declines one suggestion. Enter in the reason declines: it is sent with nothing else.
fn decision(props: &PatchesProps, at: usize, one: &PatchItem, about: &str) -> InertElement {
    let form = props.form.of(&one.form());
    let reason = format!("reason-{at}");
    let accept = one.refused.is_none().then(|| {
        view! {
            <form class="form-actions" method="post" action="/inbox/patches">
                {fields(&one.canvas, &one.op_id)}
                <input type="hidden" name="digest" value=one.digest.clone()/>
                <Button
                    name="decision" value="accept" look=Look::Primary about=about.to_owned() attr:data-key="approve"
                    title="Accept (a)"
                >
                    "Accept"
                </Button>
            </form>
        }
    });
    static_html(view! {
        <div class="patch-decision">
            {accept}
            <form class="form-actions canvas-decision" method="post" action="/inbox/patches" data-decides>
                {fields(&one.canvas, &one.op_id)}
                <label class="hidden-text" for=reason.clone() data-key="deny">"Reason for the author"</label>
                <input
                    class="input"
                    id=reason
                    name="reason"
                    placeholder="Reason for the author"
                    title="Decline, with a reason (r, then Enter)"
                    maxlength=REASON_CHARS_MAX.to_string()
                    value=form.value_or("reason", "")
                />
                <Button name="decision" value="decline" about=about.to_owned()>"Decline"</Button>
            </form>
        </div>
    })
}

/// The suggestion that a form is about.
fn fields(canvas: &SessionId, op_id: &str) -> InertElement {
    static_html(view! {
        <input type="hidden" name="canvas" value=canvas.to_string()/>
        <input type="hidden" name="suggestion" value=op_id.to_owned()/>
    })
}

/// Decides all that are selected. Enter in the reason declines.
fn batch(form: &FormState) -> InertElement {
    static_html(view! {
        <form class="form-actions canvas-decision" id=PATCH_BATCH method="post" action="/inbox/patches" data-decides>
            <label class="hidden-text" for="reason-selected">"Reason for the authors"</label>
            <input
                class="input"
                id="reason-selected"
                name="reason"
                placeholder="Reason for the authors"
                maxlength=REASON_CHARS_MAX.to_string()
                value=form.value_or("reason", "")
            />
            <Button name="decision" value="decline-selected">"Decline selected"</Button>
            <Button name="decision" value="accept-selected">"Accept selected"</Button>
        </form>
    })
}

/// What the viewer decided, with a button that undoes each.
fn decided(props: &PatchesProps) -> Option<InertElement> {
    if props.decided.is_empty() {
        return None;
    }
    let rows = props.decided.iter().map(|one| {
        let who = props.people.word(&one.by);
        let about = format!("{} by {who}", one.title);
        let what = if one.is_accepted { ", accepted " } else { ", declined " };
        view! {
            <li>
                <form class="form-actions" method="post" action="/inbox/patches">
                    {fields(&one.canvas, &one.op_id)}
                    <a href=format!("/canvases/{}", one.canvas) dir="auto">{one.title.clone()}</a>
                    <span class="meta">"by "<span dir="auto">{who}</span>{what}{moment(one.at)}</span>
                    <Button
                        small=true look=Look::Quiet name="decision" value="undo" about=about attr:data-key="undo"
                        title="Undo (z undoes the newest)"
                    >
                        "Undo"
                    </Button>
                </form>
            </li>
        }
    });
    let rows = rows.collect::<Vec<_>>();
    let how = "A declined suggestion waits again. Of an accepted one the earlier values are written, unless someone has \
               changed them since.";
    Some(static_html(view! {
        <Section name="decided" title="Decided by you in the last hour">
            <p class="meta">{how}</p>
            <ul class="tool-versions">{rows}</ul>
        </Section>
    }))
}
