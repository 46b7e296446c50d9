//! The page /entities/{id}, also served at /t/{tenantSlug}/{typeSlug}/{id}.

use super::{People, Relations, form::entity_form, history::history, status_dot::status_dot};
use crate::{
    FormState,
    document::render,
    render::static_html,
    result::write_json_text,
    shell::{RailEntry, Shell, frame},
    text::{duration, error_text, escape::query, html::Html, number, shorten::one_line},
    trigger::trigger_button,
    ui::{
        badge::StatusBadge,
        button::{Button, ButtonLink, Look},
        empty::Empty,
        field::{Field, Input},
        notice::{Notice, Tone},
        page_head::Breadcrumbs,
        popover::Sheet,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{
    Timestamp,
    entity::{FIELD_TITLE, FieldDef, FieldType, TaskStatusMap},
    role::Permission,
};
use leptos::prelude::*;
use std::collections::BTreeMap;
use wire::{
    action::Action,
    entity::{Entity, EntitySessionSummary, EntityType, EntityVersion},
};

/// Longest task name in a row, characters.
const NAME_CHARS_MAX: usize = 120;

/// Data of an entity's page.
#[derive(Debug, Clone)]
pub struct Props {
    /// The entity at its newest version.
    pub entity: Entity,
    /// Its type.
    pub of: EntityType,
    /// Titles of related entities, by id.
    pub titles: BTreeMap<String, String>,
    /// Options for the relation fields of the form.
    pub relations: Relations,
    /// Its latest sessions, newest first, without those that other sessions started.
    pub sessions: Vec<EntitySessionSummary>,
    /// Status of the work on its fields and blocks.
    pub statuses: TaskStatusMap,
    /// Responses that became this entity: id of the session and time of the submission, newest first.
    pub responses: Vec<(String, Timestamp)>,
    /// Active tasks about it.
    pub tasks: Vec<Action>,
    /// Its versions, newest first, with one more than is shown if there are more.
    pub versions: Vec<EntityVersion>,
    /// Number of versions shown.
    pub versions_max: usize,
    /// Address of the older versions; absent if there are none.
    pub older: Option<String>,
    /// Names of the authors of the versions.
    pub people: People,
    /// State of a refused `POST /entities/{id}` (form `edit`).
    pub form: FormState,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    let title = one_line(&props.entity.title, NAME_CHARS_MAX);
    render(shell, &title, || {
        let Props {
            entity,
            of,
            titles,
            relations,
            sessions,
            statuses,
            responses,
            tasks,
            versions,
            versions_max,
            older,
            people,
            form,
        } = props;
        let crumbs = vec![
            ("Entities".to_owned(), "/entities".to_owned()),
            (one_line(&of.name, 60), format!("/entities?type={}", query(&of.slug))),
        ];
        let is_erased = entity.erased_at.is_some();
        let writes = shell.may(Permission::WriteEntities) && !is_erased;
        let erase = (shell.may(Permission::Administer) && !is_erased).then(|| static_html(erase_form(&entity, &form)));
        let tombstone = entity.erased_at.map(|at| static_html(tombstone(at, &people.word(&entity.updated_by))));
        let edit = writes.then(|| {
            let form = form.of("edit");
            let inner = static_html(entity_form(&of, Some(&entity), &relations, &form));
            view! {
                <Sheet summary="Edit" open=form.is_refused()>
                    <div>{inner}</div>
                </Sheet>
            }
        });
        let block = |id: &str| statuses.by_block_id.get(id).copied();
        let (fields_dot, tasks_dot) = (block("fields"), block("tasks"));
        let (sessions_dot, history_dot) = (block("sessions"), block("history"));
        let page = view! {
            // The recorder of working sessions reads the type here, because the path may not have it.
            <header class="page-head" data-entity-type=of.slug.clone()>
                <Breadcrumbs crumbs=crumbs/>
                <h1 dir="auto">{entity.title.clone()}</h1>
                {static_html(status_dot(statuses.by_field_name.get(FIELD_TITLE).copied()))}
            </header>
            {tombstone}
            {static_html(facts(&entity, &of, &people, &responses))}
            <div class="split">
                <div class="section">
                    <section class="section" aria-labelledby="fields-title">
                        <h2 class="block-head" id="fields-title">"Fields"{static_html(status_dot(fields_dot))}</h2>
                        {static_html(fields(&of.fields, &entity, &titles, &statuses))}
                    </section>
                    {edit}
                    {erase}
                </div>
                <section class="section" aria-labelledby="tasks-title">
                    <h2 class="block-head" id="tasks-title">"Tasks"{static_html(status_dot(tasks_dot))}</h2>
                    {static_html(task_list(shell, &tasks, &entity.id.to_string()))}
                </section>
            </div>
            <section class="section" aria-labelledby="sessions-title">
                <h2 class="block-head" id="sessions-title">"Sessions"{static_html(status_dot(sessions_dot))}</h2>
                {static_html(session_list(&sessions))}
            </section>
            <section class="section" aria-labelledby="history-title">
                <h2 class="block-head" id="history-title">"History"{static_html(status_dot(history_dot))}</h2>
                {static_html(history(&of.fields, &titles, &people, &versions, versions_max))}
                {older.map(|href| view! { <nav class="pager" aria-label="Versions"><ButtonLink small=true attr:rel="next" href=href>"Earlier versions"</ButtonLink></nav> })}
            </section>
        };
        frame(shell, RailEntry::Entities, page)
    })
}

/// The text for an entity without its content.
fn tombstone(at: Timestamp, by: &str) -> impl IntoView + use<> {
    let by = by.to_owned();
    view! {
        <Notice tone=Tone::Wait>
            <p>"Erased "{moment(at)}" by "{by}". Its title and values, and those of all its versions, are removed."</p>
        </Notice>
    }
}

/// The form that erases the entity. A word confirms it.
fn erase_form(entity: &Entity, form: &FormState) -> impl IntoView + use<> {
    let form = form.of("erase");
    let hint = "Title and values of all versions are removed from the database. This cannot be undone.";
    view! {
        <Sheet summary="Erase" open=form.is_refused()>
            <form class="form" method="post" action=format!("/entities/{}", entity.id)>
                <Input scope="erase" field=Field::new("confirm", "Type “erase” to erase it").hint(hint) form=&form/>
                <div class="form-actions"><Button look=Look::Danger name="do" value="erase">"Erase"</Button></div>
            </form>
        </Sheet>
    }
}

fn facts(
    entity: &Entity,
    of: &EntityType,
    people: &People,
    responses: &[(String, Timestamp)],
) -> impl IntoView + use<> {
    let links = responses.iter().map(|(id, at)| {
        view! { <a class="quiet" href=format!("/sessions/{id}")>"the response of "{moment(*at)}</a>" " }
    });
    let links: Vec<_> = links.collect();
    let origin = (!links.is_empty()).then(|| view! { <div><dt>"Made from"</dt><dd>{links}</dd></div> });
    view! {
        <dl class="facts">
            <div><dt>"Type"</dt><dd><a class="quiet" href=format!("/entity-types/{}", of.id)>{one_line(&of.name, 60)}</a></dd></div>
            <div><dt>"Version"</dt><dd>{entity.version}</dd></div>
            <div><dt>"Changed"</dt><dd>{moment(entity.updated_at)}" by "{people.word(&entity.updated_by)}</dd></div>
            {origin}
        </dl>
    }
}

fn fields(
    defs: &[FieldDef],
    entity: &Entity,
    titles: &BTreeMap<String, String>,
    statuses: &TaskStatusMap,
) -> impl IntoView + use<> {
    if defs.is_empty() {
        return view! { <p class="meta">"This type has no fields yet."</p> }.into_any();
    }
    let rows = defs
        .iter()
        .map(|field| {
            let value = entity.fields.get(&field.slug).map(number::display_text);
            let cell = match value {
                None => view! { <span class="meta">"—"</span> }.into_any(),
                Some(id) if field.kind == FieldType::Relation => {
                    let title = titles.get(&id).cloned().unwrap_or_else(|| id.clone());
                    view! { <a href=format!("/entities/{id}") dir="auto">{title}</a> }.into_any()
                }
                Some(text) => match json_form(field.kind, &text) {
                    Some(html) => view! { <div inner_html=html></div> }.into_any(),
                    None => view! { <span class="entity-value" dir="auto">{text}</span> }.into_any(),
                },
            };
            view! {
                <div class="entity-field">
                    <dt>{field.name.clone()}{status_dot(statuses.by_field_name.get(&field.slug).copied())}</dt>
                    <dd>{cell}</dd>
                </div>
            }
        })
        .collect::<Vec<_>>();
    view! { <dl class="entity-fields">{rows}</dl> }.into_any()
}

/// The form of a text that is JSON.
fn json_form(kind: FieldType, text: &str) -> Option<String> {
    let mut html = Html::default();
    (kind == FieldType::Text && write_json_text(&mut html, text)).then(|| html.finish())
}

fn task_list(shell: &Shell, tasks: &[Action], entity_id: &str) -> impl IntoView + use<> {
    let items = tasks
        .iter()
        .map(|task| {
            let href = format!("/actions/{}", task.id);
            view! {
                <li class="entity-task">
                    <a class="quiet" href=href.clone() dir="auto">{one_line(&task.name, NAME_CHARS_MAX)}</a>
                    {trigger_button(shell, task, "Run".to_owned())}
                </li>
            }
        })
        .collect::<Vec<_>>();
    let new = shell.may(Permission::ManageActions).then(|| {
        let href = format!("/actions?target={entity_id}#new");
        view! { <p><a href=href>"New task about this entity"</a></p> }
    });
    view! {
        {tasks.is_empty().then(|| view! { <p class="meta">"There are no tasks about this entity yet."</p> })}
        {(!tasks.is_empty()).then(|| view! { <ul class="entity-tasks">{items}</ul> })}
        {new}
    }
}

fn session_list(sessions: &[EntitySessionSummary]) -> impl IntoView + use<> {
    if sessions.is_empty() {
        return view! { <Empty sentence="There are no sessions about this entity yet."/> }.into_any();
    }
    let rows = sessions
        .iter()
        .map(|session| {
            let children = session.child_count;
            let lasted = session.duration_ms.map(duration::words);
            let error = session.error_message.as_deref().map(|text| error_text::one_line(text, NAME_CHARS_MAX));
            view! {
                <tr>
                    <td><StatusBadge status=session.status/></td>
                    <td class="table-main">
                        <a class="quiet" href=format!("/sessions/{}", session.id) dir="auto">{one_line(&session.task_name, NAME_CHARS_MAX)}</a>
                        {error.map(|text| view! { <div class="meta" dir="auto">{text}</div> })}
                    </td>
                    <td class="meta">{session.started_at.map(moment)}</td>
                    <td class="meta table-number">{lasted}</td>
                    <td class="meta table-number">{(children > 0).then(|| number::counted(children.into(), "step"))}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    view! {
        <Table caption="Sessions about this entity, newest first" columns=vec![Column::text("Status"), Column::text("Task"), Column::text("Started"), Column::number("Duration"), Column::number("Steps")]>{rows}</Table>
    }
    .into_any()
}
