//! The map of imports, docs/imports.md: which crate uses which, and inside the larger crates which module uses which.
//!
//! A module is a child of the crate's root. An arrow is a path in code outside of tests that begins with `crate::`, or
//! with as many `super::` as lead to the root. Names that a root re-exports are not followed.

use std::collections::{BTreeMap, BTreeSet};

use super::modules::{Graph, module_path, without_tests};
use super::prose::after_group;
use super::token::{Token, tokens};
use super::{Finding, Sources, dependencies, folders};

pub const FILE: &str = "docs/imports.md";
pub const CIRCLES: &str = "xtask/tidy-circles.txt";
const RULE: &str = "map";
const CIRCLE_RULE: &str = "circle";
const BEGIN: &str = "<!-- map of imports: written by `cargo xtask tidy --map` -->";
const END: &str = "<!-- end of the map of imports -->";
/// Crates whose modules are shown, with their folders.
const DRAWN: [(&str, &str); 6] = [
    ("domain", "crates/domain"),
    ("wire", "crates/wire"),
    ("store", "crates/store"),
    ("ledger", "crates/ledger"),
    ("app", "app"),
    ("server", "server"),
];

/// Finds a map that is out of date, circles that are not in the reviewed list, and entries of that list that no circle
/// needs any more.
pub fn check(sources: &Sources) -> Vec<Finding> {
    let graphs = graphs(sources);
    let mut findings = Vec::new();
    let document = sources.get(FILE).map_or("", String::as_str);
    match with_map(document, &graphs) {
        None => findings.push(Finding::new(FILE, 1, RULE, format!("there is no line `{BEGIN}` before `{END}`"))),
        Some(wanted) if wanted != document => {
            let line = document.lines().position(|line| line == BEGIN).map_or(1, |at| at + 1);
            findings.push(Finding::new(FILE, line, RULE, "the map is out of date: run `cargo xtask tidy --map`"));
        }
        Some(_) => {}
    }
    let reviewed = reviewed(sources.get(CIRCLES).map_or("", String::as_str));
    let found = every_circle(sources, &graphs);
    for (name, circle) in &found {
        if !reviewed.iter().any(|(_, of, known)| of == name && circle.is_subset(known)) {
            let what = format!("{name} has a new circle: {}", joined(circle));
            findings.push(Finding::new(CIRCLES, 1, CIRCLE_RULE, what));
        }
    }
    for (line, name, known) in &reviewed {
        if !found.iter().any(|(of, circle)| of == name && circle == known) {
            let what = "this circle is smaller or gone: run `cargo xtask tidy --map`";
            findings.push(Finding::new(CIRCLES, *line, CIRCLE_RULE, what));
        }
    }
    findings
}

/// The document with today's map, and the list of circles without those that are gone. `None` for a document that has
/// no place for the map.
pub fn rewritten(sources: &Sources) -> Option<(String, String)> {
    let graphs = graphs(sources);
    let document = with_map(sources.get(FILE)?, &graphs)?;
    let list = sources.get(CIRCLES).map_or("", String::as_str);
    let reviewed = reviewed(list);
    let mut text: String =
        list.lines().take_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    for (name, circle) in every_circle(sources, &graphs) {
        if reviewed.iter().any(|(_, of, known)| *of == name && circle.is_subset(known)) {
            text.push_str(&format!("{name}: {}\n", joined(&circle)));
        }
    }
    Some((document, text))
}

fn graphs(sources: &Sources) -> Vec<(&'static str, Graph)> {
    let mut graphs = vec![("crates", crates(sources))];
    graphs.extend(DRAWN.iter().map(|(name, folder)| (*name, modules(sources, folder))));
    graphs
}

fn crates(sources: &Sources) -> Graph {
    let mut graph = Graph::new();
    for (path, text) in sources {
        let Some(folder) = path.strip_suffix("/Cargo.toml") else { continue };
        let name = folder.rsplit('/').next().unwrap_or_default();
        let is_ours = folder == name || folder == format!("crates/{name}");
        if let (true, Ok(manifest)) = (is_ours, text.parse::<toml::Table>()) {
            graph.insert(
                name.to_owned(),
                dependencies::ours_used(&manifest).into_iter().filter(|used| used != name).collect(),
            );
        }
    }
    graph
}

