//! Sections of a markdown document: finding one by its headings, and changing it.
//!
//! A section begins with an ATX heading and ends before the next heading of the same or a higher level. Lines inside
//! fenced code are no headings.

/// A heading outside of fenced code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    /// Level, from 1 to 6.
    pub level: u8,
    /// Title without marks.
    pub title: String,
    /// Index of the line, from 0.
    pub line: usize,
}

/// The lines of one section, as indices from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// Line of the heading.
    pub heading: usize,
    /// First line after the section.
    pub end: usize,
    /// Level of the heading.
    pub level: u8,
}

/// Why a section is not found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotFound {
    /// No heading has this path.
    #[error("no section has these headings")]
    Missing,
    /// More than one heading has this path.
    #[error("more than one section has these headings; name the headings above it too")]
    Ambiguous,
}

/// Whether a line is an ATX heading, wherever it is.
pub fn is_heading(line: &str) -> bool {
    heading(line).is_some()
}

fn heading(line: &str) -> Option<(u8, &str)> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let text = line.trim_start_matches(' ');
    let level = text.len() - text.trim_start_matches('#').len();
    let rest = &text[level..];
    if indent > 3 || !(1..=6).contains(&level) || !(rest.is_empty() || rest.starts_with([' ', '\t'])) {
        return None;
    }
    let title = rest.trim();
    // A closing run of marks is no part of the title.
    let closed = title.trim_end_matches('#');
    let title = if closed.is_empty() || closed.ends_with([' ', '\t']) { closed.trim_end() } else { title };
    Some((u8::try_from(level).unwrap_or(6), title))
}

/// A line that begins or ends fenced code.
struct Fence {
    /// The character that it consists of.
    mark: char,
    /// How many of them there are.
    length: usize,
    /// Whether no text follows. Only such a line ends code.
    is_bare: bool,
}

fn fence(line: &str) -> Option<Fence> {
    let indent = line.len() - line.trim_start_matches(' ').len();
    let text = line.trim_start_matches(' ');
    let mark = text.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = text.chars().take_while(|c| *c == mark).count();
    let rest = &text[length..];
    if indent > 3 || length < 3 || (mark == '`' && rest.contains('`')) {
        return None;
    }
    Some(Fence { mark, length, is_bare: rest.trim().is_empty() })
}

/// Returns for each line the number of the block of fenced code that it is part of, from 1; 0 for a line outside of
/// code. The second value says whether a fence is still open at the end.
pub fn blocks(text: &str) -> (Vec<usize>, bool) {
    let (mut numbers, mut count) = (Vec::new(), 0);
    let mut open: Option<(char, usize)> = None;
    for line in text.lines() {
        let was_open = open.is_some();
        match (open, fence(line)) {
            (Some((mark, least)), Some(Fence { mark: other, length, is_bare: true }))
                if mark == other && length >= least =>
            {
                open = None;
            }
            (Some(_), _) | (None, None) => {}
            (None, Some(Fence { mark, length, .. })) => {
                open = Some((mark, length));
                count += 1;
            }
        }
        numbers.push(if was_open || open.is_some() { count } else { 0 });
    }
    (numbers, open.is_some())
}

/// Returns the headings outside of fenced code, and whether a fence is still open at the end.
pub fn headings(text: &str) -> (Vec<Heading>, bool) {
    let (blocks, is_open) = blocks(text);
    let outside = text.lines().enumerate().zip(blocks).filter(|(_, block)| *block == 0);
    let found = outside.filter_map(|((line, content), _)| {
        let (level, title) = heading(content)?;
        Some(Heading { level, title: title.to_owned(), line })
    });
    (found.collect(), is_open)
}

/// Finds the one section whose headings, from the document's first level inwards, end with `path`.
///
/// # Errors
/// [`NotFound`] unless exactly one section has this path.
pub fn find(text: &str, path: &[String]) -> Result<Span, NotFound> {
    let (all, _) = headings(text);
    let lines = text.lines().count();
    let mut above: Vec<&Heading> = Vec::new();
    let mut found = None;
    for (at, heading) in all.iter().enumerate() {
        above.retain(|outer| outer.level < heading.level);
        above.push(heading);
        let matches = !path.is_empty()
            && above.len() >= path.len()
            && above[above.len() - path.len()..].iter().zip(path).all(|(heading, title)| heading.title == title.trim());
        if !matches {
            continue;
        }
        if found.is_some() {
            return Err(NotFound::Ambiguous);
        }
        let end = all[at + 1..].iter().find(|next| next.level <= heading.level).map_or(lines, |next| next.line);
        found = Some(Span { heading: heading.line, end, level: heading.level });
    }
    found.ok_or(NotFound::Missing)
}

