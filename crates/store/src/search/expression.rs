//! A search in the languages of FTS5 and of tsquery.
//!
//! Words of the index are ASCII letters and digits, so nothing has to be escaped.

use crate::memory::{hexadecimal, scoped};
use domain::search::{Query, Unit};

/// Words one after another, as the index has them.
struct Phrase {
    terms: Vec<String>,
    is_prefix: bool,
}

/// The phrases of which an event has to have one.
fn alternatives(scope: i64, unit: &Unit) -> Vec<Phrase> {
    let terms: Vec<String> = unit.terms.iter().map(|term| scoped(scope, term)).collect();
    let mut all = Vec::new();
    // A word is written as hexadecimal digits if any of its letters is none of ASCII, so words that begin with ASCII
    // letters are written in two ways.
    if let Some(last) = unit.terms.last().filter(|last| unit.is_prefix && last.is_ascii()) {
        let mut other = terms.clone();
        other.pop();
        other.push(format!("{scope}u{}", hexadecimal(last)));
        all.push(Phrase { terms: other, is_prefix: true });
    }
    all.push(Phrase { terms, is_prefix: unit.is_prefix });
    all.extend(unit.forms.iter().map(|form| Phrase { terms: vec![scoped(scope, form)], is_prefix: false }));
    all
}

/// The texts of the units that are looked for, and of those that are excluded.
fn units(scope: i64, query: &Query, or: &str, phrase: fn(&Phrase) -> String) -> (Vec<String>, Vec<String>) {
    let text = |unit: &Unit| {
        let phrases: Vec<String> = alternatives(scope, unit).iter().map(phrase).collect();
        format!("({})", phrases.join(or))
    };
    let (excluded, wanted): (Vec<&Unit>, Vec<&Unit>) = query.units.iter().partition(|unit| unit.is_excluded);
    (wanted.into_iter().map(text).collect(), excluded.into_iter().map(text).collect())
}

/// For the operator MATCH of FTS5.
pub(super) fn for_sqlite(scope: i64, query: &Query) -> String {
    let phrase = |phrase: &Phrase| {
        let star = if phrase.is_prefix { " *" } else { "" };
        // Parts of words stand one after another in their column, and are no phrase.
        let column = if phrase.terms.len() > 1 { "words : " } else { "" };
        format!("{column}\"{}\"{star}", phrase.terms.join(" "))
    };
    let (wanted, excluded) = units(scope, query, " OR ", phrase);
    let wanted = wanted.join(" AND ");
    if excluded.is_empty() { wanted } else { format!("({wanted}) NOT ({})", excluded.join(" OR ")) }
}

/// For the operator @@ of PostgreSQL.
pub(super) fn for_postgres(scope: i64, query: &Query) -> String {
    let phrase = |phrase: &Phrase| {
        let terms: Vec<String> = phrase.terms.iter().map(|term| format!("'{term}'")).collect();
        let star = if phrase.is_prefix { ":*" } else { "" };
        format!("({}{star})", terms.join(" <-> "))
    };
    let (wanted, excluded) = units(scope, query, " | ", phrase);
    let excluded = excluded.into_iter().map(|unit| format!("!{unit}"));
    wanted.into_iter().chain(excluded).collect::<Vec<_>>().join(" & ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_is_the_same_on_both_engines() {
        for (text, sqlite, postgres) in [
            ("E0277", "(\"7xe0277\")", "(('7xe0277'))"),
            ("foo_bar", "(words : \"7xfoo 7xbar\")", "(('7xfoo' <-> '7xbar'))"),
            (
                "src/ma* -x1 -\"a b\"",
                "((words : \"7xsrc 7u6d61\" * OR words : \"7xsrc 7xma\" *)) NOT ((\"7xx1\") OR (words : \"7xa 7xb\"))",
                "(('7xsrc' <-> '7u6d61':*) | ('7xsrc' <-> '7xma':*)) & !(('7xx1')) & !(('7xa' <-> '7xb'))",
            ),
            ("東 e1", "(\"7ue69db1\") AND (\"7xe1\")", "(('7ue69db1')) & (('7xe1'))"),
        ] {
            let query = Query::parse(text).unwrap();
            assert_eq!(for_sqlite(7, &query), sqlite, "{text}");
            assert_eq!(for_postgres(7, &query), postgres, "{text}");
        }
        let query = Query::parse("the refunds").unwrap();
        assert!(for_sqlite(7, &query).contains("(\"7xrefunds\" OR \"7xrefund\""));
        assert!(for_postgres(7, &query).contains("(('7xrefunds') | ('7xrefund')"));
    }
}
