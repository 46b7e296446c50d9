//! The page /sessions/saved, and the links to saved searches on /sessions.

use super::filter::Filter;
use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{escape::query, people::People},
    ui::{
        button::{Button, Look},
        chip::{Chip, session_count},
        empty::Empty,
        field::{Choice, Field, Input},
        notice::Refused,
        page_head::PageHead,
        popover::{Opens, Popover},
        section::Section,
        table::{Column, Table},
        time::moment,
    },
};
use domain::{limit::SEARCH_QUERY_CHARS_MAX, role::Permission, session::Sort};
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
    /// State of the refused form: of the one that saves a search, which begins with the line of the address, or of the
    /// one that renames the search whose id is the form's name.
    pub form: FormState,
}

/// A saved search with its number of sessions.
#[derive(Debug, Clone)]
pub struct CountedSearch {
    /// The saved search.
    pub search: SavedSearch,
    /// Number of sessions, and whether there can be more. `None` for a search that is not counted.
    pub count: Option<(usize, bool)>,
}

/// The address of the list of sessions that a saved search selects.
fn href(search: &SavedSearch) -> String {
    format!("/sessions?q={}", query(&search.q))
}

/// Links to saved searches with their numbers of sessions, the one that is shown marked, and a link to all of them if
/// there are more. Nothing without any.
pub(super) fn saved_links(saved: &[CountedSearch], total: usize, filter: &Filter) -> Option<impl IntoView + use<>> {
    if saved.is_empty() {
        return None;
    }
    let here = filter.sorted(Sort::default()).href(None);
    let link = |saved: &CountedSearch| {
        let href = href(&saved.search);
        let is_here = href == here;
        let (name, count) = (saved.search.name.clone(), saved.count.map(session_count));
        view! { <li><Chip href=href is_here=is_here><bdi>{name}</bdi>{count}</Chip></li> }
    };
    let links = saved.iter().map(link).collect::<Vec<_>>();
    let all = (total > saved.len()).then(|| {
        let label = format!("All {total}");
        view! { <li><Chip href="/sessions/saved">{label}<span class="hidden-text">" saved searches"</span></Chip></li> }
    });
    Some(view! { <nav aria-label="Saved searches"><ul class="chips">{links}{all}</ul></nav> })
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
            {save_form(&props.form.of(""), manages)}
        };
        frame(shell, RailEntry::Sessions, page)
    })
}

fn table(props: &SavedProps, manages: bool) -> InertElement {
    let rows = props.saved.iter().map(|search| {
        let is_own = search.created_by == props.own;
        let sees = if search.shared { "Everyone" } else { "Only you" };
        let label = format!("Delete {}", search.name);
        let rename = (is_own || manages).then(|| rename_form(search, &props.form));
        let delete = (is_own || manages).then(|| {
            view! {
                <form method="post" action=format!("/sessions/saved/{}/delete", search.id)>
                    <Button look=Look::Quiet small=true attr:aria-label=label>"Delete"</Button>
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
                <td>{rename}</td>
                <td>{delete}</td>
            </tr>
        }
    });
    let rows = rows.collect::<Vec<_>>();
    let columns = ["Name", "Search", "Who sees it", "Saved by", "When"].map(Column::text);
    let columns: Vec<_> = columns.into_iter().chain(["Rename", "Delete"].map(Column::hidden)).collect();
    static_html(view! { <Table caption="Saved searches, by name" columns=columns>{rows}</Table> })
}

/// The button that opens the form with another name.
fn rename_form(search: &SavedSearch, form: &FormState) -> InertElement {
    let id = search.id.to_string();
    let (form, scope) = (form.of(&id), format!("rename-{id}"));
    let action = format!("/sessions/saved/{id}/rename");
    let label = format!("Rename {}", search.name);
    let name = Field::new("name", "New name");
    let inner = static_html(view! {
        <Refused messages=form.general(&["name"])/>
        <Input scope=scope.as_str() field=name value=&search.name form=&form/>
        <div class="form-actions"><Button attr:aria-label=label>"Rename"</Button></div>
    });
    let open = form.is_refused();
    static_html(view! {
        <Popover label="Rename" look=Look::Quiet small=true opens=Opens::InPlace open=open action=action>{inner}</Popover>
    })
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
    fn the_saved_search_that_is_shown_is_marked_and_each_has_its_count() {
        let counted = |search, count| CountedSearch { search, count };
        let saved = [
            counted(search("<b>Broken</b>", "status:failed"), Some((99, true))),
            counted(search("Mine", "by:me"), Some((1, false))),
            counted(search("Words", "zebra"), None),
        ];
        let shown = Filter { line: Line::parse("status:failed").unwrap(), sort: Sort::Cost, ..Filter::default() };
        let html = to_html(saved_links(&saved, 3, &shown));
        assert!(html.contains("&lt;b&gt;Broken&lt;/b&gt;"), "{html}");
        assert!(html.contains("href=\"/sessions?q=by%3Ame\"") && !html.contains("All 3"), "{html}");
        assert_eq!(html.matches("aria-current=\"true\"").count(), 1, "{html}");
        assert_eq!(html.matches("chip-count").count(), 2, "{html}");
        assert!(html.contains(">99+<") && html.contains(">1<") && html.contains("> session<"), "{html}");
        assert!(to_html(saved_links(&saved, 9, &shown)).contains(">All 9<"));
        let narrowed = Filter { action_id: Some("7".into()), ..shown };
        assert!(!to_html(saved_links(&saved, 3, &narrowed)).contains("aria-current"), "other sessions are shown");
        assert!(saved_links(&[], 0, &narrowed).is_none());
    }
}
