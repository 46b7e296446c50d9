//! The versions of an entity, as changes from one to the next.

use super::People;
use crate::{
    text::{number::display_text, shorten::one_line},
    ui::{diff::Diff, time::moment},
};
use domain::entity::{FieldDef, FieldType, Values};
use leptos::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use wire::entity::EntityVersion;

/// Longest value in a change, characters.
const VALUE_CHARS_MAX: usize = 120;

/// A changed field: its label, the old and the new value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    name: String,
    before: Option<String>,
    after: Option<String>,
}

/// The changes of a version compared with the one before it.
pub fn changes(
    fields: &[FieldDef],
    titles: &BTreeMap<String, String>,
    before: &EntityVersion,
    after: &EntityVersion,
) -> Vec<Change> {
    let mut all = Vec::new();
    if before.title != after.title {
        let (before, after) = (Some(before.title.clone()), Some(after.title.clone()));
        all.push(Change { name: "Title".into(), before, after });
    }
    let mut slugs: Vec<&str> = fields.iter().map(|f| f.slug.as_str()).collect();
    let others: BTreeSet<&str> = before.fields.keys().chain(after.fields.keys()).map(String::as_str).collect();
    slugs.extend(others.into_iter().filter(|slug| !fields.iter().any(|f| f.slug == *slug)));
    for slug in slugs {
        if before.fields.get(slug) == after.fields.get(slug) {
            continue;
        }
        let field = fields.iter().find(|f| f.slug == slug);
        let value = |values: &Values| {
            let text = display_text(values.get(slug)?);
            let title = titles.get(&text).filter(|_| field.is_some_and(|f| f.kind == FieldType::Relation));
            Some(title.cloned().unwrap_or(text))
        };
        let name = field.map_or_else(|| slug.to_owned(), |f| f.name.clone());
        all.push(Change { name, before: value(&before.fields), after: value(&after.fields) });
    }
    all
}

/// The versions, newest first. `versions` may hold one more than is shown, to compute the changes of the last one.
pub fn history(
    fields: &[FieldDef],
    titles: &BTreeMap<String, String>,
    people: &People,
    versions: &[EntityVersion],
    shown_max: usize,
) -> impl IntoView + use<> {
    let items = versions.iter().take(shown_max).enumerate().map(|(at, version)| {
        let what = match versions.get(at + 1) {
            Some(before) => {
                changes(fields, titles, before, version).into_iter().map(line).collect::<Vec<_>>().into_any()
            }
            None => view! { <p class="history-change">"Created"</p> }.into_any(),
        };
        let by = version.session_id.as_ref().map(|id| view! { <a href=format!("/sessions/{id}")>"by a session"</a> });
        view! {
            <li class="history-item">
                <p class="meta history-head">
                    <span class="history-version">"v"{version.version}</span>
                    <span class="history-who">{people.word(&version.actor)}</span>
                    {by}
                    {moment(version.at)}
                </p>
                {what}
            </li>
        }
    });
    view! { <ol class="history">{items.collect::<Vec<_>>()}</ol> }
}

fn line(change: Change) -> impl IntoView {
    let cut = |text: Option<String>| text.map(|text| one_line(&text, VALUE_CHARS_MAX));
    let (before, after) = (cut(change.before), cut(change.after));
    view! {
        <p class="history-change">
            <span class="history-name">{change.name}</span>
            <Diff before=before after=after/>
        </p>
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn version(number: u64, title: &str, fields: serde_json::Value) -> EntityVersion {
        EntityVersion {
            version: number,
            title: title.into(),
            fields: fields.as_object().cloned().unwrap_or_default(),
            actor: "system".into(),
            session_id: None,
            at: domain::Timestamp::default(),
        }
    }

    #[test]
    fn a_version_shows_its_changes() {
        let fields = ["stage", "parent"].map(|slug| FieldDef {
            slug: slug.into(),
            name: slug.to_uppercase(),
            kind: if slug == "parent" { FieldType::Relation } else { FieldType::Text },
            required: false,
            options: Vec::new(),
            relation_type: None,
        });
        let titles = BTreeMap::from([("id-1".to_owned(), "Parent Inc".to_owned())]);
        let before = version(1, "Acme", json!({ "stage": "Lead", "gone": 1, "same": true }));
        let after = version(2, "Acme Inc", json!({ "stage": "Won", "parent": "id-1", "same": true }));
        let sentences: Vec<_> = changes(&fields, &titles, &before, &after)
            .into_iter()
            .map(|c| (c.name, c.before.unwrap_or_default(), c.after.unwrap_or_default()))
            .collect();
        let row = |name: &str, before: &str, after: &str| (name.to_owned(), before.to_owned(), after.to_owned());
        let expected = [
            row("Title", "Acme", "Acme Inc"),
            row("STAGE", "Lead", "Won"),
            row("PARENT", "", "Parent Inc"),
            row("gone", "1", ""),
        ];
        assert_eq!(sentences, expected);
    }
}
