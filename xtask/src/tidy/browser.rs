//! Rules over the browser's half of the pages: state belongs to components, and components do not look for each other's
//! elements.

use std::collections::BTreeSet;

use super::{Finding, token::Token};

/// Folders of what runs in the browser.
pub(super) const PAGES: [&str; 2] = ["app/src/", "frontend/src/"];
/// Folder whose functions wrap what the browser offers.
pub(super) const EDGE: &str = "app/src/browser/";

/// Functions that take a selector.
const SEARCHES: [&str; 6] = ["find", "find_all", "closest", "matches", "query_selector", "query_selector_all"];

/// Attributes whose value is an id: a selector that names such a value looks up by id as well.
const ID_ATTRIBUTES: [&str; 5] = ["[id=", "[for=", "[aria-labelledby=", "[aria-describedby=", "[aria-controls="];

/// State in a `thread_local!` or a static, elements found by their id, and interfaces of the browser, outside of the
/// wrappers of the browser.
pub(super) fn check(path: &str, tokens: &[Token]) -> Vec<Finding> {
    if !PAGES.iter().any(|pages| path.starts_with(pages)) || path.starts_with(EDGE) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let named = tokens.iter().filter(|token| token.text == "web_sys").map(|token| token.line);
    let what = "web_sys outside of app/src/browser: wrap what the browser offers in a typed function there";
    findings.extend(named.collect::<BTreeSet<_>>().into_iter().map(|line| Finding::new(path, line, "web-sys", what)));
    for (at, token) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| tokens.get(at)).map(|token| token.text.as_str());
        match token.text.as_str() {
            "thread_local" => {
                let what = "state of a page in a thread local: give it to a component, as a signal";
                findings.push(Finding::new(path, token.line, "view-state", what));
            }
            // HTML that the server renders once is a text.
            "OnceLock" | "LazyLock"
                if before == Some(":") && tokens.get(at + 2).is_some_and(|of| of.text != "String") =>
            {
                let what = "state of a page in a static: give it to a component, as a signal";
                findings.push(Finding::new(path, token.line, "view-state", what));
            }
            "by_id" | "get_element_by_id" if before == Some("::") || before == Some(".") => {
                let what = "an element looked up by its id: use a node reference or a signal";
                findings.push(Finding::new(path, token.line, "element-by-id", what));
            }
            "id" if before == Some(".") && is_compared(tokens, at) => {
                let what = "elements compared by their id: compare what they stand for, such as their name";
                findings.push(Finding::new(path, token.line, "element-by-id", what));
            }
            text if text.starts_with('"') && names_id(text) && is_searched(tokens, at) => {
                let what = "a selector with an id: use a node reference, a signal, or a class or attribute of its kind";
                findings.push(Finding::new(path, token.line, "element-by-id", what));
            }
            _ => {}
        }
    }
    findings
}

/// Elements found by their id in a script of the pages.
pub(super) fn check_script(path: &str, text: &str) -> Vec<Finding> {
    if !PAGES.iter().any(|pages| path.starts_with(pages)) {
        return Vec::new();
    }
    let is_found = |line: &str| {
        let selector = line.split_once("querySelector").map_or("", |(_, selector)| selector);
        line.contains("getElementById") || names_id(selector)
    };
    let what = "an element looked up by its id: keep the element, or name a class or attribute of its kind";
    let lines = text.lines().zip(1..).filter(|(line, _)| is_found(line));
    lines.map(|(_, number)| Finding::new(path, number, "element-by-id", what)).collect()
}

/// Whether a selector names an id, as `#inbox` and `[id=inbox] a` do.
fn names_id(selector: &str) -> bool {
    let is_id = |from: &str| from.starts_with(|first: char| first.is_ascii_alphabetic());
    ID_ATTRIBUTES.iter().any(|attribute| selector.contains(attribute)) || selector.split('#').skip(1).any(is_id)
}

