//! The page /canvases/{id}.

use super::{ADD, COMPLETE, CanvasEditor, TEMPLATE, block::block_view, hidden::Hidden, state_words, suggestion_form};
use crate::{
    document::render,
    form::FormState,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::number::counted,
    ui::{
        button::{Button, ButtonLink, Look},
        field::{Field, Select, TextArea},
        notice::Refused,
        page_head::PageHead,
        section::Section,
        time::moment,
    },
};
use domain::{
    Timestamp,
    canvas::{ParticipantRole, outline::Block},
    id::{EntityId, SessionId},
    limit::REASON_CHARS_MAX,
    session::Status,
};
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::json;
use std::collections::BTreeMap;

/// A change that an editor accepts or declines.
#[derive(Debug, Clone)]
pub struct Suggestion {
    /// Id of the patch.
    pub op_id: String,
    /// Name of its author.
    pub by: String,
    /// When it was made.
    pub at: Timestamp,
    /// Its operations in words.
    pub changes: Vec<String>,
    /// Digest of what it would change now; empty for viewers who cannot decide about it.
    pub digest: String,
}

/// A suggestion of the viewer that an editor declined.
#[derive(Debug, Clone)]
pub struct Declined {
    /// Name of the editor.
    pub by: String,
    /// When it was declined.
    pub at: Timestamp,
    /// What the editor wrote to its author; empty if they wrote nothing.
    pub reason: String,
    /// Its operations in words.
    pub changes: Vec<String>,
}

