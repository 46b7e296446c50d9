//! Search lines above lists: their form, their chips, and what is suggested while someone types.

use super::{
    button::{Button, ButtonLink, Look},
    chip::chips,
    field::{Field, Input},
};
use crate::{FormState, render::static_html, text::escape::query};
use domain::{
    limit::SEARCH_QUERY_CHARS_MAX,
    search::{self, Line},
};
use leptos::{prelude::*, tachys::html::InertElement};

/// What is searched for in a list that has no other filter, as it was typed.
#[derive(Debug, Clone, Default)]
pub struct ListSearch {
    /// `?q=`: words and conditions; may be empty.
    pub q: String,
    /// Why the search was refused, and how it was typed.
    pub form: FormState,
    /// The fields that a search of this list can name.
    pub fields: &'static [search::Field],
}

impl ListSearch {
    /// The address of a page of the list at `path`.
    pub fn href(&self, path: &str, cursor: &str) -> String {
        let cursor = query(cursor);
        if self.q.is_empty() {
            format!("{path}?cursor={cursor}")
        } else {
            format!("{path}?q={}&cursor={cursor}", query(&self.q))
        }
    }

    /// The form of the list at `path`, and a chip for each part of the search.
    pub fn view(&self, path: &str, label: &'static str) -> impl IntoView + use<> {
        let (action, whole) = (path.to_owned(), path.to_owned());
        let left = |q: &str| if q.is_empty() { path.to_owned() } else { format!("{path}?q={}", query(q)) };
        let set = search_chips(&self.q, self.fields, &left);
        let clear =
            (!self.q.is_empty()).then(|| view! { <ButtonLink look=Look::Quiet href=whole>"Clear"</ButtonLink> });
        view! {
            <form class="filter" method="get" action=action role="search">
                <Input scope="filter" field=Field::new("q", label) kind="search" wide=true chars_max=SEARCH_QUERY_CHARS_MAX suggestions=suggestions(&self.q, self.fields) value=&self.q form=&self.form/>
                <Button>"Search"</Button>
                {clear}
            </form>
            {set}
        }
    }
}

/// Whole lines that a browser suggests for a list with these fields: the line so far, and one more condition. Nothing
/// for a line that is refused.
pub fn suggestions(q: &str, fields: &'static [search::Field]) -> Vec<String> {
    let Ok(line) = Line::parse_for(q, fields) else { return Vec::new() };
    let set = line.to_string();
    let before = if set.is_empty() { set } else { format!("{set} ") };
    fields.iter().map(|field| format!("{before}{}", field.example())).collect()
}

/// A chip for each part of the search of a list with these fields. Choosing one leads to the list without it: `href`
/// has the address for what is left. Nothing for a line that is refused.
pub fn search_chips(q: &str, fields: &'static [search::Field], href: &dyn Fn(&str) -> String) -> Option<InertElement> {
    let line = Line::parse_for(q, fields).ok()?;
    let (parts, conditions) = (line.parts(), line.conditions.len());
    let without = |at: usize| {
        let mut left = parts.clone();
        left.remove(at);
        let text = left.join(" ");
        // Words that are only excluded are no search, so they are removed with the last other word.
        if Line::parse_for(&text, fields).is_ok() {
            text
        } else {
            left.truncate(conditions - usize::from(at < conditions));
            left.join(" ")
        }
    };
    let set = parts.iter().enumerate().map(|(at, part)| (part.clone(), href(&without(at))));
    chips(set.collect(), "Conditions").map(static_html)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_page_is_one_of_the_same_search() {
        let of = |q: &str| ListSearch { q: q.to_owned(), ..ListSearch::default() };
        assert_eq!(of("").href("/tools", "a b"), "/tools?cursor=a%20b");
        assert_eq!(of("title:tea").href("/tools", "x"), "/tools?q=title%3Atea&cursor=x");
    }

    #[test]
    fn every_suggestion_is_a_search_with_one_more_condition() {
        let fields = &search::Field::OF_APPROVALS;
        let all = suggestions("tea", fields);
        assert_eq!(all.len(), fields.len());
        for text in &all {
            let line = Line::parse_for(text, fields).unwrap();
            assert_eq!((line.conditions.len(), line.words.len()), (1, 1), "{text}");
        }
        assert!(suggestions("cost>1", fields).is_empty());
    }

    #[test]
    fn each_part_of_a_search_is_a_link_to_the_list_without_it() {
        let of = |q: &str| {
            let fields = &search::Field::OF_APPROVALS;
            crate::render::to_html(search_chips(q, fields, &|left| format!("/inbox?q={}", query(left))))
        };
        let html = of("kind:tool <b>tea</b> -milk");
        for part in [
            "href=\"/inbox?q=%3Cb%3Etea%3C%2Fb%3E%20-milk\"",
            // Without the word, only an excluded one would be left.
            "href=\"/inbox?q=kind%3Atool\"",
            "href=\"/inbox?q=kind%3Atool%20%3Cb%3Etea%3C%2Fb%3E\"",
            "&lt;b&gt;tea&lt;/b&gt;",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        for q in ["", "cost>1"] {
            assert!(search_chips(q, &search::Field::OF_APPROVALS, &|_| String::new()).is_none(), "{q}");
        }
    }
}