/// Whether the `id` at this token is called and the result compared, as in `a.id() == b.id()`.
fn is_compared(tokens: &[Token], at: usize) -> bool {
    let following = tokens.iter().skip(at + 1).take(4).map(|token| token.text.as_str()).collect::<Vec<_>>();
    matches!(following[..], ["(", ")", "=" | "!", "="])
}

/// Whether the token is inside the arguments of a function that takes a selector.
fn is_searched(tokens: &[Token], at: usize) -> bool {
    let mut open = 0_usize;
    for (index, token) in tokens.iter().enumerate().take(at).rev() {
        match token.text.as_str() {
            ")" | "]" | "}" => open += 1,
            "(" | "[" if open > 0 => open -= 1,
            "(" => {
                let called = index.checked_sub(1).and_then(|before| tokens.get(before));
                return called.is_some_and(|called| SEARCHES.contains(&called.text.as_str()));
            }
            // A list of texts that is joined to a selector.
            "[" => {}
            "{" if open > 0 => open -= 1,
            "{" | ";" if open == 0 => return false,
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::super::code;

    fn rules(path: &str, text: &str) -> Vec<&'static str> {
        code::check(path, text).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn interfaces_of_the_browser_are_counted_by_line() {
        let text = "use web_sys::Event;\nfn f(a: web_sys::Node, b: web_sys::Node) {}\n// web_sys::Node\n";
        assert_eq!(rules("app/src/inbox/rows.rs", text), ["web-sys"; 2]);
        assert!(rules("app/src/browser/dom.rs", text).is_empty());
    }

    #[test]
    fn elements_by_id_are_found_in_scripts() {
        let lookups =
            "f(document.getElementById('a'));\nform.querySelector(\"#a\");\nform.querySelectorAll(\".row\");\n";
        let lines = |path| super::check_script(path, lookups).into_iter().map(|found| found.line).collect::<Vec<_>>();
        assert_eq!(lines("frontend/src/parts.js"), [1, 2]);
        assert_eq!(lines("crates/bench/reference/svelte-page.js"), [0; 0]);
    }

    #[test]
    fn state_of_pages_in_thread_locals_and_elements_by_id_are_found() {
        let state = "thread_local! { static OPEN: Cell<bool> = const { Cell::new(false) }; }";
        let lookups = "fn f() { dom::by_id(\"inbox\"); document().get_element_by_id(\"inbox\"); }";
        assert_eq!(rules("app/src/inbox/rows.rs", state), ["view-state"]);
        assert_eq!(rules("app/src/inbox/rows.rs", "static OPEN: OnceLock<Rows> = OnceLock::new();"), ["view-state"]);
        assert!(rules("app/src/shell/frame.rs", "static RAIL: OnceLock<String> = OnceLock::new();").is_empty());
        assert_eq!(rules("app/src/inbox/rows.rs", lookups), ["element-by-id", "element-by-id"]);
        let selectors =
            "fn f() { find(\"#inbox\"); at.closest(\"li #row\"); dom::find(&page, &[\"[id=\", id, \"]\"].concat()); }";
        assert_eq!(rules("app/src/inbox/rows.rs", selectors), ["element-by-id"; 3]);
        let links = "fn f() { let href = \"#new\"; find(\".row\"); tab(\"Mine\", \"#mine\"); find(&[\"a[href='\", at, \"']\"].concat()) }";
        assert!(rules("app/src/inbox/rows.rs", links).is_empty());
        let others = "fn f() { a.id() == b.id(); find(\"[aria-labelledby=title]\"); let id = a.id(); g(a.id()) }";
        assert_eq!(rules("app/src/inbox/rows.rs", others), ["element-by-id"; 2]);
        assert!(rules("app/src/browser/dom.rs", lookups).is_empty());
        assert!(rules("crates/client/src/lib.rs", state).is_empty());
        assert!(rules("app/src/inbox/rows.rs", "// dom::by_id(\"inbox\")\nfn by_id() {}").is_empty());
    }
}