/// Adds a body at the end of a section; at the end of the document if `path` is empty.
///
/// # Errors
/// [`NotFound`] unless exactly one section has this path.
pub fn append(text: &str, path: &[String], body: &str) -> Result<String, NotFound> {
    let lines: Vec<&str> = text.lines().collect();
    let span = if path.is_empty() { None } else { Some(find(text, path)?) };
    let (from, mut end) = span.map_or((0, lines.len()), |span| (span.heading, span.end));
    while end > from && lines[end - 1].trim().is_empty() {
        end -= 1;
    }
    let body = body.trim_matches('\n');
    let mut joined: Vec<&str> = lines[..end].to_vec();
    let continues = joined.last().is_some_and(|last| is_item(last)) && body.lines().next().is_some_and(is_item);
    if !joined.is_empty() && !continues {
        joined.push("");
    }
    joined.extend(body.lines());
    joined.extend(rest(&lines, end));
    Ok(ended(&joined))
}

/// Puts a body in place of all that a section holds below its heading.
///
/// # Errors
/// [`NotFound`] unless exactly one section has this path.
pub fn replace(text: &str, path: &[String], body: &str) -> Result<String, NotFound> {
    let span = find(text, path)?;
    let lines: Vec<&str> = text.lines().collect();
    let mut joined: Vec<&str> = lines[..=span.heading].to_vec();
    joined.push("");
    joined.extend(body.trim_matches('\n').lines());
    joined.extend(rest(&lines, span.end));
    Ok(ended(&joined))
}

/// Removes a section with its heading.
///
/// # Errors
/// [`NotFound`] unless exactly one section has this path.
pub fn retire(text: &str, path: &[String]) -> Result<String, NotFound> {
    let span = find(text, path)?;
    let lines: Vec<&str> = text.lines().collect();
    let mut joined: Vec<&str> = lines[..span.heading].to_vec();
    while joined.last().is_some_and(|last| last.trim().is_empty()) {
        joined.pop();
    }
    joined.extend(rest(&lines, span.end));
    Ok(ended(&joined))
}

/// Removes `count` lines from the one with this index on, with the blank lines before and after them.
pub fn remove_lines(text: &str, first: usize, count: usize) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut joined: Vec<&str> = lines.iter().copied().take(first).collect();
    while joined.last().is_some_and(|last| last.trim().is_empty()) {
        joined.pop();
    }
    let end = first.saturating_add(count).min(lines.len());
    let mut after = rest(&lines, end);
    let continues = joined.last().is_some_and(|last| is_item(last)) && after.get(1).is_some_and(|next| is_item(next));
    // The first of them is the blank line between.
    if !after.is_empty() && (joined.is_empty() || continues) {
        after.remove(0);
    }
    joined.extend(after);
    ended(&joined)
}

/// Adds a list item to the section with this title on the second level. The section is added if there is none.
///
/// # Errors
/// [`NotFound::Ambiguous`] if the document has several sections with this title.
pub fn add_item(text: &str, section: &str, item: &str) -> Result<String, NotFound> {
    match append(text, &[section.to_owned()], &format!("- {item}")) {
        Err(NotFound::Missing) => append(text, &[], &format!("## {section}\n\n- {item}")),
        other => other,
    }
}

/// Whether a line begins an item of a list.
pub(super) fn is_item(line: &str) -> bool {
    line.trim_start().starts_with(['-', '*', '+'])
}

/// The lines from `from` on, after one blank line; none if only blank lines are left.
fn rest<'t>(lines: &[&'t str], from: usize) -> Vec<&'t str> {
    let left: Vec<&str> = lines[from..].iter().copied().skip_while(|line| line.trim().is_empty()).collect();
    if left.is_empty() { left } else { std::iter::once("").chain(left).collect() }
}

