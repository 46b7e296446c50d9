//! Sections of a Markdown document: a heading and everything up to the next heading of the same or a higher level.
//!
//! Headings are lines that begin with one to six `#`. Lines in fenced code are not headings. Headings that are
//! underlined are text here: a line of dashes below a line could as well end a list.

use std::ops::Range;

/// A section of a document. Ranges are bytes of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Section {
    /// Level of the heading, 1 to 6.
    pub level: u8,
    /// Texts of the headings above this one, outermost first, and its own as the last.
    pub path: Vec<String>,
    /// The line of the heading, with its end.
    pub heading: Range<usize>,
    /// The heading and everything that belongs to it.
    pub span: Range<usize>,
}

/// Why a heading path names no section.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SectionError {
    /// No section has this path.
    #[error("there is no section `{0}`")]
    Missing(String),
    /// Several sections have this path.
    #[error("{count} sections are called `{path}`")]
    Ambiguous {
        /// The path, its headings joined by ` > `.
        path: String,
        /// Number of sections with this path.
        count: usize,
    },
}

/// Returns the sections of a text, in order.
pub fn sections(text: &str) -> Vec<Section> {
    let mut found: Vec<Section> = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let from = at;
        at += line.len();
        if let Some(Fence { mark, length, has_backquote, has_text }) = fence_of(line) {
            fence = match fence {
                None if !(mark == '`' && has_backquote) => Some((mark, length)),
                Some((open, least)) if mark == open && length >= least && !has_text => None,
                other => other,
            };
            continue;
        }
        let Some((level, title)) = heading_of(line).filter(|_| fence.is_none()) else { continue };
        while open.last().is_some_and(|last| found[*last].level >= level) {
            if let Some(last) = open.pop() {
                found[last].span.end = from;
            }
        }
        let mut path = open.last().map(|last| found[*last].path.clone()).unwrap_or_default();
        path.push(title.to_owned());
        open.push(found.len());
        found.push(Section { level, path, heading: from..at, span: from..text.len() });
    }
    found
}

/// A line that begins or ends fenced code.
struct Fence {
    /// The character that it consists of.
    mark: char,
    /// How many of them there are.
    length: usize,
    /// Whether a backquote follows.
    has_backquote: bool,
    /// Whether any text follows.
    has_text: bool,
}

fn fence_of(line: &str) -> Option<Fence> {
    let inner = unindented(line)?;
    let mark = inner.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = inner.chars().take_while(|next| *next == mark).count();
    let info = inner[length..].trim();
    (length >= 3).then(|| Fence { mark, length, has_backquote: info.contains('`'), has_text: !info.is_empty() })
}

