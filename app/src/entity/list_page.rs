//! The page /entities.

use super::{
    Relations,
    bulk::{FORM, bar},
    form::entity_form,
};
use crate::{
    FormState,
    document::render,
    render::static_html,
    sessions::{LiveRows, tick},
    shell::{RailEntry, Shell, frame},
    text::{escape::query, shorten::one_line},
    ui::{
        button::{Button, ButtonLink, Look},
        empty::Empty,
        field::{Field, Input},
        list_search::{search_chips, suggestions},
        notice::Refused,
        page_head::PageHead,
        pager::{Pager, looked_at},
        popover::Sheet,
        table::{Column, Table},
        tabs::{Tab, Tabs},
        time::moment,
    },
};
use domain::{
    limit::{ENTITIES_LOOKED_MAX, SEARCH_QUERY_CHARS_MAX},
    role::Permission,
    search,
};
use leptos::prelude::*;
use wire::entity::{Entity, EntityType};

/// Longest title in the list, characters.
const TITLE_CHARS_MAX: usize = 160;

/// Data of the page /entities.
#[derive(Debug, Clone, Default)]
pub struct ListProps {
    /// The entity types of the workspace, newest first.
    pub types: Vec<EntityType>,
    /// `?type=`: slug of the selected type.
    pub picked: Option<String>,
    /// `?q=`: words and conditions; may be empty.
    pub q: String,
    /// Why the search was refused, and how it was typed.
    pub search: FormState,
    /// The entities of this page, newest first.
    pub entities: Vec<Entity>,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
    /// `?cursor=`: where this page begins; absent on the first page.
    pub cursor: Option<String>,
    /// Options for the relation fields of the selected type.
    pub relations: Relations,
    /// State of a refused `POST /entities` (form `create`) or `POST /entity-types` (form `type`).
    pub form: FormState,
    /// State of a refused `POST /entities/erase` (form `selected-entities`).
    pub bulk: FormState,
}

impl ListProps {
    /// The type of a new entity: the selected one, or the only one.
    pub fn of(&self) -> Option<&EntityType> {
        match (&self.picked, self.types.as_slice()) {
            (Some(slug), types) => types.iter().find(|t| t.slug == *slug),
            (None, [only]) => Some(only),
            (None, _) => None,
        }
    }

    fn href(&self, cursor: Option<&str>) -> String {
        let mut pairs = Vec::new();
        for (key, value) in [("type", self.picked.as_deref()), ("q", Some(self.q.as_str())), ("cursor", cursor)] {
            if let Some(value) = value.filter(|v| !v.is_empty()) {
                pairs.push(format!("{key}={}", query(value)));
            }
        }
        if pairs.is_empty() { "/entities".to_owned() } else { format!("/entities?{}", pairs.join("&")) }
    }
}

/// Renders the page.
pub fn list_page(shell: &Shell, props: ListProps) -> String {
    render(shell, "Entities", || {
        let manages = shell.may(Permission::ManageEntityTypes);
        let of = props.of().cloned();
        let head = view! {
            {of.as_ref().map(|t| view! { <ButtonLink look=Look::Quiet href=format!("/entity-types/{}", t.id)>"Type and import"</ButtonLink> })}
            {of.as_ref().map(|t| view! { <ButtonLink look=Look::Primary href="#new">{format!("New {}", t.name)}</ButtonLink> })}
        };
        let create = of.as_ref().map(|of| {
            let form = props.form.of("create");
            let open = form.is_refused() || (props.entities.is_empty() && props.q.is_empty());
            let inner = static_html(entity_form(of, None, &props.relations, &form));
            view! {
                <Sheet summary=format!("New {}", of.name) open=open>
                    <div id="new">{inner}</div>
                </Sheet>
            }
        });
        let erases = shell.may(Permission::Administer) && !props.entities.is_empty();
        let rows = static_html(list(&props, erases));
        let rows = if erases {
            let (next, cursor) = (props.href(props.cursor.as_deref()), props.cursor.clone());
            let bar = static_html(bar(next, props.picked.clone(), props.q.clone(), cursor, &props.bulk));
            view! { <LiveRows>{bar}{rows}</LiveRows> }.into_any()
        } else {
            rows.into_any()
        };
        let page = view! {
            <PageHead title="Entities">{head}</PageHead>
            {(!props.types.is_empty()).then(|| static_html(filter(&props)))}
            {rows}
            {static_html(pager(&props))}
            {create}
            {manages.then(|| static_html(new_type(&props)))}
        };
        frame(shell, RailEntry::Entities, page)
    })
}

