//! Rules over the pictures of README and docs: `cargo xtask shots` takes each one that is shown, and each one that it
//! takes is shown.

use std::collections::{BTreeMap, BTreeSet};

use super::{Finding, Sources};

pub const RULE: &str = "picture";
/// Folder of the pictures.
pub const FOLDER: &str = "docs/images/";
/// Takes the pictures.
const SCRIPT: &str = "end2end/shots/pages.ts";
const SCHEMES: [&str; 2] = ["light", "dark"];

/// Compares the pictures that the script takes with those in the folder and those in Markdown files.
pub fn check(sources: &Sources) -> Vec<Finding> {
    let Some(script) = sources.get(SCRIPT) else { return Vec::new() };
    let taken: BTreeSet<String> =
        names(script).into_iter().flat_map(|name| SCHEMES.map(|scheme| format!("{name}-{scheme}.png"))).collect();
    let shown = shown_pictures(sources);
    let stored: BTreeSet<&str> = sources.keys().filter_map(|path| path.strip_prefix(FOLDER)).collect();
    let mut findings = Vec::new();
    for (picture, (file, line)) in shown.iter().filter(|(picture, _)| !taken.contains(*picture)) {
        findings.push(Finding::new(file, *line, RULE, format!("{picture} is shown, and {SCRIPT} does not take it")));
    }
    for picture in stored.iter().filter(|picture| !taken.contains(**picture)) {
        findings.push(Finding::new(&format!("{FOLDER}{picture}"), 1, RULE, format!("{SCRIPT} does not take it")));
    }
    for picture in &taken {
        if !shown.contains_key(picture) {
            findings.push(Finding::new(SCRIPT, 1, RULE, format!("{picture} is taken and not shown in a document")));
        }
        if !stored.contains(picture.as_str()) {
            findings.push(Finding::new(SCRIPT, 1, RULE, format!("{FOLDER}{picture} is missing: cargo xtask shots")));
        }
    }
    findings
}

/// Names of the pages that the script opens, without the colour scheme: keys of `pages`, and arguments of `name`.
fn names(script: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_in_list = false;
    for line in script.lines() {
        if line.starts_with("const pages") {
            is_in_list = true;
        } else if line == "};" {
            is_in_list = false;
        } else if is_in_list
            && let Some(entry) = line.strip_prefix("  ")
            && !entry.starts_with(' ')
            && let Some((key, _)) = entry.split_once(':')
        {
            names.insert(key.trim_matches('"').to_owned());
        }
        if let Some((_, argument)) = line.split_once("name(\"")
            && let Some((name, _)) = argument.split_once('"')
        {
            names.insert(name.to_owned());
        }
    }
    names
}

/// Pictures in Markdown files, with the first place of each.
fn shown_pictures(sources: &Sources) -> BTreeMap<String, (&str, usize)> {
    let mut shown = BTreeMap::new();
    for (path, text) in sources.iter().filter(|(path, _)| path.ends_with(".md")) {
        for (text, line) in text.lines().zip(1..) {
            for after in text.split("images/").skip(1) {
                if let Some((name, _)) = after.split_once(".png") {
                    shown.entry(format!("{name}.png")).or_insert((path.as_str(), line));
                }
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKES: &str = "const pages: Record<string, Open> = {\n  today: (page) => page.goto(`${url}/today`),\n  \"form-editor\": async (page) => {\n    await page.goto({ a: 1 });\n  },\n};\nawait page.screenshot({ path: name(\"form\") });\n";

    #[test]
    fn the_names_of_pictures_are_read_from_the_script() {
        assert_eq!(names(TAKES).into_iter().collect::<Vec<_>>(), ["form", "form-editor", "today"]);
    }

    #[test]
    fn a_picture_is_taken_stored_and_shown_or_found() {
        let script = "const pages = {\n  today: 1,\n};\n";
        let both = "<source srcset=\"images/today-dark.png\"><img src=\"images/today-light.png\">\n";
        let of = |markdown: &str, stored: &[&str]| {
            let mut sources = Sources::from([
                (SCRIPT.to_owned(), script.to_owned()),
                ("docs/today.md".to_owned(), markdown.to_owned()),
            ]);
            sources.extend(stored.iter().map(|name| (format!("{FOLDER}{name}"), String::new())));
            check(&sources).into_iter().map(|finding| finding.what).collect::<Vec<_>>()
        };
        let pair = ["today-dark.png", "today-light.png"];
        assert_eq!(of(both, &pair), [""; 0]);
        assert_eq!(of(both, &pair[..1]), ["docs/images/today-light.png is missing: cargo xtask shots"]);
        assert_eq!(of("images/today-dark.png", &pair), ["today-light.png is taken and not shown in a document"]);
        let other = format!("{both}![A page](images/old.png)\n");
        assert_eq!(of(&other, &pair), [format!("old.png is shown, and {SCRIPT} does not take it")]);
        assert_eq!(of(both, &[pair[0], pair[1], "old.png"]), [format!("{SCRIPT} does not take it")]);
        assert!(check(&Sources::new()).is_empty());
    }
}