fn heading_of(line: &str) -> Option<(u8, &str)> {
    let inner = unindented(line)?;
    let level = inner.bytes().take_while(|b| *b == b'#').count();
    let rest = &inner[level..];
    if !(1..=6).contains(&level) || !(rest.trim().is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    // Hashes that close the heading are not part of it.
    let open = title.trim_end_matches('#');
    let title = if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { title };
    u8::try_from(level).ok().map(|level| (level, title))
}

/// The line without up to three spaces before it; `None` for indented code.
fn unindented(line: &str) -> Option<&str> {
    let inner = line.trim_start_matches(' ');
    (line.len() - inner.len() <= 3).then_some(inner)
}

/// Returns the one section with this heading path. A path may leave out outer headings, such as the title of the
/// document; a section with exactly this path is preferred.
///
/// # Errors
/// [`SectionError`] if no section or several have the path.
pub fn find(text: &str, path: &[&str]) -> Result<Section, SectionError> {
    let joined = || path.join(" > ");
    let ends: Vec<Section> = sections(text)
        .into_iter()
        .filter(|section| section.path.len() >= path.len() && !path.is_empty())
        .filter(|section| section.path[section.path.len() - path.len()..].iter().zip(path).all(|(a, b)| a == b))
        .collect();
    let exact: Vec<&Section> = ends.iter().filter(|section| section.path.len() == path.len()).collect();
    let chosen: Vec<&Section> = if exact.is_empty() { ends.iter().collect() } else { exact };
    match chosen[..] {
        [one] => Ok(one.clone()),
        [] => Err(SectionError::Missing(joined())),
        _ => Err(SectionError::Ambiguous { path: joined(), count: chosen.len() }),
    }
}

/// Returns the text with the content of a section replaced. The heading stays; sections inside it are replaced too.
///
/// # Errors
/// [`SectionError`]
pub fn replace(text: &str, path: &[&str], content: &str) -> Result<String, SectionError> {
    let section = find(text, path)?;
    let mut heading = text[section.heading.clone()].to_owned();
    if !heading.ends_with('\n') {
        heading.push('\n');
    }
    let after = &text[section.span.end..];
    let gap = if after.is_empty() { "" } else { "\n" };
    Ok([&text[..section.heading.start], &heading, "\n", content.trim_matches('\n'), "\n", gap, after].concat())
}

/// Returns the text with lines added at the end of a section, before the first section inside it.
///
/// # Errors
/// [`SectionError`]
pub fn append(text: &str, path: &[&str], lines: &str) -> Result<String, SectionError> {
    let section = find(text, path)?;
    let inner = sections(text).into_iter().map(|other| other.heading.start);
    let end = inner.filter(|at| *at > section.heading.start).min().unwrap_or(text.len()).min(section.span.end);
    let (before, after) = text.split_at(end);
    let kept = before.trim_end_matches('\n');
    // A list continues without an empty line.
    let last = kept.rsplit('\n').next().unwrap_or_default().trim_start();
    let goes_on = last.starts_with("- ") && lines.trim_start().starts_with("- ");
    let (gap, below) = (if goes_on { "\n" } else { "\n\n" }, if after.is_empty() { "" } else { "\n" });
    Ok([kept, gap, lines.trim_matches('\n'), "\n", below, after].concat())
}

/// Returns the names in the list of the section `Aliases` of a person's document.
pub fn aliases(text: &str) -> Vec<String> {
    let Ok(section) = find(text, &["Aliases"]) else { return Vec::new() };
    let lines = text[section.heading.end..section.span.end].lines();
    lines.filter_map(|line| line.trim_start().strip_prefix("- ")).map(|name| name.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "# Ines\n\nintro\n\n## Notes\n\n- a\n\n### Work\n\nb\n\n## Aliases\n\n- ines\n- Inés K.\n";

    #[test]
    fn a_section_reaches_to_the_next_heading_of_its_level() {
        let shown: Vec<_> = sections(TEXT).into_iter().map(|s| (s.path.join(">"), TEXT[s.span].to_owned())).collect();
        assert_eq!(shown[1], ("Ines>Notes".into(), "## Notes\n\n- a\n\n### Work\n\nb\n\n".into()));
        assert_eq!(shown[2], ("Ines>Notes>Work".into(), "### Work\n\nb\n\n".into()));
        assert_eq!(shown[3].0, "Ines>Aliases");
        assert_eq!(aliases(TEXT), ["ines", "Inés K."]);
    }

    #[test]
    fn fenced_code_and_indented_code_hold_no_headings() {
        let text = "```\n# a\n~~~\n# b\n````\n# c\n    # d\n#e\n####### f\n#\n# g ##\n~~~ x\n# h\n~~~ y\n~~~\n# i#\n";
        let titles: Vec<_> = sections(text).into_iter().map(|s| s.path.join(">")).collect();
        assert_eq!(titles, ["c", "", "g", "i#"]);
    }

    #[test]
    fn a_path_must_name_one_section() {
        let text = "# A\n## X\n# B\n## X\n## Y\n# Y\n";
        assert_eq!(find(text, &["X"]), Err(SectionError::Ambiguous { path: "X".into(), count: 2 }));
        assert_eq!(find(text, &["B", "X"]).unwrap().path, ["B", "X"]);
        assert_eq!(find(text, &["Y"]).unwrap().path, ["Y"]);
        assert_eq!(find(text, &["A", "Y"]), Err(SectionError::Missing("A > Y".into())));
        assert!(find(text, &[]).is_err());
    }

    #[test]
    fn sections_are_replaced_and_added_to() {
        let replaced = replace(TEXT, &["Notes"], "- new\n").unwrap();
        assert_eq!(replaced, "# Ines\n\nintro\n\n## Notes\n\n- new\n\n## Aliases\n\n- ines\n- Inés K.\n");
        let added = append(TEXT, &["Notes"], "- c").unwrap();
        assert!(added.contains("- a\n- c\n\n### Work"), "{added}");
        let added = append(TEXT, &["Aliases"], "- third\n").unwrap();
        assert!(added.ends_with("- Inés K.\n- third\n"), "{added}");
        assert_eq!(append("# A", &["A"], "b").unwrap(), "# A\n\nb\n");
        assert_eq!(replace("# A", &["A"], "b").unwrap(), "# A\n\nb\n");
    }

    proptest! {
        #[test]
        fn sections_are_found_in_any_text_and_keep_the_rest(text in "(#{1,3} [ab]\n|[-`~a ]{0,5}\n|é){0,12}") {
            for section in sections(&text) {
                prop_assert!(text[section.span.clone()].starts_with(&text[section.heading.clone()]));
                let path: Vec<&str> = section.path.iter().map(String::as_str).collect();
                if let Ok(found) = find(&text, &path) {
                    let after = replace(&text, &path, "x").unwrap();
                    prop_assert!(after.starts_with(&text[..found.heading.end]));
                    prop_assert!(after.ends_with(&text[found.span.end..]));
                }
            }
        }
    }
}
