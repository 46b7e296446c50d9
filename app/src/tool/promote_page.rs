//! The page /sessions/{id}/promote. One form asks for the page of a task, with `task` and `entity`. The other posts
//! them, and the JSON Pointer of a part of the result in `fields.SLUG` for each field.

use crate::{
    FormState,
    document::render,
    entity::Choices,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::shorten::one_line,
    ui::{
        button::{Button, Look},
        empty::Empty,
        field::{Field, Input, Select},
        notice::Refused,
        page_head::PageHead,
        section::Section,
    },
};
use domain::limit::TOOL_POINTER_CHARS_MAX;
use leptos::{prelude::*, tachys::html::InertElement};
use wire::session::Session;

/// Data of the page.
#[derive(Debug, Clone)]
pub struct PromoteProps {
    /// The session of the tool.
    pub session: Session,
    /// Ids and names of the tasks that are offered.
    pub tasks: Vec<(String, String)>,
    /// Whether there are more tasks than these.
    pub has_more_tasks: bool,
    /// Entities that are offered.
    pub entities: Choices,
    /// What the chosen task writes, if one was chosen.
    pub target: Option<PromoteTarget>,
    /// What was chosen and typed, and why it was refused.
    pub form: FormState,
}

/// What a task writes of a result.
#[derive(Debug, Clone)]
pub struct PromoteTarget {
    /// Id of the task.
    pub task: String,
    /// Name of the task.
    pub name: String,
    /// What was chosen: the id of the task, `/`, and the id of the entity or nothing.
    pub chosen: String,
    /// Id and title of the entity that it writes or relates; absent for a new one.
    pub entity: Option<(String, String)>,
    /// Values that it takes.
    pub fields: Vec<PromoteField>,
    /// JSON Pointers that are suggested.
    pub pointers: Vec<String>,
}

/// A value that a task takes.
#[derive(Debug, Clone)]
pub struct PromoteField {
    /// Its key in the output.
    pub slug: String,
    /// Its label.
    pub name: String,
    /// JSON Pointer that its control begins with; may be empty.
    pub pointer: String,
    /// Whether the task fails without a value.
    pub is_required: bool,
}

/// Renders the page.
pub fn promote_page(shell: &Shell, props: &PromoteProps) -> String {
    render(shell, "Write to an entity", || {
        let title = one_line(&props.session.title, 120);
        let title = if title.is_empty() { "Run of a tool".to_owned() } else { title };
        let href = format!("/sessions/{}", props.session.id);
        let crumbs = vec![("Sessions".to_owned(), "/sessions".to_owned()), (title, href.clone())];
        let page = view! {
            <PageHead title="Write to an entity" crumbs=crumbs/>
            {content(&href, props)}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

fn content(href: &str, props: &PromoteProps) -> InertElement {
    if props.tasks.is_empty() && props.target.is_none() {
        return static_html(view! {
            <Empty sentence="No task has one entity as its output. A task writes the result, with its rules and approval."/>
        });
    }
    let (action, form) = (format!("{href}/promote"), &props.form);
    let fields = props.target.as_ref().map(|target| fields_form(&action, target, form));
    let names: Vec<_> =
        props.target.iter().flat_map(|target| &target.fields).map(|field| control(&field.slug)).collect();
    let mut shown: Vec<_> = names.iter().map(String::as_str).collect();
    shown.extend(["task", "entity"]);
    static_html(view! {
        <Refused messages=form.general(&shown)/>
        {choice_form(&action, props)}
        {fields}
    })
}

/// Name of the control for a field.
fn control(slug: &str) -> String {
    format!("fields.{slug}")
}

/// The form that chooses a task and an entity.
fn choice_form(action: &str, props: &PromoteProps) -> InertElement {
    let form = &props.form;
    let mut tasks = vec![(String::new(), "Choose".to_owned())];
    tasks.extend(props.tasks.iter().cloned());
    if let Some(target) = props.target.as_ref().filter(|target| tasks.iter().all(|(id, _)| *id != target.task)) {
        tasks.push((target.task.clone(), target.name.clone()));
    }
    let hint = match props.has_more_tasks {
        true => "Its safety rules and approval apply. Only the newest tasks are listed. The API takes the others.",
        false => "Its safety rules and approval apply.",
    };
    let task = Field::new("task", "Task").hint(hint).required();
    let entity =
        Field::new("entity", "Entity (optional)").hint("By default the one that the task is about, or a new one.");
    let start = form.value("entity").unwrap_or_default();
    let entity = props.entities.control("promote", entity, "By the task", start, form);
    let word = if props.target.is_some() { "Show its fields again" } else { "Show its fields" };
    static_html(view! {
        <form class="form" method="get" action=action.to_owned() aria-label="Task and entity">
            <div class="form-row">
                <Select scope="promote" field=task options=tasks form=form/>
                {entity}
            </div>
            <div class="form-actions"><Button>{word}</Button></div>
        </form>
    })
}

/// The form that writes parts of the result.
fn fields_form(action: &str, target: &PromoteTarget, form: &FormState) -> InertElement {
    let controls = target.fields.iter().map(|field| {
        let (name, label) = (control(&field.slug), one_line(&field.name, 120));
        let (control, start) = (Field::new(&name, &label), field.pointer.clone());
        let control = if field.is_required { control.required() } else { control };
        static_html(view! {
            <Input scope="promote" field=control value=start chars_max=TOOL_POINTER_CHARS_MAX suggestions=target.pointers.clone() form=form/>
        })
    });
    let controls = controls.collect::<Vec<_>>();
    let (about, entity) = match &target.entity {
        Some((id, title)) => (format!("{}, for {}", target.name, one_line(title, 120)), id.clone()),
        None => (format!("{}, for a new entity", target.name), String::new()),
    };
    static_html(view! {
        <Section name="fields" id="fields" title="Parts of the result">
            <p dir="auto">{about}</p>
            <p class="meta">"Each field takes the part of the result at its JSON Pointer, such as /body/name. The sign # is the whole result. An empty field is left as it is."</p>
            <form class="form" method="post" action=action.to_owned() aria-label="Parts of the result">
                <input type="hidden" name="task" value=target.task.clone()/>
                <input type="hidden" name="entity" value=entity/>
                {controls}
                <div class="form-actions"><Button look=Look::Primary>"Write"</Button></div>
            </form>
        </Section>
    })
}
