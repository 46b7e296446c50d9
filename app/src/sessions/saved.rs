//! The page /sessions/saved, and the links to saved searches on /sessions.

use super::filter::Filter;
use crate::{
    FormState,
    document::render,
    entity::People,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::escape::query,
    ui::{
        button::{Button, Look},
        empty::Empty,
        field::{Choice, Field, Input},
        notice::Refused,
        page_head::PageHead,
        section::Section,
        table::{Column, Table},
        tabs::{Tab, Tabs},
        time::moment,
    },
};
use domain::{limit::SEARCH_QUERY_CHARS_MAX, role::Permission};
use leptos::{prelude::*, tachys::html::InertElement};
use wire::search::SavedSearch;

/// Data of the page /sessions/saved.
#[derive(Debug, Clone)]
pub struct SavedProps {
    /// The searches that the reader sees, by name.
    pub saved: Vec<SavedSearch>,
    /// The reader: `user:…`.
    pub own: String,
    /// Names of everyone who may have saved one.
    pub people: People,
    /// State of the form that saves one. It begins with the line of the address.
    pub form: FormState,
}

/// The address of the list of sessions that a saved search selects.
fn href(search: &SavedSearch) -> String {
    format!("/sessions?q={}", query(&search.q))
}

/// Links to the saved searches, the one that is shown marked. Nothing without any.
pub(super) fn saved_links(saved: &[SavedSearch], filter: &Filter) -> Option<impl IntoView + use<>> {
    if saved.is_empty() {
        return None;
    }
    let here = filter.href(None);
    let tab = |search: &SavedSearch| {
        let href = href(search);
        let is_here = href == here;
        Tab::new(search.name.clone(), href, is_here)
    };
    let tabs = saved.iter().map(tab).collect::<Vec<_>>();
    Some(view! { <Tabs label="Saved searches" tabs=tabs/> })
}

/// Renders the page.
pub fn saved_page(shell: &Shell, props: SavedProps) -> String {
    render(shell, "Saved searches", || {
        let crumbs = vec![("Sessions".to_owned(), "/sessions".to_owned())];
        let manages = shell.may(Permission::ManageSessions);
        let list = if props.saved.is_empty() {
            let sentence =
                "No search is saved. A saved search is a line with a name, shown above the list of sessions.";
            static_html(view! { <Empty sentence=sentence link=Some(("Go to sessions", "/sessions".to_owned()))/> })
        } else {
            table(&props, manages)
        };
        let page = view! {
            <PageHead title="Saved searches" crumbs=crumbs>{None::<InertElement>}</PageHead>
            {list}
            {save_form(&props.form, manages)}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

fn table(props: &SavedProps, manages: bool) -> InertElement {
    let rows = props.saved.iter().map(|search| {
        let is_own = search.created_by == props.own;
        let sees = if search.shared { "Everyone" } else { "Only you" };
        let label = format!("Delete {}", search.name);
        let delete = (is_own || manages).then(|| {
            view! {
                <form method="post" action=format!("/sessions/saved/{}/delete", search.id)>
                    <Button look=Look::Quiet attr:aria-label=label>"Delete"</Button>
                </form>
            }
        });
        view! {
            <tr>
                <td class="table-main"><a class="quiet" dir="auto" href=href(search)>{search.name.clone()}</a></td>
                <td><code dir="auto">{search.q.clone()}</code></td>
                <td class="meta">{sees}</td>
                <td class="meta">{props.people.word(&search.created_by)}</td>
                <td class="meta">{moment(search.created_at)}</td>
                <td>{delete}</td>
            </tr>
        }
    });
    let rows = rows.collect::<Vec<_>>();
    let columns = ["Name", "Search", "Who sees it", "Saved by", "When"].map(Column::text);
    let columns: Vec<_> = columns.into_iter().chain([Column::hidden("Delete")]).collect();
    static_html(view! { <Table caption="Saved searches, by name" columns=columns>{rows}</Table> })
}

fn save_form(form: &FormState, may_share: bool) -> InertElement {
    let shared = form.value("shared").is_some();
    let share =
        may_share.then(|| view! { <Choice name="shared" checked=shared>"Everyone in the workspace sees it"</Choice> });
    let name = Field::new("name", "Name");
    let line = Field::new("q", "Search").hint("Conditions and words. Days and “by:me” are those of whoever uses it.");
    static_html(view! {
        <Section name="save" id="save" title="Save a search">
            <form class="form" method="post" action="/sessions/saved#save">
                <Refused messages=form.general(&["name", "q", "shared"])/>
                <Input scope="save" field=name form/>
                <Input scope="save" field=line chars_max=SEARCH_QUERY_CHARS_MAX form/>
                {share}
                <div class="form-actions"><Button look=Look::Primary>"Save"</Button></div>
            </form>
        </Section>
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;
    use domain::search::Line;

    fn search(name: &str, q: &str) -> SavedSearch {
        let wire = serde_json::json!({
            "id": "0193b0a0-0000-7000-8000-000000000001", "name": name, "q": q, "shared": false,
            "createdBy": "user:1", "createdAt": "2026-11-25T06:00:00Z",
        });
        serde_json::from_value(wire).unwrap()
    }

    #[test]
    fn the_saved_search_that_is_shown_is_marked() {
        let saved = [search("<b>Broken</b>", "status:failed"), search("Mine", "by:me")];
        let shown = Filter { line: Line::parse("status:failed").unwrap(), ..Filter::default() };
        let html = to_html(saved_links(&saved, &shown));
        assert!(html.contains("&lt;b&gt;Broken&lt;/b&gt;"), "{html}");
        assert!(html.contains("href=\"/sessions?q=by%3Ame\""), "{html}");
        assert_eq!(html.matches("aria-current=\"true\"").count(), 1, "{html}");
        let narrowed = Filter { action_id: Some("7".into()), ..shown };
        assert!(!to_html(saved_links(&saved, &narrowed)).contains("aria-current"), "other sessions are shown");
        assert!(saved_links(&[], &narrowed).is_none());
    }
}