fn modules(sources: &Sources, folder: &str) -> Graph {
    let source_folder = format!("{folder}/src/");
    let files: Vec<(Vec<&str>, &str)> = sources
        .iter()
        .filter_map(|(path, text)| Some((module_path(path.strip_prefix(&source_folder)?)?, text.as_str())))
        .collect();
    let mut graph: Graph =
        files.iter().filter_map(|(path, _)| Some(((*path.first()?).to_owned(), BTreeSet::new()))).collect();
    let names: BTreeSet<String> = graph.keys().cloned().collect();
    for (path, text) in &files {
        let (Some(module), Ok(tokens)) = (path.first(), tokens(text)) else { continue };
        let used = used_from_root(&without_tests(tokens), path.len());
        let used = used.into_iter().filter(|name| name != module && names.contains(name));
        graph.entry((*module).to_owned()).or_default().extend(used);
    }
    graph
}

/// First names of the paths that begin at the crate's root, in a file that is `depth` modules below it.
fn used_from_root(tokens: &[Token], depth: usize) -> BTreeSet<String> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut used = BTreeSet::new();
    for at in 0..tokens.len() {
        let mut next = at;
        if text(at) == "crate" && text(at + 1) == "::" {
            next = at + 2;
        } else if depth > 0 && text(at) == "super" && (at == 0 || text(at - 1) != "::") {
            let mut ups = 0;
            while text(next) == "super" && text(next + 1) == "::" {
                next += 2;
                ups += 1;
            }
            if ups != depth {
                continue;
            }
        }
        if next == at {
            continue;
        }
        if text(next) != "{" {
            used.insert(text(next).to_owned());
            continue;
        }
        let end = after_group(tokens, next).unwrap_or(tokens.len());
        let mut open = 0_usize;
        for inner in next..end {
            match text(inner) {
                "{" => open += 1,
                "}" => open = open.saturating_sub(1),
                name if open == 1 && matches!(text(inner - 1), "{" | ",") => drop(used.insert(name.to_owned())),
                _ => {}
            }
        }
    }
    used
}

