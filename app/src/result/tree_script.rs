//! The script of a tree, which searches in it, folds it, and copies the path of a part.

use super::{shape::Shape, value::unwrapped};
use crate::render::static_html;
use leptos::{prelude::*, tachys::html::InertElement};
use serde_json::value::RawValue;

/// The script for the page of a result; `None` if the result is shown as no tree. `nonce` is that of the page, and
/// `src` the address of the script, which is empty if the site was not built.
pub fn tree_script(result: Option<&RawValue>, page: (&str, &str)) -> Option<InertElement> {
    let is_tree = result.is_some_and(|result| Shape::of(unwrapped(result)) == Some(Shape::Tree));
    if is_tree { live_tree_script(page) } else { None }
}

/// The same for a page on which a result can arrive while it is open.
pub fn live_tree_script((nonce, src): (&str, &str)) -> Option<InertElement> {
    (!src.is_empty())
        .then(|| static_html(view! { <script type="module" nonce=nonce.to_owned() src=src.to_owned()></script> }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::to_html;

    #[test]
    fn only_a_page_with_a_tree_has_its_script() {
        let script = |json: &str, src: &str| {
            let raw = RawValue::from_string(json.to_owned()).unwrap();
            tree_script(Some(&raw), ("n", src)).map(to_html)
        };
        let found = script(r#"{"a":{"b":1}}"#, "/pkg/tree.js").unwrap();
        assert!(found.contains("nonce=\"n\"") && found.contains("src=\"/pkg/tree.js\""), "{found}");
        assert_eq!(script(r#"{"a":1}"#, "/pkg/tree.js"), None);
        assert_eq!(script(r#"{"a":{"b":1}}"#, ""), None);
        assert!(tree_script(None, ("n", "/pkg/tree.js")).is_none());
        assert_eq!(live_tree_script(("n", "/pkg/tree.js")).map(to_html).as_ref(), Some(&found));
        assert!(live_tree_script(("n", "")).is_none());
    }
}