fn ended(lines: &[&str]) -> String {
    let mut text = lines.join("\n");
    text.truncate(text.trim_end_matches('\n').len());
    if !text.is_empty() {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TEXT: &str = "# Alice\n\nA person.\n\n## Aliases\n\n- Al\n\n## Notes\n\n- Likes tea\n\n### 2026\n\n- Moved\n\n## Other\n\n### 2026\n\nx\n";

    fn path(parts: &[&str]) -> Vec<String> {
        parts.iter().map(|part| (*part).to_owned()).collect()
    }

    #[test]
    fn a_section_is_found_by_headings_that_only_it_has() {
        assert_eq!(find(TEXT, &path(&["Notes"])), Ok(Span { heading: 8, end: 16, level: 2 }));
        assert_eq!(find(TEXT, &path(&["Alice", "Notes"])), find(TEXT, &path(&["Notes"])));
        assert_eq!(find(TEXT, &path(&["2026"])), Err(NotFound::Ambiguous));
        assert!(find(TEXT, &path(&["Notes", "2026"])).is_ok());
        assert_eq!(find(TEXT, &path(&["Alice", "2026"])), Err(NotFound::Missing));
        assert_eq!(find(TEXT, &path(&["notes"])), Err(NotFound::Missing));
        assert_eq!(find(TEXT, &[]), Err(NotFound::Missing));
    }

    #[test]
    fn headings_in_fences_and_lookalikes_are_none() {
        let text = "```md\n# A\n~~~\n# B\n```\n    # C\n#D\n####### E\n# F #\n~~~~\n# G\n~~~\n# H\n~~~~\n## I\n";
        let titles: Vec<_> = headings(text).0.into_iter().map(|h| h.title).collect();
        assert_eq!(titles, ["F", "I"]);
        assert!(headings("```\n# A\n").1);
        assert_eq!(blocks("a\n```\nb\n```\n~~~\n```\n~~~\nc\n"), (vec![0, 1, 1, 1, 2, 2, 2, 0], false));
        assert!(!headings("`code` and ``` inline ``` x\n").1);
    }

    #[test]
    fn operations_touch_only_their_section() {
        let more = append(TEXT, &path(&["Aliases"]), "- Ally").unwrap();
        assert!(more.contains("- Al\n- Ally\n\n## Notes"), "{more}");
        let new = replace(TEXT, &path(&["Notes"]), "Gone.\n").unwrap();
        assert!(new.contains("## Notes\n\nGone.\n\n## Other"), "{new}");
        let less = retire(TEXT, &path(&["Notes"])).unwrap();
        assert!(less.contains("- Al\n\n## Other\n\n### 2026"), "{less}");
        assert!(append(TEXT, &[], "## More\n\ny").unwrap().ends_with("x\n\n## More\n\ny\n"));
        assert_eq!(append("", &[], "# New\n").unwrap(), "# New\n");
        assert_eq!(add_item("# A\n", "Aliases", "Al").unwrap(), "# A\n\n## Aliases\n\n- Al\n");
        assert!(add_item(TEXT, "Aliases", "Ally").unwrap().contains("- Al\n- Ally\n"));
        assert_eq!(add_item("## Aliases\n## Aliases\n", "Aliases", "x"), Err(NotFound::Ambiguous));
    }

    #[test]
    fn removed_lines_leave_one_blank_line_between_the_rest() {
        assert_eq!(remove_lines("# A\n\n- x\n", 2, 1), "# A\n");
        assert_eq!(remove_lines("# A\n\n- x\n- y\n\n## B\n\nz\n", 2, 2), "# A\n\n## B\n\nz\n");
        assert_eq!(remove_lines("- x\n- y\n- z\n", 1, 1), "- x\n- z\n");
        assert_eq!(remove_lines("x\n\n## B\n", 0, 1), "## B\n");
        assert_eq!(remove_lines("x\n", 0, 7), "");
    }

    fn document() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just("# A".to_owned()),
            Just("## B".to_owned()),
            Just("### C".to_owned()),
            Just("```".to_owned()),
            Just(String::new()),
            "[a-c]{1,3}",
            "- [a-c]{1,3}",
        ];
        prop::collection::vec(line, 0..24).prop_map(|lines| lines.join("\n"))
    }

    proptest! {
        #[test]
        fn appending_keeps_every_line_in_its_order(text in document(), at in prop::sample::select(vec!["A", "B", "C"])) {
            let Ok(after) = append(&text, &path(&[at]), "- NEW") else { return Ok(()) };
            let words = |text: &str| text.lines().filter(|l| !l.trim().is_empty()).map(str::to_owned).collect::<Vec<_>>();
            let mut kept = words(&after);
            let before = kept.len();
            kept.retain(|line| line != "- NEW");
            prop_assert_eq!(before, kept.len() + 1);
            prop_assert_eq!(kept, words(&text));
        }

        #[test]
        fn retiring_leaves_what_is_outside_of_the_section(text in document(), at in prop::sample::select(vec!["A", "B", "C"])) {
            let Ok(span) = find(&text, &path(&[at])) else { return Ok(()) };
            let after = retire(&text, &path(&[at])).unwrap();
            let lines: Vec<_> = text.lines().collect();
            let outside = lines[..span.heading].iter().chain(&lines[span.end..]).filter(|l| !l.trim().is_empty());
            let left = after.lines().filter(|l| !l.trim().is_empty());
            prop_assert!(outside.copied().eq(left), "{after}");
        }

        #[test]
        fn a_replaced_section_is_still_found(text in document(), at in prop::sample::select(vec!["A", "B", "C"])) {
            let Ok(span) = find(&text, &path(&[at])) else { return Ok(()) };
            let after = replace(&text, &path(&[at]), "- NEW").unwrap();
            let found = find(&after, &path(&[at])).unwrap();
            prop_assert_eq!((found.heading, found.level), (span.heading, span.level));
        }
    }
}
