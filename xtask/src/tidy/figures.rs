//! The table of docs/pages.md about the browser code of the pages: how much code there is, and how it meets the
//! browser. Lines are rounded, so that a small change leaves the table as it is.

use super::browser::{self, EDGE, PAGES};
use super::token::tokens;
use super::{Finding, Sources};

pub const FILE: &str = "docs/pages.md";
const RULE: &str = "figures";
const BEGIN: &str = "<!-- figures of the browser code: written by `cargo xtask tidy --map` -->";
const END: &str = "<!-- end of the figures of the browser code -->";
/// The component that puts HTML of the server into a page. It wraps the browser as the functions of `EDGE` do.
const FRAGMENT: &str = "app/src/fragment.rs";
/// Names by which code reaches the DOM.
const DOM: [&str; 3] = ["web_sys", "wasm_bindgen", "dom::"];

/// Finds a table that is out of date.
pub fn check(sources: &Sources) -> Vec<Finding> {
    let document = sources.get(FILE).map_or("", String::as_str);
    match rewritten(sources) {
        None => vec![Finding::new(FILE, 1, RULE, format!("there is no line `{BEGIN}` before `{END}`"))],
        Some(wanted) if wanted != document => {
            let line = document.lines().position(|line| line == BEGIN).map_or(1, |at| at + 1);
            vec![Finding::new(FILE, line, RULE, "the figures are out of date: run `cargo xtask tidy --map`")]
        }
        Some(_) => Vec::new(),
    }
}

/// The document with today's figures. `None` for a document that has no place for them.
pub fn rewritten(sources: &Sources) -> Option<String> {
    let (before, rest) = sources.get(FILE)?.split_once(&format!("{BEGIN}\n"))?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{}\n{END}{after}", table(sources)))
}

/// A file of the pages: its path, and its lines without tests, comments and blank lines.
struct Code<'a> {
    path: &'a str,
    lines: Vec<&'a str>,
}

impl Code<'_> {
    /// Whether the file wraps what the browser offers.
    fn is_edge(&self) -> bool {
        self.path.starts_with(EDGE) || self.path == FRAGMENT
    }

    fn names(&self, names: &[&str]) -> bool {
        self.lines.iter().any(|line| names.iter().any(|name| line.contains(name)))
    }
}

fn is_page(path: &str) -> bool {
    let is_test = path.ends_with("/tests.rs") || path.ends_with("_tests.rs");
    path.ends_with(".rs") && !is_test && PAGES.iter().any(|folder| path.starts_with(folder))
}

fn code(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let is_test = |line: &&str| line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test");
    let opens_module = |line: &&str| line.starts_with("mod ") && line.ends_with('{');
    let begins_tests = |at: usize| {
        let item = lines.iter().skip(at).find(|line| !line.starts_with("#["));
        lines.get(at).is_some_and(is_test) && item.is_some_and(opens_module)
    };
    let end = (0..lines.len()).find(|at| begins_tests(*at)).unwrap_or(lines.len());
    lines.into_iter().take(end).filter(|line| !line.is_empty() && !line.starts_with("//")).collect()
}

