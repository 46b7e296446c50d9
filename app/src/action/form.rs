//! The form that creates or changes a task.
//!
//! Fields: `updatedAt` (of an existing task: microseconds since the Unix epoch, by which a save of an older page is
//! refused), `key` (of a new task: a form that is sent twice creates one task), `name`, `slug`, `description`,
//! `agentSlug`, `assignedTo`, `targetEntityId`, `outputType`, `outputConfig`, `metadata`, `status`, and those of the
//! approval settings. An empty field means no value. `outputConfig` and `metadata` are JSON objects.

use super::approval_form::{self, METADATA_KEYS, ReviewOptions, approval_fields, rest};
use crate::{
    FormState,
    entity::Choices,
    render::static_html,
    text::json::indented,
    ui::{
        button::{Button, Look},
        field::{Field, Input, Select, TextArea},
        notice::Refused,
        popover::Sheet,
    },
};
use domain::{
    action::{ActionStatus, OutputType},
    clock::to_micros,
    output::CRITERIA_SETS,
};
use leptos::prelude::*;
use wire::{access::Member, action::Action};

const SHOWN: [&str; 10] = [
    "name",
    "slug",
    "description",
    "agentSlug",
    "assignedTo",
    "targetEntityId",
    "outputType",
    "outputConfig",
    "metadata",
    "status",
];

const fn output_word(output: OutputType) -> &'static str {
    match output {
        OutputType::Text => "Text",
        OutputType::Fields => "Fields",
        OutputType::Entity => "One entity",
        OutputType::Entities => "Several entities",
        OutputType::RelationEntity => "An entity and a relation",
    }
}

/// The entities that a task can be about, and the agents that it can name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Targets {
    /// The options, including the task's own entity.
    pub choices: Choices,
    /// Id of the entity that is selected for a new task (`?target=`).
    pub start: String,
    /// Names of agents that have sessions or workers. A task can name others too.
    pub agents: Vec<String>,
}

/// The people to whom a task can be assigned: id and e-mail address. `assigned` is the present id, which may be that
/// of a former member.
fn assignees(members: &[Member], assigned: &str) -> Vec<(String, String)> {
    let mut people = vec![(String::new(), "No one".to_owned())];
    people.extend(members.iter().map(|m| (m.id.to_string(), m.email.clone())));
    if !assigned.is_empty() && !people.iter().any(|(id, _)| *id == assigned) {
        people.push((assigned.to_owned(), "A former member".to_owned()));
    }
    people
}

/// The form; without an action it creates one. `viewer_id` and `key` are of a new task alone: whom it is assigned to,
/// and its idempotency key.
pub fn action_form(
    action: Option<&Action>,
    members: &[Member],
    (viewer_id, key): (&str, &str),
    targets: &Targets,
    reviewing: &ReviewOptions,
    form: &FormState,
) -> impl IntoView + use<> {
    let scope = if action.is_some() { "edit" } else { "create" };
    let target = action.map_or_else(|| "/actions".to_owned(), |a| format!("/actions/{}", a.id));
    let text = |get: fn(&Action) -> &str| action.map(get).unwrap_or_default().to_owned();
    let json = |raw: Option<&wire::Json>, keys: &[&str]| {
        let rest = raw.map(|raw| rest(raw.get(), keys)).filter(|rest| rest != "{}");
        rest.map(|rest| indented(&rest, usize::MAX).0).unwrap_or_default()
    };
    let output_config = json(action.map(|a| &a.output_config), &CRITERIA_SETS);
    let metadata = json(action.map(|a| &a.metadata), &METADATA_KEYS);
    let known: Vec<&str> = SHOWN.into_iter().chain(approval_form::SHOWN).collect();
    // A new task is assigned to its creator by default, so that its results appear on their Today page.
    let assigned =
        action.map_or_else(|| viewer_id.to_owned(), |a| a.assigned_to.map(|id| id.to_string()).unwrap_or_default());
    let people = assignees(members, &assigned);
    let target_start = action
        .map_or_else(|| targets.start.clone(), |a| a.target_entity_id.map(|id| id.to_string()).unwrap_or_default());
    let target_field = Field::new("targetEntityId", "About")
        .hint("The entity that the task works on. Its sessions are shown on that entity's page.");
    let outputs = OutputType::ALL.into_iter().map(|o| (o.as_str().to_owned(), output_word(o).to_owned())).collect();
    let status = action.map(|a| {
        let options = vec![("active".to_owned(), "Active".to_owned()), ("archived".to_owned(), "Archived".to_owned())];
        let field = Field::new("status", "Status").hint("An archived task keeps its history and cannot be run.");
        static_html(view! { <Select scope=scope field=field options=options value=a.status.as_str() form=form/> })
    });
    let is_archived = action.is_some_and(|a| a.status == ActionStatus::Archived);
    let output = action.map_or(OutputType::Text, |a| a.output_type).as_str();
    let has_more = !output_config.is_empty()
        || !metadata.is_empty()
        || is_archived
        || ["slug", "outputConfig", "metadata", "status"]
            .iter()
            .any(|f| form.error(f).is_some() || form.value(f).is_some_and(|v| !v.is_empty()));
    let (save, look) = if action.is_some() { ("Save changes", Look::Plain) } else { ("Create task", Look::Primary) };
    view! {
        <form class="form" method="post" action=target>
            <Refused messages=form.general(&known)/>
            {action.map(|a| view! { <input type="hidden" name="updatedAt" value=to_micros(a.updated_at).to_string()/> })}
            {action.is_none().then(|| view! { <input type="hidden" name="key" value=key.to_owned()/> })}
            <Input scope=scope field=Field::new("name", "Name").required() value=text(|a| &a.name) form=form/>
            <TextArea scope=scope field=Field::new("description", "Instructions").hint("The agent receives this text. Markdown is allowed.") value=text(|a| &a.description) form=form/>
            <div class="form-row">
                <Input scope=scope field=Field::new("agentSlug", "Agent").hint("Name of the agent, as its worker gives it.") suggestions=targets.agents.clone() value=action.and_then(|a| a.agent_slug.as_deref()).unwrap_or_default() form=form/>
                <Select scope=scope field=Field::new("assignedTo", "Assigned to").hint("Approvals and questions of this task go to this person.") options=people value=&assigned form=form/>
            </div>
            {targets.choices.control(scope, target_field, "No entity", &target_start, form)}
            {approval_fields(action, members, reviewing, form)}
            <Sheet summary="More" open=has_more>
                <div class="form">
                    <Input scope=scope field=Field::new("slug", "Slug").hint("Created from the name if left empty.") value=text(|a| &a.slug) form=form/>
                    <Select scope=scope field=Field::new("outputType", "Output") options=outputs value=output form=form/>
                    <TextArea scope=scope field=Field::new("outputConfig", "Output contract").hint("A JSON object: schema (a JSON Schema for results), entityType and relationField (slugs). {\"fields\": [\"stage\"]} says which fields of the entity it writes; their dots follow its sessions.") json=true value=&output_config form=form/>
                    <TextArea scope=scope field=Field::new("metadata", "Metadata").hint("A JSON object.") json=true value=&metadata form=form/>
                    {status}
                </div>
            </Sheet>
            <div class="form-actions">
                <Button look=look>{save}</Button>
            </div>
        </form>
    }
}
