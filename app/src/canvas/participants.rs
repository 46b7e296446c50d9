//! The page /canvases/{id}/participants: who edits a canvas, suggests changes or takes part without changing it.

use crate::{
    document::render,
    entity::People,
    form::FormState,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    ui::{
        button::{Button, Look},
        field::{Field, Input, Select},
        notice::Refused,
        page_head::PageHead,
        section::Section,
        table::{Column, Table},
        time::stamp,
    },
};
use domain::{Timestamp, canvas::ParticipantRole, id::SessionId};
use leptos::{prelude::*, tachys::html::InertElement};

/// Name of the form that adds a participant.
pub const ADD_PARTICIPANT: &str = "participant";

/// Someone who takes part.
#[derive(Debug, Clone)]
pub struct Participant {
    /// `user:…`, `token:…` or `agent:…`.
    pub participant: String,
    /// Their role.
    pub role: ParticipantRole,
    /// Who added them.
    pub added_by: String,
    /// When they were added (UTC).
    pub added_at: Timestamp,
}

/// Data of the page.
#[derive(Debug, Clone)]
pub struct ParticipantsProps {
    /// UUID of the canvas.
    pub id: SessionId,
    /// Title of the canvas.
    pub title: String,
    /// Its creator, who edits it too: `user:…` or `token:…`.
    pub created_by: String,
    /// Those who were added.
    pub participants: Vec<Participant>,
    /// Members and tokens who can be added, `(participant, name)`.
    pub choices: Vec<(String, String)>,
    /// Names of people and tokens.
    pub people: People,
    /// Whether the viewer may change who takes part.
    pub may_manage: bool,
    /// State of the form that was refused.
    pub form: FormState,
}

/// What a role is called, and what it may do.
const fn role_words(role: ParticipantRole) -> &'static str {
    match role {
        ParticipantRole::Edit => "edits",
        ParticipantRole::Suggest => "suggests changes",
        ParticipantRole::View => "takes part without changing it",
    }
}

fn roles() -> Vec<(String, String)> {
    ParticipantRole::ALL.map(|role| (role.as_str().to_owned(), role_words(role).to_owned())).to_vec()
}

/// Renders the page.
pub fn participants_page(shell: &Shell, props: &ParticipantsProps) -> String {
    let title = format!("Participants of {}", props.title);
    render(shell, &title, || {
        let canvas = format!("/canvases/{}", props.id);
        let crumbs = vec![("Canvases".to_owned(), "/canvases".to_owned()), (props.title.clone(), canvas)];
        let creator = props.people.word(&props.created_by);
        let page = view! {
            <PageHead title=title.clone() crumbs=crumbs/>
            <p class="meta">
                "Created by "<span dir="auto">{creator}</span>", who edits it. Everyone in the workspace can read it."
            </p>
            {list(props)}
            {props.may_manage.then(|| add_form(props))}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

fn list(props: &ParticipantsProps) -> InertElement {
    if props.participants.is_empty() {
        return static_html(view! { <p class="meta">"No one else takes part yet."</p> });
    }
    let rows = props.participants.iter().map(|one| row(props, one)).collect::<Vec<_>>();
    let columns =
        vec![Column::text("Participant"), Column::text("Role"), Column::text("Added"), Column::hidden("Remove")];
    static_html(view! { <Table caption="Participants" columns=columns focusable=true>{rows}</Table> })
}

fn row(props: &ParticipantsProps, one: &Participant) -> InertElement {
    let name = props.people.word(&one.participant);
    let (action, about) = (format!("/canvases/{}/participants", props.id), name.clone());
    let role = if props.may_manage {
        let options = ParticipantRole::ALL.map(|role| {
            view! { <option value=role.as_str() selected={role == one.role}>{role_words(role)}</option> }
        });
        let options = options.into_iter().collect::<Vec<_>>();
        static_html(view! {
            <form class="canvas-role" method="post" action=action.clone()>
                <input type="hidden" name="participant" value=one.participant.clone()/>
                <select class="input" name="role" aria-label=format!("Role of {name}")>{options}</select>
                <Button small=true name="do" value="put" about=about.clone()>"Save"</Button>
            </form>
        })
    } else {
        static_html(view! { <span>{role_words(one.role)}</span> })
    };
    let remove = props.may_manage.then(|| {
        static_html(view! {
            <form method="post" action=action.clone()>
                <input type="hidden" name="participant" value=one.participant.clone()/>
                <Button small=true look=Look::Quiet name="do" value="remove" about=about.clone()>"Remove"</Button>
            </form>
        })
    });
    let by = props.people.word(&one.added_by);
    static_html(view! {
        <tr>
            <td class="table-main" dir="auto">{name}</td>
            <td>{role}</td>
            <td class="meta">{stamp(one.added_at)}" by "<span dir="auto">{by}</span></td>
            <td>{remove}</td>
        </tr>
    })
}

/// Adds a member or token of the workspace, or an agent by its slug.
fn add_form(props: &ParticipantsProps) -> InertElement {
    let form = props.form.of(ADD_PARTICIPANT);
    let action = format!("/canvases/{}/participants", props.id);
    let mut choices = vec![(String::new(), "Choose".to_owned())];
    choices.extend(props.choices.iter().cloned());
    let (who, agent) = (Field::new("participant", "Person or token"), Field::new("agent", "Or an agent, by its slug"));
    let role = Field::new("role", "Role");
    let chosen = view! { <Select scope=ADD_PARTICIPANT field=who form=&form options=choices/> };
    let named = view! { <Input scope=ADD_PARTICIPANT field=agent form=&form/> };
    let roles = view! { <Select scope=ADD_PARTICIPANT field=role form=&form options=roles()/> };
    let fields = static_html(view! {
        <form class="form" method="post" action=action>
            <Refused messages=form.general(&["participant", "agent", "role"])/>
            {chosen}
            {named}
            {roles}
            <p class="form-actions"><Button name="do" value="put" look=Look::Primary>"Add"</Button></p>
        </form>
    });
    static_html(view! { <Section name="add" title="Add a participant">{fields}</Section> })
}
