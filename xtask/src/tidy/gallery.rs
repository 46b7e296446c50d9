//! The rule that the gallery shows every component of the pages, by itself or inside of another one.

use super::{Finding, Sources};

pub const RULE: &str = "gallery";

const COMPONENTS: &str = "app/src/ui/";
const GALLERY: &str = "app/examples/gallery/";

/// Components that neither the gallery nor another component renders.
pub fn check(sources: &Sources) -> Vec<Finding> {
    let is_shown = |name: &str| {
        let is_read = |path: &str| path.starts_with(COMPONENTS) || path.starts_with(GALLERY);
        sources.iter().any(|(path, text)| is_read(path) && renders(text, name))
    };
    let mut findings = Vec::new();
    for (path, text) in sources.iter().filter(|(path, _)| path.starts_with(COMPONENTS)) {
        for (line, name) in text.lines().enumerate().filter_map(|(at, line)| Some((at + 1, component(line)?))) {
            if !is_shown(name) {
                findings.push(Finding::new(path, line, RULE, format!("{GALLERY} does not show {name}")));
            }
        }
    }
    findings
}

/// The name of the component that a line declares.
fn component(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("pub fn ")?;
    let name = &rest[..rest.find(|letter: char| !letter.is_alphanumeric())?];
    name.starts_with(char::is_uppercase).then_some(name)
}

fn renders(text: &str, name: &str) -> bool {
    let tag = format!("<{name}");
    text.match_indices(&tag).any(|(at, _)| !text[at + tag.len()..].starts_with(char::is_alphanumeric))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_that_nothing_shows_is_found() {
        let button =
            "#[component]\npub fn Button() {}\n\n#[component]\npub fn ButtonLink<'a>() {}\n\npub fn look() {}\n";
        let sources = |gallery: &str| {
            Sources::from([
                ("app/src/ui/button.rs".to_owned(), button.to_owned()),
                ("app/src/ui/bar.rs".to_owned(), "pub fn Bar() { view! { <Button/> } }\n".to_owned()),
                ("app/src/inbox/bar.rs".to_owned(), "pub fn Other() { view! { <ButtonLink/> } }\n".to_owned()),
                ("app/examples/gallery/components.rs".to_owned(), gallery.to_owned()),
            ])
        };
        let found: Vec<_> = check(&sources("<Bar/>")).into_iter().map(|finding| (finding.file, finding.line)).collect();
        assert_eq!(found, [("app/src/ui/button.rs".to_owned(), 5)]);
        assert!(check(&sources("<Bar/> <ButtonLink\nhref=\"/\"/>")).is_empty());
    }
}