/// Groups of names that reach each other, each with two names or more.
fn circles(graph: &Graph) -> Vec<BTreeSet<String>> {
    let reach = |start: &String| -> BTreeSet<String> {
        let mut seen = BTreeSet::new();
        let mut open = vec![start];
        while let Some(name) = open.pop() {
            let fresh = graph.get(name).into_iter().flatten().filter(|next| seen.insert((*next).clone()));
            open.extend(fresh);
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|name| (name, reach(name))).collect();
    let meets = |a: &String, b: &String| reached.get(a).is_some_and(|found| found.contains(b));
    let groups: BTreeSet<BTreeSet<String>> = graph
        .keys()
        .map(|name| graph.keys().filter(|other| meets(name, other) && meets(other, name)).cloned().collect())
        .filter(|group: &BTreeSet<String>| group.len() > 1)
        .collect();
    groups.into_iter().collect()
}

/// Pairs that use each other directly inside a larger circle, each as one name: `a <-> b`. They are known one by one,
/// so that a circle cannot get tighter unseen.
fn pairs(graph: &Graph) -> Vec<BTreeSet<String>> {
    let uses = |a: &String, b: &String| graph.get(a).is_some_and(|used| used.contains(b));
    let larger: Vec<_> = circles(graph).into_iter().filter(|circle| circle.len() > 2).collect();
    let mut found = Vec::new();
    for circle in &larger {
        for (a, b) in circle.iter().flat_map(|a| circle.iter().map(move |b| (a, b))) {
            if a < b && uses(a, b) && uses(b, a) {
                found.push(BTreeSet::from([format!("{a} <-> {b}")]));
            }
        }
    }
    found
}

/// The circles of the map, and those between the files of each folder that the map does not show.
fn every_circle(sources: &Sources, graphs: &[(&'static str, Graph)]) -> Vec<(String, BTreeSet<String>)> {
    let mut found = all_circles(graphs);
    found.extend(all_circles(&folders::graphs(sources, &DRAWN.map(|(_, folder)| folder))));
    found
}

fn all_circles(graphs: &[(impl ToString, Graph)]) -> Vec<(String, BTreeSet<String>)> {
    let of = |graph| circles(graph).into_iter().chain(pairs(graph));
    graphs.iter().flat_map(|(name, graph)| of(graph).map(move |circle| (name.to_string(), circle))).collect()
}

/// The entries `crate: module, module` and `crate: module <-> module` with their lines.
fn reviewed(list: &str) -> Vec<(usize, String, BTreeSet<String>)> {
    let entries = list.lines().zip(1..).filter(|(line, _)| !line.starts_with('#'));
    let entries = entries.filter_map(|(line, number)| {
        let (name, members) = line.split_once(':')?;
        Some((number, name.trim().to_owned(), members.split(',').map(|member| member.trim().to_owned()).collect()))
    });
    entries.collect()
}

fn joined(names: &BTreeSet<String>) -> String {
    names.iter().cloned().collect::<Vec<_>>().join(", ")
}

fn with_map(document: &str, graphs: &[(&'static str, Graph)]) -> Option<String> {
    let (before, rest) = document.split_once(&format!("{BEGIN}\n"))?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n{}{END}{after}", drawing(graphs)))
}

/// A Mermaid flowchart for each graph, folded away but for the first, with its circles below it.
fn drawing(graphs: &[(&'static str, Graph)]) -> String {
    let mut text = String::new();
    for (name, graph) in graphs {
        let is_first = *name == "crates";
        if !is_first {
            text.push_str(&format!("\n<details><summary>Modules of <code>{name}</code></summary>\n"));
        }
        text.push_str("\n```mermaid\nflowchart LR\n");
        for (from, used) in graph {
            let to: Vec<String> = used.iter().map(|to| node(to)).collect();
            let arrow = if to.is_empty() { String::new() } else { format!(" --> {}", to.join(" & ")) };
            text.push_str(&format!("  {}{arrow}\n", node(from)));
        }
        text.push_str("```\n\n");
        let circles = circles(graph);
        if circles.is_empty() {
            text.push_str("No circles.\n");
        }
        for circle in circles {
            text.push_str(&wrapped(&format!("Circle: {}.", joined(&circle))));
        }
        let pairs: Vec<String> = pairs(graph).iter().map(joined).collect();
        if !pairs.is_empty() {
            text.push_str(&wrapped(&format!("\nUse each other directly: {}.", pairs.join(", "))));
        }
        if !is_first {
            text.push_str("\n</details>\n");
        }
    }
    text
}

/// Some names, such as `link`, are words of the Mermaid language; a prefix keeps them apart.
fn node(name: &str) -> String {
    format!("m_{name}[{name}]")
}

fn wrapped(text: &str) -> String {
    const WIDTH: usize = 118;
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(files: &[(&str, &str)]) -> Sources {
        files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect()
    }

    fn names(found: &BTreeSet<String>) -> Vec<&str> {
        found.iter().map(String::as_str).collect()
    }

    #[test]
    fn arrows_are_the_paths_from_the_root() {
        let graph = modules(
            &sources(&[
                ("server/src/lib.rs", "mod a; mod b; mod c; mod d;"),
                (
                    "server/src/a.rs",
                    "use crate::{b::{self, c}, other, d as e};\n#[cfg(test)]\nmod tests { use crate::c; }",
                ),
                ("server/src/b/mod.rs", "use super::c;\n// crate::d\nfn f() { crate::Unknown }"),
                ("server/src/b/deep.rs", "use super::super::d::X;\nuse super::c;"),
                ("server/src/c.rs", "#[cfg(test)]\nuse crate::a;\n#[cfg(test)]\n#[path = \"c_tests.rs\"]\nmod tests;"),
                ("server/src/c_tests.rs", "use crate::b;"),
                ("server/src/d.rs", "fn f() { crate::a::g() }"),
            ]),
            "server",
        );
        let uses = |name: &str| names(&graph[name]);
        assert_eq!((uses("a"), uses("b"), uses("c"), uses("d")), (vec!["b", "d"], vec!["c", "d"], vec![], vec!["a"]));
        assert_eq!(circles(&graph).iter().map(names).collect::<Vec<_>>(), [["a", "b", "d"]]);
    }

    const DOCUMENT: &str = "# A\n<!-- map of imports: written by `cargo xtask tidy --map` -->\nold\n<!-- end of the map of imports -->\nend\n";

    fn circle_of(members: &[&str], list: &str) -> Sources {
        let mut files = sources(&[(FILE, DOCUMENT), (CIRCLES, list)]);
        for (at, name) in members.iter().enumerate() {
            let next = members[(at + 1) % members.len()];
            files.insert(format!("crates/store/src/{name}.rs"), format!("use crate::{next};\n"));
        }
        if let Some((document, _)) = rewritten(&files) {
            files.insert(FILE.to_owned(), document);
        }
        files
    }

    fn rules(sources: &Sources) -> Vec<&'static str> {
        check(sources).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn a_map_that_is_out_of_date_is_found() {
        let mut files = circle_of(&["a"], "");
        assert_eq!(rules(&files), [""; 0]);
        assert!(files[FILE].starts_with("# A\n<!--") && files[FILE].ends_with("-->\nend\n"));
        files.insert("crates/store/src/b.rs".to_owned(), "use crate::a;".to_owned());
        assert_eq!(rules(&files), [RULE]);
        files.insert(FILE.to_owned(), "no place for it".to_owned());
        assert_eq!(rules(&files), [RULE]);
    }

    #[test]
    fn a_new_circle_is_found_and_the_list_can_only_shrink() {
        assert_eq!(rules(&circle_of(&["a", "b"], "store: a, b\n")), [""; 0]);
        assert_eq!(rules(&circle_of(&["a", "b"], "")), [CIRCLE_RULE]);
        assert_eq!(rules(&circle_of(&["a", "b", "c"], "store: a, b\n")), [CIRCLE_RULE, CIRCLE_RULE]);
        let smaller = circle_of(&["a", "b"], "# note\nstore: a, b, c\n");
        assert_eq!(rules(&smaller), [CIRCLE_RULE]);
        assert_eq!(rewritten(&smaller).unwrap().1, "# note\nstore: a, b\n");
        assert_eq!(rewritten(&circle_of(&["a", "b"], "# note\n")).unwrap().1, "# note\n");
    }

    #[test]
    fn a_new_pair_inside_a_known_circle_is_found() {
        let mut files = circle_of(&["a", "b", "c"], "store: a, b, c\n");
        assert_eq!(rules(&files), [""; 0]);
        files.insert("crates/store/src/b.rs".to_owned(), "use crate::{a, c};".to_owned());
        files.insert(FILE.to_owned(), rewritten(&files).unwrap().0);
        assert_eq!(rules(&files), [CIRCLE_RULE]);
        files.insert(CIRCLES.to_owned(), "store: a, b, c\nstore: a <-> b\n".to_owned());
        assert_eq!(rules(&files), [""; 0]);
    }

    #[test]
    fn a_circle_between_the_files_of_a_folder_is_found() {
        let mut files = circle_of(&["a"], "");
        files.insert("crates/runner/src/b/c.rs".to_owned(), "use super::d::D;".to_owned());
        files.insert("crates/runner/src/b/d.rs".to_owned(), "fn f() { crate::b::c::g() }".to_owned());
        assert_eq!(rules(&files), [CIRCLE_RULE]);
        files.insert(CIRCLES.to_owned(), "crates/runner/src/b: c, d\n".to_owned());
        assert_eq!(rules(&files), [""; 0]);
        files.insert("crates/runner/src/b/d.rs".to_owned(), String::new());
        assert_eq!(rules(&files), [CIRCLE_RULE], "an entry that is not needed");
    }

    #[test]
    fn crates_are_drawn_from_their_manifests() {
        let graph = crates(&sources(&[
            ("Cargo.toml", "[workspace]\n"),
            ("app/Cargo.toml", "[dependencies]\nwire.workspace = true\nserde = \"1\"\n"),
            ("crates/wire/Cargo.toml", "[dev-dependencies]\ntestkit.workspace = true\n"),
        ]));
        assert_eq!(
            graph.iter().map(|(name, used)| (name.as_str(), names(used))).collect::<Vec<_>>(),
            [("app", vec!["wire"]), ("wire", vec![])]
        );
        let drawn = drawing(&[("crates", graph)]);
        assert_eq!(
            drawn,
            "\n```mermaid\nflowchart LR\n  m_app[app] --> m_wire[wire]\n  m_wire[wire]\n```\n\nNo circles.\n"
        );
    }
}