/// Data of the page.
#[derive(Debug, Clone)]
pub struct Props {
    /// UUID of the canvas.
    pub id: SessionId,
    /// Title of the canvas.
    pub title: String,
    /// Status of its session.
    pub status: Status,
    /// The version that the page shows.
    pub version: u64,
    /// Number of changes.
    pub patches: u64,
    /// Time of the newest change.
    pub changed_at: Timestamp,
    /// Its blocks in their order.
    pub blocks: Vec<Block>,
    /// The entity with which it began.
    pub entity_id: Option<EntityId>,
    /// Session of the task that wrote it to that entity last, or waits for approval to do so.
    pub write_back_id: Option<SessionId>,
    /// Tasks that can write it to its entity, with their names; empty if it has none, or if the viewer may not.
    pub tasks: Vec<(String, String)>,
    /// The viewer's role; `None` if the viewer can only read it, or if it has ended.
    pub role: Option<ParticipantRole>,
    /// Suggestions that wait for a decision, oldest first.
    pub suggestions: Vec<Suggestion>,
    /// Suggestions of the viewer that were declined, the newest decision first.
    pub declined: Vec<Declined>,
    /// Names of those who take part, by their actors (`user:…`, `token:…`). The editor shows them.
    pub names: BTreeMap<String, String>,
    /// Whether it is a template of the workspace.
    pub is_template: bool,
    /// Whether the viewer may make it a template, or no template.
    pub may_mark: bool,
    /// State of the form that was refused.
    pub form: FormState,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    let title = props.title.clone();
    render(shell, &title, || {
        let Props { id, title, status, version, patches, changed_at, blocks, tasks, role, suggestions, form, .. } =
            props;
        let entity = props.entity_id.map(|id| format!("/entities/{id}"));
        let written = props.write_back_id.map(|id| format!("/sessions/{id}"));
        let changes = matches!(role, Some(ParticipantRole::Edit | ParticipantRole::Suggest));
        let action = format!("/canvases/{id}");
        let hidden = changes.then(|| Hidden::new(&action, version, &shell.form_key));
        let shown = blocks.iter().enumerate().map(|(at, block)| block_view(at, block, hidden.as_ref(), &form));
        let shown = shown.collect::<Vec<_>>();
        let of_workspace = if props.is_template { ", template" } else { "" };
        let state = format!(
            "{}{of_workspace}, version {version}, {}, changed ",
            state_words(status),
            counted(patches, "change")
        );
        let add = hidden.as_ref().map(|hidden| add_form(hidden, role, &form));
        let end = hidden.as_ref().filter(|_| role == Some(ParticipantRole::Edit));
        let end = end.map(|hidden| end_form(hidden, &tasks, &form));
        let suggestions = suggestions_view(&suggestions, &action, (role, &form));
        let template = props.may_mark.then(|| template_form(&action, props.is_template, &form));
        // The reason of a refusal is in one of the forms, which the editor would hide.
        let edited = (!form.is_refused()).then(|| id.to_string());
        let names = json!(props.names).to_string();
        let empty = blocks.is_empty().then(|| view! { <p class="meta">"This canvas is empty."</p> });
        let page = view! {
            <PageHead title=title crumbs=vec![("Canvases".to_owned(), "/canvases".to_owned())]>
                <ButtonLink small=true href=format!("{action}/export?format=md")>"Markdown"</ButtonLink>
                <ButtonLink small=true href=format!("{action}/export?format=json")>"JSON"</ButtonLink>
                <ButtonLink small=true href=format!("{action}/versions")>"Versions"</ButtonLink>
                <ButtonLink small=true href=format!("{action}/participants")>"Participants"</ButtonLink>
                <ButtonLink small=true href=format!("/sessions/{id}")>"Log"</ButtonLink>
                {entity.map(|href| view! { <ButtonLink small=true href=href>"Entity"</ButtonLink> })}
                {written.map(|href| view! { <ButtonLink small=true href=href>"Written fields"</ButtonLink> })}
            </PageHead>
            <div class="canvas-body">
                <CanvasEditor>
                    <div class="canvas-plain" data-canvas=edited data-names=names>
                        <p class="meta">{state}{moment(changed_at)}</p>
                        {empty}
                        {shown}
                        <div class="canvas-forms">{add}{suggestions}</div>
                    </div>
                </CanvasEditor>
                <aside class="sidebar canvas-forms" aria-label="About this canvas">
                    {declined_view(&props.declined)}
                    {template}
                    {end}
                </aside>
            </div>
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

/// Adds a block at the end.
fn add_form(hidden: &Hidden, role: Option<ParticipantRole>, form: &FormState) -> InertElement {
    let form = form.of(ADD);
    let kinds = [("text", "Text"), ("heading", "Heading"), ("code", "Code")];
    let kinds = kinds.map(|(value, label)| (value.to_owned(), label.to_owned())).to_vec();
    let (kind, text) = (Field::new("kind", "Kind"), Field::new("text", "Text").required());
    let select = view! { <Select scope=ADD field=kind form=&form options=kinds/> };
    let area = view! { <TextArea scope=ADD field=text form=&form rows=4/> };
    let add = view! {
        <form class="form" method="post" action=hidden.action.clone()>
            <Refused messages=form.general(&["kind", "text"])/>
            {hidden.fields(ADD)}
            {select}
            {area}
            <p class="form-actions"><Button name="do" value="add" look=Look::Primary>"Add block"</Button></p>
        </form>
    };
    let waits = (role == Some(ParticipantRole::Suggest)).then(|| {
        view! { <p class="meta">"Your changes are suggestions. An editor accepts or declines them."</p> }
    });
    static_html(view! { <Section name="add" title="Add a block">{static_html(add)}{waits}</Section> })
}

/// Completes the canvas. One that began with an entity can be written to it by a task.
fn end_form(hidden: &Hidden, tasks: &[(String, String)], form: &FormState) -> InertElement {
    let form = form.of(COMPLETE);
    let task = (!tasks.is_empty()).then(|| {
        let mut options = vec![(String::new(), "Do not write it".to_owned())];
        options.extend(tasks.iter().cloned());
        let hint = "The task writes the fields that were changed here. Where it requires approval, they wait for it.";
        let field = Field::new("actionId", "Task that writes it to its entity").hint(hint);
        static_html(view! { <Select scope=COMPLETE field=field form=&form options=options/> })
    });
    static_html(view! {
        <form class="form" method="post" action=hidden.action.clone()>
            <Refused messages=form.general(&["actionId"])/>
            {task}
            <p class="form-actions">
                <Button name="do" value="complete">"Complete canvas"</Button>
                <span class="meta">"No one can change it afterwards."</span>
            </p>
        </form>
    })
}

/// Makes the canvas a template, or no template.
fn template_form(action: &str, is_template: bool, form: &FormState) -> InertElement {
    let form = form.of(TEMPLATE);
    let (step, label, effect) = if is_template {
        ("no-template", "Remove from templates", "New canvases can begin with this one.")
    } else {
        ("template", "Make it a template", "New canvases can then begin with its newest version.")
    };
    static_html(view! {
        <form class="form" method="post" action=action.to_owned()>
            <Refused messages=form.general(&[])/>
            <p class="form-actions">
                <Button name="do" value=step>{label}</Button>
                <span class="meta">{effect}</span>
            </p>
        </form>
    })
}

/// The viewer's suggestions that were declined, and why.
fn declined_view(declined: &[Declined]) -> Option<InertElement> {
    if declined.is_empty() {
        return None;
    }
    let items = declined
        .iter()
        .map(|one| {
            let reason = (!one.reason.is_empty()).then(|| view! { <p dir="auto">{one.reason.clone()}</p> });
            view! {
                <li>
                    <p class="meta">"Declined by "<span dir="auto">{one.by.clone()}</span>" · "{moment(one.at)}</p>
                    {reason}
                    {changes_view(&one.changes)}
                </li>
            }
        })
        .collect::<Vec<_>>();
    Some(static_html(view! {
        <Section name="declined" title="Your declined suggestions"><ul class="tool-versions">{items}</ul></Section>
    }))
}

/// The operations of a suggestion in words, one below the other.
fn changes_view(changes: &[String]) -> impl IntoView + use<> {
    changes.iter().map(|words| view! { <p class="tool-about" dir="auto">{words.clone()}</p> }).collect::<Vec<_>>()
}

/// The suggestions that wait, with a decision where the viewer may take it.
fn suggestions_view(
    suggestions: &[Suggestion],
    action: &str,
    (role, form): (Option<ParticipantRole>, &FormState),
) -> Option<InertElement> {
    if suggestions.is_empty() {
        return None;
    }
    let items = suggestions
        .iter()
        .enumerate()
        .map(|(at, one)| {
            let form = form.of(&suggestion_form(&one.op_id));
            let decision = (role == Some(ParticipantRole::Edit)).then(|| decision_forms(at, one, (action, &form)));
            view! {
                <li class="patch">
                    <p class="meta"><span dir="auto">{one.by.clone()}</span>" · "{moment(one.at)}</p>
                    {changes_view(&one.changes)}
                    {decision}
                </li>
            }
        })
        .collect::<Vec<_>>();
    Some(static_html(view! {
        <Section name="suggestions" title="Suggestions"><ul class="tool-versions">{items}</ul></Section>
    }))
}

/// Accepts or declines a suggestion. Enter in the reason declines: it is sent with nothing else.
fn decision_forms(at: usize, one: &Suggestion, (action, form): (&str, &FormState)) -> InertElement {
    let (about, reason) = (one.op_id.clone(), format!("suggestion-reason-{at}"));
    static_html(view! {
        <Refused messages=form.general(&[])/>
        <div class="patch-decision">
            <form class="form-actions" method="post" action=action.to_owned()>
                <input type="hidden" name="suggestion" value=one.op_id.clone()/>
                <input type="hidden" name="digest" value=one.digest.clone()/>
                <Button small=true name="do" value="accept" about=about.clone()>"Accept"</Button>
            </form>
            <form class="form-actions canvas-decision" method="post" action=action.to_owned()>
                <input type="hidden" name="suggestion" value=one.op_id.clone()/>
                <label class="hidden-text" for=reason.clone()>"Reason for the author"</label>
                <input
                    class="input"
                    id=reason
                    name="reason"
                    placeholder="Reason for the author"
                    maxlength=REASON_CHARS_MAX.to_string()
                    value=form.value_or("reason", "")
                />
                <Button small=true name="do" value="decline" about=about>"Decline"</Button>
            </form>
        </div>
    })
}
