//! The page /settings/audit.

use super::sentence::{Known, Names, Sentence, describe, kind_word};
use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::escape::query,
    ui::{
        button::{Button, ButtonLink, Look},
        empty::Empty,
        field::{Field, Select},
        page_head::PageHead,
        pager::Pager,
        table::{Column, Table},
        time::stamp,
    },
};
use domain::audit::Kind;
use leptos::prelude::*;
use wire::audit::AuditEntry;

/// Path of the page.
const PATH: &str = "/settings/audit";

/// The filter of the list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// `?kind=`
    pub kind: Option<Kind>,
    /// `?actor=`: who did it, as `user:…`, `token:…` or `system`.
    pub actor: Option<String>,
}

impl Filter {
    /// The address of the filtered list, from a cursor on.
    fn href(&self, cursor: Option<&str>) -> String {
        let pairs = [("kind", self.kind.map(Kind::as_str)), ("actor", self.actor.as_deref()), ("cursor", cursor)];
        let pairs = pairs.into_iter().filter_map(|(key, value)| Some(format!("{key}={}", query(value?))));
        let pairs = pairs.collect::<Vec<_>>().join("&");
        if pairs.is_empty() { PATH.to_owned() } else { format!("{PATH}?{pairs}") }
    }
}

/// Data of the page.
#[derive(Debug, Clone, Default)]
pub struct Props {
    /// The entries, newest first.
    pub entries: Vec<AuditEntry>,
    /// What the ids in them are called.
    pub names: Names,
    /// Members and tokens to choose from, `(actor, name)`.
    pub people: Vec<(String, String)>,
    /// What the list is narrowed to.
    pub filter: Filter,
    /// Whether these are the newest entries.
    pub is_newest: bool,
    /// Cursor of the next page; absent on the last page.
    pub next_cursor: Option<String>,
}

/// Renders the page.
pub fn page(shell: &Shell, props: Props) -> String {
    render(shell, "Audit list", || {
        let Props { entries, names, people, filter, is_newest, next_cursor } = props;
        let list = match (entries.is_empty(), filter == Filter::default()) {
            (true, true) => view! { <Empty sentence="Nothing is recorded yet."/> }.into_any(),
            (true, false) => {
                view! { <Empty sentence="No entry matches this filter." link=Some(("Show all entries", PATH.to_owned()))/> }.into_any()
            }
            (false, _) => table(&entries, &names).into_any(),
        };
        let newest = (!is_newest).then(|| filter.href(None));
        let older = next_cursor.map(|cursor| filter.href(Some(&cursor)));
        let page = view! {
            <PageHead title="Audit list" crumbs=vec![("Settings".to_owned(), "/settings".to_owned())]/>
            <p class="meta">"Who signed in, and what administrators did in this workspace. Entries cannot be changed or removed. Names are those of today."</p>
            {static_html(filter_form(&filter, people))}
            {static_html(list)}
            <Pager newest=newest older=older/>
        };
        frame(shell, RailEntry::Settings, page)
    })
}

/// The filter form. Empty fields are sent too; the server treats them as absent.
fn filter_form(filter: &Filter, people: Vec<(String, String)>) -> impl IntoView + use<> {
    let none = FormState::default();
    let any = |label: &str| vec![(String::new(), label.to_owned())];
    let mut kinds = any("Everything");
    kinds.extend(Kind::ALL.into_iter().map(|kind| (kind.as_str().to_owned(), kind_word(kind).to_owned())));
    let mut actors = any("Anyone");
    actors.push(("system".to_owned(), "The operator of the server".to_owned()));
    actors.extend(people);
    let actor = filter.actor.clone().unwrap_or_default();
    // An actor who is no member any more stays chosen.
    if actors.iter().all(|(value, _)| *value != actor) {
        actors.push((actor.clone(), actor.clone()));
    }
    view! {
        <form class="filter" method="get" action=PATH role="search">
            <Select scope="filter" field=Field::new("kind", "What") options=kinds value=filter.kind.map_or("", Kind::as_str) form=&none/>
            <Select scope="filter" field=Field::new("actor", "Who") options=actors value=actor form=&none/>
            <Button>"Filter"</Button>
            {(*filter != Filter::default()).then(|| view! { <ButtonLink look=Look::Quiet href=PATH>"Clear"</ButtonLink> })}
        </form>
    }
}

fn table(entries: &[AuditEntry], names: &Names) -> impl IntoView + use<> {
    let rows = entries.iter().map(|entry| row(entry, names)).collect::<Vec<_>>();
    let columns = vec![Column::text("When"), Column::text("Who"), Column::text("What")];
    view! { <Table caption="Audit entries, newest first" columns=columns focusable=true>{rows}</Table> }
}

fn row(entry: &AuditEntry, names: &Names) -> impl IntoView + use<> {
    let Sentence { who, before, target, after } = describe(entry, names);
    let target = target.map(|Known { name, href }| match href {
        Some(href) => view! { " "<a dir="auto" href=href>{name}</a> }.into_any(),
        None => view! { " "<span dir="auto">{name}</span> }.into_any(),
    });
    let after = (!after.is_empty()).then(|| format!(" {after}"));
    view! {
        <tr>
            <td class="meta">{stamp(entry.at)}</td>
            <td class="table-text" dir="auto">{who}</td>
            <td class="table-main"><span>{before}{target}{after}</span></td>
        </tr>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_has_the_filter_and_the_place() {
        let filter = Filter { kind: Some(Kind::TokenCreated), actor: Some("user:1".to_owned()) };
        assert_eq!(Filter::default().href(None), "/settings/audit");
        assert_eq!(filter.href(Some("K=")), "/settings/audit?kind=token.created&actor=user%3A1&cursor=K%3D");
    }

    #[test]
    fn a_name_is_text_and_an_actor_without_a_name_stays_chosen() {
        let entry = serde_json::json!({
            "sequence": 1, "at": "2026-11-25T10:00:00Z", "kind": "sign_in.accepted", "actor": "user:1", "target": null,
            "detail": {}, "digest": "",
        });
        let names = Names { actors: [("user:1".to_owned(), "<b>Ada".to_owned())].into(), ..Names::default() };
        let html = crate::render::to_html(row(&serde_json::from_value(entry).unwrap(), &names));
        assert!(html.contains("&lt;b&gt;Ada") && html.contains("signed in"), "{html}");
        let filter = Filter { actor: Some("user:2".to_owned()), ..Filter::default() };
        let html = crate::render::to_html(filter_form(&filter, Vec::new()));
        assert!(html.contains("value=\"user:2\" selected"), "{html}");
    }
}