/// The second column was counted in the same way at commit `cec3e3b7`, the last one without server functions.
fn table(sources: &Sources) -> String {
    let pages = || sources.iter().filter(|(path, _)| is_page(path));
    let all: Vec<Code> = pages().map(|(path, text)| Code { path, lines: code(text) }).collect();
    let reaching: Vec<&Code> = all.iter().filter(|file| !file.is_edge() && file.names(&DOM)).collect();
    let plain: Vec<&Code> = reaching.iter().copied().filter(|file| !file.names(&["view!"])).collect();
    let edge: Vec<&Code> = all.iter().filter(|file| file.is_edge()).collect();

    let lines = |files: &[&Code]| rounded(files.iter().map(|file| file.lines.len()).sum());
    let every = || all.iter().flat_map(|file| &file.lines);
    let beginning = |with: &str| every().filter(|line| line.starts_with(with)).count();
    let uses = |name: &str| every().map(|line| line.matches(name).count()).sum::<usize>();
    let of_dom = reaching.iter().flat_map(|file| &file.lines).filter(|line| DOM.iter().any(|name| line.contains(name)));
    let state = uses("RwSignal::new") + uses("Memo::new") + uses("Effect::new");
    let inside = edge.iter().flat_map(|file| &file.lines).filter(|line| line.contains("thread_local!")).count();
    let locals = uses("thread_local!");
    let findings: Vec<Finding> =
        pages().filter_map(|(path, text)| Some(browser::check(path, &tokens(text).ok()?))).flatten().collect();
    let broken = |rule: &str| findings.iter().filter(|finding| finding.rule == rule).count().to_string();

    let mut text = "| | before | now |\n|---|---|---|\n".to_owned();
    let mut row = |what: &str, before: &str, now: String| text.push_str(&format!("| {what} | {before} | {now} |\n"));
    let everything: Vec<&Code> = all.iter().collect();
    row("all lines, in files", "15,900 in 183", format!("{} in {}", lines(&everything), all.len()));
    row(
        "lines of files that reach the DOM (`web_sys`, `wasm_bindgen`, `dom::`), outside of `browser` and `Fragment`",
        "3,600 in 27",
        format!("{} in {}", lines(&reaching), reaching.len()),
    );
    row("of these, in files without a view", "3,500", lines(&plain));
    row("lines that name the DOM themselves", "400", rounded(of_dom.count()));
    row("lines that name `web_sys`, outside of `browser`", "23", broken("web-sys"));
    row("lines of `browser` and `Fragment`", "480", lines(&edge));
    let islands = format!("{}, {}", beginning("#[island"), beginning("#[island(lazy)]"));
    row("islands, lazy ones among them", "9, 0", islands);
    row("components; signals, memos and effects", "0; 9", format!("{}; {state}", beginning("#[component")));
    row("server functions", "0", beginning("#[server(prefix").to_string());
    row("uses of `thread_local!`; those outside of `browser`", "16; 16", format!("{locals}; {}", locals - inside));
    row("elements looked up by id, outside of `browser`", "84", broken("element-by-id"));
    text
}

/// A number rounded to hundreds, below 1,000 to tens.
fn rounded(lines: usize) -> String {
    let step = if lines < 1_000 { 10 } else { 100 };
    let lines = (lines + step / 2) / step * step;
    if lines < 1_000 { lines.to_string() } else { format!("{},{:03}", lines / 1_000, lines % 1_000) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_code_outside_of_tests() {
        let text = "//! A page.\n\nuse a;\n#[cfg(test)]\nmod fixture;\nfn f() {\n    // Why.\n    g();\n}\n\n\
                    #[cfg(test)]\nmod tests {\n    fn t() {}\n}\n";
        assert_eq!(code(text), ["use a;", "#[cfg(test)]", "mod fixture;", "fn f() {", "g();", "}"]);
        assert_eq!([4, 49, 999, 1_049, 23_950].map(rounded), ["0", "50", "1,000", "1,000", "24,000"]);
    }

    #[test]
    fn figures_that_are_out_of_date_are_found() {
        let island = "use crate::browser::dom;\n#[island(lazy)]\npub fn Rows() -> impl IntoView {\n    \
                      RwSignal::new(dom::root());\n}\n";
        let edge = "use web_sys::Event;\nthread_local! {}\n";
        let mut sources = Sources::from([
            (FILE.to_owned(), format!("# A\n{BEGIN}\nold\n{END}\nend\n")),
            ("app/src/rows/island.rs".to_owned(), island.to_owned()),
            ("app/src/browser/dom.rs".to_owned(), edge.to_owned()),
        ]);
        let rules = |sources: &Sources| check(sources).into_iter().map(|finding| finding.rule).collect::<Vec<_>>();
        assert_eq!(rules(&sources), [RULE]);
        let document = rewritten(&sources).unwrap();
        for row in [
            "| all lines, in files | 15,900 in 183 | 10 in 2 |",
            "`dom::`), outside of `browser` and `Fragment` | 3,600 in 27 | 10 in 1 |",
            "| islands, lazy ones among them | 9, 0 | 1, 1 |",
            "| components; signals, memos and effects | 0; 9 | 0; 1 |",
            "| uses of `thread_local!`; those outside of `browser` | 16; 16 | 1; 0 |",
        ] {
            assert!(document.contains(row), "{row}: {document}");
        }
        assert!(document.starts_with("# A\n<!--") && document.ends_with("-->\nend\n"));
        sources.insert(FILE.to_owned(), document);
        assert_eq!(rules(&sources), [""; 0]);
        sources.insert(FILE.to_owned(), "no place for it".to_owned());
        assert_eq!(rules(&sources), [RULE]);
    }
}
