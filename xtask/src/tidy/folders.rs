//! Imports between the files of one folder, in every crate.
//!
//! The source of a crate and each folder below it is a graph of its files and folders. An arrow is a path in code
//! outside of tests that begins with `crate::` or `super::`. Names that a folder re-exports are not followed.

use std::collections::BTreeMap;

use super::Sources;
use super::modules::{Graph, module_path, without_tests};
use super::token::{Token, tokens};

/// Returns a graph for each folder, by its path. The crates in `drawn` are without their roots, which the map shows.
pub fn graphs(sources: &Sources, drawn: &[&str]) -> Vec<(String, Graph)> {
    let mut crates: BTreeMap<&str, Vec<(Vec<&str>, &str)>> = BTreeMap::new();
    for (path, text) in sources {
        let Some((root, file)) = path.split_once("/src/") else { continue };
        if let Some(module) = module_path(file) {
            crates.entry(root).or_default().push((module, text));
        }
    }
    let mut graphs = Vec::new();
    for (root, files) in &crates {
        let of_crate = of_crate(files).into_iter().filter(|(folder, _)| !(folder.is_empty() && drawn.contains(root)));
        graphs.extend(of_crate.map(|(folder, graph)| ([vec![*root, "src"], folder].concat().join("/"), graph)));
    }
    graphs
}

/// The graphs of one crate by the modules that lead to the folder.
fn of_crate<'a>(files: &[(Vec<&'a str>, &'a str)]) -> BTreeMap<Vec<&'a str>, Graph> {
    let mut graphs: BTreeMap<Vec<&str>, Graph> = BTreeMap::new();
    for (module, _) in files {
        for (depth, name) in module.iter().enumerate() {
            graphs.entry(module[..depth].to_vec()).or_default().entry((*name).to_owned()).or_default();
        }
    }
    for (module, text) in files {
        let Ok(tokens) = tokens(text) else { continue };
        for path in paths(&without_tests(tokens), module) {
            let shared = module.iter().zip(&path).take_while(|(own, other)| **own == other.as_str()).count();
            let (Some(from), Some(to)) = (module.get(shared), path.get(shared)) else { continue };
            let Some(graph) = graphs.get_mut(&module[..shared]).filter(|graph| graph.contains_key(to)) else {
                continue;
            };
            graph.entry((*from).to_owned()).or_default().insert(to.clone());
        }
    }
    graphs
}

/// The paths in a file that begin with `crate::` or `super::`, as they are from the crate's root.
fn paths(tokens: &[Token], module: &[&str]) -> Vec<Vec<String>> {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let (mut next, mut depth) = (at, module.len());
        if text(at) == "crate" && text(at + 1) == "::" {
            (next, depth) = (at + 2, 0);
        } else if at == 0 || text(at - 1) != "::" {
            while depth > 0 && text(next) == "super" && text(next + 1) == "::" {
                next += 2;
                depth -= 1;
            }
        }
        if next == at {
            at += 1;
            continue;
        }
        let start = module[..depth].iter().map(|name| (*name).to_owned()).collect();
        at = read(tokens, next, start, &mut found);
    }
    found
}

/// Reads a path that continues `start`, or several in braces. Returns the place after it.
fn read(tokens: &[Token], mut at: usize, mut start: Vec<String>, found: &mut Vec<Vec<String>>) -> usize {
    let text = |at: usize| tokens.get(at).map_or("", |token| token.text.as_str());
    while text(at) != "{" {
        match text(at) {
            // In braces `self` is the path before them, and `super` the module above it.
            "self" => {}
            "super" => drop(start.pop()),
            name => start.push(name.to_owned()),
        }
        if text(at + 1) != "::" {
            found.push(start);
            return at + 1;
        }
        at += 2;
    }
    at += 1;
    while at < tokens.len() && text(at) != "}" {
        at = match text(at) {
            "," => at + 1,
            "as" => at + 2,
            _ => read(tokens, at, start.clone(), found),
        };
    }
    at + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uses(files: &[(&str, &str)], drawn: &[&str]) -> Vec<String> {
        let sources = files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect();
        let mut arrows = Vec::new();
        for (folder, graph) in graphs(&sources, drawn) {
            for (from, used) in graph {
                arrows.extend(used.into_iter().map(|to| format!("{folder}: {from} > {to}")));
            }
        }
        arrows
    }

    #[test]
    fn arrows_lead_between_the_files_and_folders_of_one_folder() {
        let files = [
            ("server/src/lib.rs", "mod a; mod b;"),
            ("server/src/a/mod.rs", "mod one; mod two;\npub use one::One;"),
            ("server/src/a/one.rs", "use super::{two::{self, Two as Three}, Other};\nuse super::super::b::B;"),
            (
                "server/src/a/two.rs",
                "#[cfg(test)]\nuse super::one;\n#[cfg(all(test, unix))]\nmod tests { use super::super::one; }\nfn f() { crate::a::deep::inner::g() }",
            ),
            ("server/src/a/deep/inner.rs", "use super::{super::one::One, other};"),
            ("server/src/a/deep/other.rs", "use crate::a::deep::inner::X;"),
            ("server/src/b.rs", ""),
        ];
        let of_folders = [
            "server/src/a: deep > one",
            "server/src/a: one > two",
            "server/src/a: two > deep",
            "server/src/a/deep: inner > other",
            "server/src/a/deep: other > inner",
        ];
        assert_eq!(uses(&files, &["server"]), of_folders);
        assert_eq!(uses(&files, &[])[0], "server/src: a > b");
    }
}