fn filter(props: &ListProps) -> impl IntoView + use<> {
    let mut tabs = vec![Tab::new("All", "/entities", props.picked.is_none())];
    tabs.extend(props.types.iter().map(|t| {
        let here = props.picked.as_deref() == Some(t.slug.as_str());
        Tab::new(one_line(&t.name, 40), format!("/entities?type={}", query(&t.slug)), here)
    }));
    let left = |q: &str| ListProps { picked: props.picked.clone(), q: q.to_owned(), ..ListProps::default() }.href(None);
    let (cleared, set) = (left(""), search_chips(&props.q, &search::Field::OF_ENTITIES, &left));
    view! {
        <Tabs label="Types" tabs=tabs/>
        <form class="filter" method="get" action="/entities" role="search">
            {props.picked.clone().map(|slug| view! { <input type="hidden" name="type" value=slug/> })}
            <Input scope="filter" field=Field::new("q", "Search titles and values") kind="search" wide=true chars_max=SEARCH_QUERY_CHARS_MAX suggestions=suggestions(&props.q, &search::Field::OF_ENTITIES) value=&props.q form=&props.search/>
            <Button>"Search"</Button>
            {(!props.q.is_empty()).then(|| view! { <ButtonLink look=Look::Quiet href=cleared>"Clear"</ButtonLink> })}
        </form>
        {set}
    }
}

/// The entities, which can be selected by whoever `erases` them.
fn list(props: &ListProps, erases: bool) -> impl IntoView + use<> {
    if props.types.is_empty() {
        let sentence = "Entities are the things that tasks are about, such as companies, papers or cases. First create an entity type. It says which fields its entities have.";
        return view! { <Empty sentence=sentence/> }.into_any();
    }
    if props.entities.is_empty() {
        return if props.q.is_empty() && props.cursor.is_none() {
            view! { <Empty sentence="There are no entities yet. Create one, or import a CSV file on the type's page."/> }.into_any()
        } else {
            let sentence = if props.next_cursor.is_some() {
                "None of the entities that were looked at matches the filter."
            } else {
                "No entity matches the filter."
            };
            view! { <Empty sentence=sentence link=Some(("Show all", "/entities".to_owned()))/> }.into_any()
        };
    }
    let name =
        |slug: &str| props.types.iter().find(|t| t.slug == slug).map_or_else(|| slug.to_owned(), |t| t.name.clone());
    let rows = props
        .entities
        .iter()
        .map(|entity| {
            let tick = erases.then(|| {
                let tick = tick((FORM, "entity"), entity.id.to_string(), &entity.title, false);
                view! { <td class="table-tick">{tick}</td> }
            });
            view! {
                <tr>
                    {tick}
                    <td class="table-main"><a class="quiet" href=format!("/entities/{}", entity.id) dir="auto">{one_line(&entity.title, TITLE_CHARS_MAX)}</a></td>
                    <td class="meta">{one_line(&name(&entity.type_slug), 60)}</td>
                    <td class="meta">{moment(entity.updated_at)}</td>
                    <td class="meta table-number">"v"{entity.version}</td>
                </tr>
            }
        })
        .collect::<Vec<_>>();
    let mut columns =
        vec![Column::text("Title"), Column::text("Type"), Column::text("Changed"), Column::number("Version")];
    if erases {
        columns.insert(0, Column::hidden("Select"));
    }
    view! { <Table caption="Entities, newest first" columns=columns>{rows}</Table> }.into_any()
}

fn pager(props: &ListProps) -> impl IntoView + use<> {
    let newest = props.cursor.is_some().then(|| props.href(None));
    let older = props.next_cursor.as_deref().map(|cursor| props.href(Some(cursor)));
    let goes_on = !props.q.is_empty() && older.is_some();
    let looked = goes_on.then(|| looked_at(ENTITIES_LOOKED_MAX, "entities"));
    (looked, view! { <Pager newest=newest older=older/> })
}

fn new_type(props: &ListProps) -> impl IntoView + use<> {
    let form = props.form.of("type");
    view! {
        <Sheet summary="New entity type" open=form.is_refused() || props.types.is_empty()>
            <form class="form" method="post" action="/entity-types">
                <Refused messages=form.general(&["name", "slug"])/>
                <div class="form-row">
                    <Input scope="type" field=Field::new("name", "Name").hint("In the singular, for example Company. You add fields in the next step.").required() form=&form/>
                    <Input scope="type" field=Field::new("slug", "Slug").hint("Created from the name if left empty. It cannot be changed later.") form=&form/>
                </div>
                <div class="form-actions"><Button>"Create type"</Button></div>
            </form>
        </Sheet>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;
    use serde_json::json;

    #[test]
    fn a_search_by_title_that_has_not_ended_says_how_many_entities_a_page_looks_at() {
        let company: EntityType = serde_json::from_value(json!({
            "id": "01990000-0000-7000-8000-000000000000", "slug": "company", "name": "Company", "fields": [],
            "version": 1, "createdBy": "system", "createdAt": "2026-11-25T12:00:00Z",
            "updatedAt": "2026-11-25T12:00:00Z",
        }))
        .unwrap();
        let (types, next_cursor) = (vec![company], Some("c".to_owned()));
        let searched = ListProps { types, q: "zebra".into(), next_cursor, ..ListProps::default() };
        let html = to_html((list(&searched, false), pager(&searched)));
        assert!(html.contains("None of the entities that were looked at") && html.contains("20,000"), "{html}");
        let last = ListProps { next_cursor: None, ..searched.clone() };
        let html = to_html((list(&last, false), pager(&last)));
        assert!(html.contains("No entity matches the filter") && !html.contains("20,000"), "{html}");
        let not_searched = ListProps { q: String::new(), ..searched };
        assert!(!to_html(pager(&not_searched)).contains("20,000"));
    }
}
