//! The page /canvases/{id}.

use super::{ADD, block::block_view, hidden::Hidden, state_words};
use crate::{
    document::render,
    form::FormState,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::number::grouped,
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
    session::Status,
};
use leptos::{prelude::*, tachys::html::InertElement};

/// A change that an editor accepts or declines.
#[derive(Debug, Clone)]
pub struct Suggestion {
    /// Id of the patch.
    pub op_id: String,
    /// Its author: `user:…` or `token:…`.
    pub by: String,
    /// When it was made.
    pub at: Timestamp,
    /// Its operations, one on a line.
    pub changes: String,
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
    /// The viewer's role; `None` if the viewer can only read it, or if it has ended.
    pub role: Option<ParticipantRole>,
    /// Suggestions that wait for a decision, oldest first.
    pub suggestions: Vec<Suggestion>,
    /// State of the form that was refused.
    pub form: FormState,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    let title = props.title.clone();
    render(shell, &title, || {
        let Props { id, title, status, version, patches, changed_at, blocks, role, suggestions, form, .. } = props;
        let entity = props.entity_id.map(|id| format!("/entities/{id}"));
        let written = props.write_back_id.map(|id| format!("/sessions/{id}"));
        let changes = matches!(role, Some(ParticipantRole::Edit | ParticipantRole::Suggest));
        let action = format!("/canvases/{id}");
        let decided_at = action.clone();
        let hidden = changes.then(|| Hidden::new(&action, version, &shell.form_key));
        let shown = blocks.iter().enumerate().map(|(at, block)| block_view(at, block, hidden.as_ref(), &form));
        let shown = shown.collect::<Vec<_>>();
        let empty = blocks.is_empty().then(|| view! { <p class="meta">"There is nothing on this canvas yet."</p> });
        let page = view! {
            <PageHead title=title crumbs=vec![("Canvases".to_owned(), "/canvases".to_owned())]>
                <ButtonLink href=format!("{action}/export?format=md")>"Markdown"</ButtonLink>
                <ButtonLink href=format!("{action}/export?format=json")>"JSON"</ButtonLink>
                <ButtonLink href=format!("/sessions/{id}")>"Log"</ButtonLink>
                {entity.map(|href| view! { <ButtonLink href=href>"Entity"</ButtonLink> })}
                {written.map(|href| view! { <ButtonLink href=href>"Written fields"</ButtonLink> })}
            </PageHead>
            <p class="meta">
                {format!("{}, version {version}, {} changes, changed ", state_words(status), grouped(patches))}
                {moment(changed_at)}
            </p>
            {empty}
            {shown}
            {hidden.as_ref().map(|hidden| add_form(hidden, role, &form))}
            {suggestions_view(&suggestions, &decided_at, role)}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

/// Adds a block at the end, or completes the canvas.
fn add_form(hidden: &Hidden, role: Option<ParticipantRole>, form: &FormState) -> InertElement {
    let form = form.of(ADD);
    let kinds = [("text", "Text"), ("heading", "Heading"), ("code", "Code")];
    let kinds = kinds.map(|(value, label)| (value.to_owned(), label.to_owned())).to_vec();
    let (kind, text) = (Field::new("kind", "Kind"), Field::new("text", "Text").required());
    let select = view! { <Select scope=ADD field=kind form=&form options=kinds/> };
    let area = view! { <TextArea scope=ADD field=text form=&form rows=4/> };
    let add = view! {
        <form method="post" action=hidden.action.clone()>
            <Refused messages=form.general(&["kind", "text"])/>
            {hidden.fields(ADD)}
            {select}
            {area}
            <p class="form-actions"><Button name="do" value="add" look=Look::Primary>"Add block"</Button></p>
        </form>
    };
    let end = match role {
        Some(ParticipantRole::Edit) => static_html(view! {
            <form class="form-actions" method="post" action=hidden.action.clone()>
                <Button name="do" value="complete">"Complete canvas"</Button>
                <span class="meta">"No one can change it afterwards."</span>
            </form>
        }),
        _ => static_html(
            view! { <p class="meta">"Your changes are suggestions. An editor accepts or declines them."</p> },
        ),
    };
    static_html(view! { <Section name="add" title="Add a block">{static_html(add)}{end}</Section> })
}

/// The suggestions that wait, with a decision where the viewer may take it.
fn suggestions_view(suggestions: &[Suggestion], action: &str, role: Option<ParticipantRole>) -> Option<InertElement> {
    if suggestions.is_empty() {
        return None;
    }
    let items = suggestions
        .iter()
        .map(|one| {
            let about = one.op_id.clone();
            let decision = (role == Some(ParticipantRole::Edit)).then(|| {
                view! {
                    <form class="form-actions" method="post" action=action.to_owned()>
                        <input type="hidden" name="suggestion" value=one.op_id.clone()/>
                        <Button small=true name="do" value="accept" about=about.clone()>"Accept"</Button>
                        <Button small=true name="do" value="decline" about=about>"Decline"</Button>
                    </form>
                }
            });
            view! {
                <li>
                    <span class="meta">{one.by.clone()}" · "{moment(one.at)}</span>
                    <pre class="error-text" dir="auto" tabindex="0">{one.changes.clone()}</pre>
                    {decision}
                </li>
            }
        })
        .collect::<Vec<_>>();
    Some(static_html(view! {
        <Section name="suggestions" title="Suggestions"><ul class="tool-versions">{items}</ul></Section>
    }))
}
