//! Parses the text of a bundle: YAML, which includes JSON.

use crate::{Error, Result};
use domain::{
    bundle::Bundle,
    event::json_depth,
    issue::Issue,
    limit::{BUNDLE_BYTES_MAX, BUNDLE_ITEMS_MAX, JSON_DEPTH_MAX},
};
use serde_json::Value;
use std::collections::BTreeSet;

/// Parses and checks a bundle.
///
/// # Errors
/// [`Error::Invalid`] with the line and column if the text is not YAML, or with the path in the file if its
/// content is wrong. [`Error::TooLarge`] for a text that is too long.
pub fn read(text: &str) -> Result<Bundle> {
    if text.len() > BUNDLE_BYTES_MAX {
        return Err(Error::TooLarge(format!("a bundle has at most {BUNDLE_BYTES_MAX} bytes")));
    }
    // With strict booleans `yes` and `no` are strings; only `true` and `false` are booleans, as in JSON.
    let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
    let value: Value = serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let place = error.location().map(|at| format!("line {}, column {}", at.line(), at.column()));
        Error::invalid(place.unwrap_or_else(|| "file".into()), error.to_string())
    })?;
    if !value.is_object() {
        return Err(Error::invalid(
            "file",
            "a bundle is an object with `criteriaSets`, `groups`, `entityTypes`, `views`, `mcpServers`, `tools` or \
             `actions`",
        ));
    }
    if json_depth(&value.to_string()) > JSON_DEPTH_MAX {
        return Err(Error::invalid("file", format!("at most {JSON_DEPTH_MAX} levels deep")));
    }
    let bundle: Bundle = serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        Error::invalid(if path == "." { "file".to_owned() } else { path }, error.inner().to_string())
    })?;
    check(&bundle)?;
    Ok(bundle)
}

fn check(bundle: &Bundle) -> Result<()> {
    if bundle.is_empty() || bundle.len() > BUNDLE_ITEMS_MAX {
        return Err(Error::invalid("file", format!("a bundle contains 1 to {BUNDLE_ITEMS_MAX} items")));
    }
    let mut wrong = Vec::new();
    let mut once = |list: &str, slugs: Vec<&String>| {
        let mut seen = BTreeSet::new();
        for (index, slug) in slugs.into_iter().enumerate() {
            if !seen.insert(slug) {
                wrong.push(Issue::new(format!("{list}[{index}].slug"), format!("`{slug}` is listed twice")));
            }
        }
    };
    once("groups", bundle.groups.iter().map(|thing| &thing.slug).collect());
    once("criteriaSets", bundle.criteria_sets.iter().map(|thing| &thing.slug).collect());
    once("entityTypes", bundle.entity_types.iter().map(|thing| &thing.slug).collect());
    once("views", bundle.views.iter().map(|thing| &thing.slug).collect());
    once("mcpServers", bundle.mcp_servers.iter().map(|thing| &thing.slug).collect());
    once("tools", bundle.tools.iter().map(|thing| &thing.slug).collect());
    once("actions", bundle.actions.iter().map(|thing| &thing.slug).collect());
    if wrong.is_empty() { Ok(()) } else { Err(Error::Invalid(wrong)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn refused(text: &str) -> (String, String) {
        match read(text) {
            Err(Error::Invalid(fields)) => (fields[0].field.clone(), fields[0].message.clone()),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn yaml_and_json_say_the_same() {
        let yaml = "
name: Safety # for people
criteriaSets:
  - slug: brand-safety
    name: Brand safety
    dimensions:
      - slug: phi_safety
        type: select
        options: [yes, no]
        optionStyles: { no: { style: negative, score: 0.1, hardBlock: true } }
";
        let json = json!({ "name": "Safety", "criteriaSets": [{ "slug": "brand-safety", "name": "Brand safety",
            "dimensions": [{ "slug": "phi_safety", "type": "select", "options": ["yes",
                { "value": "no", "style": "negative", "score": 0.1, "hardBlock": true }] }] }] });
        let bundle = read(yaml).unwrap();
        assert_eq!(bundle, read(&json.to_string()).unwrap());
        assert!(bundle.criteria_sets[0].dimensions[0].options[1].hard_block);
    }

    #[test]
    fn what_is_wrong_is_named_by_its_place() {
        let (place, _) = refused("groups:\n  - slug: a\n   name: b\n");
        assert!(place.starts_with("line 3, column "), "{place}");
        let (place, message) = refused("groups: []\ngroups: []\n");
        assert!(place.starts_with("line 2"), "{place}: {message}");
        for (text, path) in [
            ("", "file"),
            ("just text", "file"),
            ("{}", "file"),
            ("grups: []", "grups"),
            ("groups: [{ slug: a }]", "groups[0]"),
            ("groups: [{ slug: a, name: A }, { slug: a, name: B }]", "groups[1].slug"),
            (
                "criteriaSets: [{ slug: a, name: A, dimensions: [{ slug: t, type: colour }] }]",
                "criteriaSets[0].dimensions[0].type",
            ),
            ("actions: [{ slug: a, name: A, outputType: poem }]", "actions[0].outputType"),
            (
                "entityTypes: [{ slug: a, name: A, fields: [{ slug: b, name: B, type: text, requird: true }] }]",
                "entityTypes[0].fields[0].requird",
            ),
        ] {
            assert_eq!(refused(text).0, path, "{text}: {:?}", refused(text));
        }
        let many: Vec<_> = (0..=BUNDLE_ITEMS_MAX).map(|n| json!({ "slug": format!("g{n}"), "name": "G" })).collect();
        assert_eq!(refused(&json!({ "groups": many }).to_string()).0, "file");
        assert!(matches!(read(&" ".repeat(BUNDLE_BYTES_MAX + 1)), Err(Error::TooLarge(_))));
    }

    #[test]
    fn a_file_that_blows_up_is_refused() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for n in 1..12 {
            let alias = format!("*a{}, ", n - 1).repeat(10);
            text.push_str(&format!("a{n}: &a{n} [{}]\n", alias.trim_end_matches(", ")));
        }
        assert!(read(&text).is_err());
        assert!(read(&format!("name: {}{}", "[".repeat(5_000), "]".repeat(5_000))).is_err());
    }
}
