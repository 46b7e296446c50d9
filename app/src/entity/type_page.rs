//! The page /entity-types/{id}.

use super::type_form::{type_form, type_word};
use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{escape::query, shorten::one_line},
    ui::{
        button::{ButtonLink, Look},
        empty::Empty,
        page_head::PageHead,
        popover::Sheet,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{
    entity::{FieldDef, FieldType},
    role::Permission,
};
use leptos::prelude::*;
use wire::entity::EntityType;

/// Data of a type's page.
#[derive(Debug, Clone)]
pub struct TypeProps {
    /// The type.
    pub of: EntityType,
    /// The types of the workspace, `(slug, name)`, as options of relation fields.
    pub types: Vec<(String, String)>,
    /// State of a refused `POST /entity-types/{id}` (form `edit`).
    pub form: FormState,
}

/// Renders the page.
pub fn type_page(shell: &Shell, props: TypeProps) -> String {
    let title = one_line(&props.of.name, 120);
    render(shell, &title, || {
        let TypeProps { of, types, form } = props;
        let form = form.of("edit");
        let manages = shell.may(Permission::ManageEntityTypes);
        let writes = shell.may(Permission::WriteEntities);
        let list_href = format!("/entities?type={}", query(&of.slug));
        let crumbs = vec![("Entities".to_owned(), "/entities".to_owned()), (title.clone(), list_href.clone())];
        let head = view! {
            <ButtonLink look=Look::Quiet href=list_href>"All entities"</ButtonLink>
            {writes.then(|| view! { <ButtonLink href=format!("/entity-types/{}/import", of.id)>"Import CSV"</ButtonLink> })}
        };
        let edit = manages.then(|| {
            let inner = static_html(type_form(&of, &types, &form));
            view! {
                <Sheet summary="Edit fields" open=form.is_refused() || of.fields.is_empty()>
                    <div>{inner}</div>
                </Sheet>
            }
        });
        let page = view! {
            <PageHead title=title.clone() crumbs=crumbs>{head}</PageHead>
            <dl class="facts">
                <div><dt>"Slug"</dt><dd><code>{of.slug.clone()}</code></dd></div>
                <div><dt>"Version"</dt><dd>{of.version}</dd></div>
                <div><dt>"Changed"</dt><dd>{moment(of.updated_at)}</dd></div>
            </dl>
            {static_html(field_table(&of.fields))}
            {edit}
        };
        frame(shell, RailEntry::Entities, page)
    })
}

fn field_table(fields: &[FieldDef]) -> impl IntoView + use<> {
    if fields.is_empty() {
        return view! { <Empty sentence="This type has no fields yet. Its entities have only a title."/> }.into_any();
    }
    let rows = fields
        .iter()
        .map(|field| {
            let more = match field.kind {
                FieldType::Select => field.options.join(", "),
                FieldType::Relation => field.relation_type.clone().unwrap_or_default(),
                _ => String::new(),
            };
            view! {
                <tr>
                    <td class="table-main">{field.name.clone()}</td>
                    <td class="meta"><code>{field.slug.clone()}</code></td>
                    <td class="meta">{type_word(field.kind)}</td>
                    <td class="meta">{field.required.then_some("required")}</td>
                    <td class="meta entity-options" dir="auto">{one_line(&more, 200)}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    view! {
        <Table caption="Fields, in the order shown" columns=vec![Column::text("Field"), Column::text("Slug"), Column::text("Values"), Column::text("Needed"), Column::text("Options or type")]>{rows}</Table>
    }
    .into_any()
}
