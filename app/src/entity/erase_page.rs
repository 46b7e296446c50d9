//! What happens if the selected entities are erased, before they are. Erasing cannot be undone, so their number is
//! typed to confirm it.

use super::bulk::PATH;
use crate::{
    FormState,
    document::render,
    render::static_html,
    shell::{RailEntry, Shell, frame},
    text::{number::counted, shorten::one_line},
    ui::{
        button::{Button, ButtonLink, Look},
        field::{Field, Input},
        notice::Refused,
        page_head::PageHead,
        table::{Column, Table},
    },
};
use leptos::prelude::*;

/// Longest title in the table, characters.
const TITLE_CHARS: usize = 160;

/// An entity that would be erased.
#[derive(Debug, Clone)]
pub struct Erasable {
    /// Id of the entity.
    pub id: String,
    /// Title, as its page shows it.
    pub title: String,
    /// As people read it, such as `Company`.
    pub type_name: String,
    /// Its newest version, which is the number of its versions.
    pub version: u64,
    /// Number of values in its newest version.
    pub values: u64,
    /// Number of sessions about it.
    pub sessions: u64,
}

/// Data of the page.
#[derive(Debug, Clone, Default)]
pub struct EraseProps {
    /// The entities that would be erased.
    pub entities: Vec<Erasable>,
    /// Number of selected entities that are erased already, or not there.
    pub left_out: u64,
    /// The address of the list.
    pub next: String,
    /// State of a refused confirmation (form `erase`).
    pub form: FormState,
}

/// Renders the page.
pub fn erase_page(shell: &Shell, props: EraseProps) -> String {
    render(shell, "Erase?", || {
        let crumbs = vec![("Entities".to_owned(), props.next.clone())];
        let content = (static_html(summary(&props)), static_html(form(&props)), static_html(table(&props.entities)));
        frame(shell, RailEntry::Entities, view! { <PageHead title="Erase?" crumbs=crumbs/>{content} })
    })
}

/// Says how many versions are removed for good.
fn removed_sentence(entities: &[Erasable]) -> String {
    let versions: u64 = entities.iter().map(|one| one.version).sum();
    let whose = if entities.len() == 1 { "Its title and values" } else { "Their titles and values" };
    let what = counted(entities.len() as u64, "entity");
    format!(
        "{what} will be erased. {whose}, in {}, are removed from the database. This cannot be undone.",
        counted(versions, "version")
    )
}

/// Says that sessions about the entities keep their logs.
fn kept_sentence(entities: &[Erasable]) -> String {
    let sessions: u64 = entities.iter().map(|one| one.sessions).sum();
    let them = if entities.len() == 1 { "it" } else { "them" };
    let about = match sessions {
        0 => format!("No session is about {them}."),
        1 => format!("1 session is about {them} and keeps its log."),
        many => format!("{} are about {them} and keep their logs.", counted(many, "session")),
    };
    format!("{about} Inbox items and memories that quote {them} are not changed.")
}

/// What is selected and not erased.
fn left_out_sentence(left_out: u64) -> Option<String> {
    let are = if left_out == 1 { "is" } else { "are" };
    (left_out > 0)
        .then(|| format!("{} of the selection {are} erased already or not there.", counted(left_out, "entity")))
}

fn summary(props: &EraseProps) -> impl IntoView + use<> {
    view! {
        <p>{removed_sentence(&props.entities)}</p>
        <p>{kept_sentence(&props.entities)}</p>
        {left_out_sentence(props.left_out).map(|sentence| view! { <p>{sentence}</p> })}
    }
}

/// The confirmation. It names the entities that were counted, each at the version that is shown.
fn form(props: &EraseProps) -> impl IntoView + use<> {
    let fields = props.entities.iter().map(|one| {
        view! { <input type="hidden" name="entity" value=format!("{}@{}", one.id, one.version)/> }
    });
    let fields = fields.collect::<Vec<_>>();
    let count = props.entities.len();
    let them = if count == 1 { "it" } else { "them" };
    let label = format!("Type “{count}” to erase {them}");
    let hint = "An entity that is changed before you confirm is left as it is.";
    view! {
        <form class="form" method="post" action=PATH>
            <Refused messages=props.form.general(&["confirm"])/>
            <input type="hidden" name="next" value=props.next.clone()/>
            {fields}
            <Input scope="erase" field=Field::new("confirm", &label).hint(hint) form=&props.form/>
            <div class="form-actions">
                <Button look=Look::Danger>{format!("Erase {}", counted(count as u64, "entity"))}</Button>
                <ButtonLink href=props.next.clone()>"Back to the list"</ButtonLink>
            </div>
        </form>
    }
}

fn table(entities: &[Erasable]) -> impl IntoView + use<> {
    let rows = entities.iter().map(|one| {
        view! {
            <tr>
                <td class="table-main"><a class="quiet" dir="auto" href=format!("/entities/{}", one.id)>{one_line(&one.title, TITLE_CHARS)}</a></td>
                <td class="meta">{one_line(&one.type_name, 60)}</td>
                <td class="table-number">{one.version}</td>
                <td class="table-number">{one.values}</td>
                <td class="table-number">{one.sessions}</td>
            </tr>
        }
    });
    let rows = rows.collect::<Vec<_>>();
    let columns = vec![
        Column::text("Title"),
        Column::text("Type"),
        Column::number("Versions"),
        Column::number("Values"),
        Column::number("Sessions"),
    ];
    view! { <Table caption="Entities to erase" columns=columns>{rows}</Table> }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    fn erasable(count: usize, sessions: u64) -> Vec<Erasable> {
        let one = Erasable {
            id: "e".into(),
            title: "<b>Acme".into(),
            type_name: "Company".into(),
            version: 3,
            values: 2,
            sessions,
        };
        vec![one; count]
    }

    #[test]
    fn the_sentences_are_right_for_one_and_for_many() {
        let one = removed_sentence(&erasable(1, 0));
        assert!(one.starts_with("1 entity will be erased. Its title and values, in 3 versions, are removed"), "{one}");
        for (count, versions) in [(2, 6), (7, 21), (40, 120)] {
            let many = removed_sentence(&erasable(count, 0));
            let start = format!("{count} entities will be erased. Their titles and values, in {versions} versions,");
            assert!(many.starts_with(&start), "{many}");
        }
        for (count, sessions, start) in [
            (1, 0, "No session is about it. Inbox items and memories that quote it"),
            (1, 1, "1 session is about it and keeps its log. "),
            (7, 2, "14 sessions are about them and keep their logs. "),
        ] {
            let kept = kept_sentence(&erasable(count, sessions));
            assert!(kept.starts_with(start), "{kept}");
        }
        assert_eq!(left_out_sentence(0), None);
        let [one, two] = [1, 2].map(|left_out| left_out_sentence(left_out).unwrap());
        assert!(
            one.starts_with("1 entity of the selection is ") && two.starts_with("2 entities of the selection are ")
        );
    }

    #[test]
    fn the_confirmation_names_each_entity_with_its_version_and_asks_for_their_number() {
        for count in [1, 2, 7, 40] {
            let props = EraseProps { entities: erasable(count, 0), ..EraseProps::default() };
            let html = to_html(form(&props));
            assert_eq!(html.matches("value=\"e@3\"").count(), count, "{html}");
            assert!(html.contains(&format!("Type “{count}” to erase ")), "{html}");
            assert!(to_html(table(&props.entities)).contains("&lt;b&gt;Acme"));
        }
    }
}
