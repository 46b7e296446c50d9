//! Marks what a search in a log found in the HTML of a row, whose text is partly Markdown and partly coloured.

use domain::search::Phrase;
use std::ops::Range;

/// Elements whose text continues the text around them.
const INLINE: [&str; 9] = ["a", "b", "br", "code", "del", "em", "i", "span", "strong"];
/// Parts of the one or two tags before a text that is the page's own: a label or the name of a button.
const LABELS: [&str; 3] = ["fold-more", "tool-side", "<button"];
/// What begins an element that is folded, and what follows. The step at which a session failed is unfolded already.
const FOLDED: [(&str, &str); 3] =
    [("<details class=\"fold\"", ""), ("<details class=\"fold thinking\"", ""), ("<details class=\"tool\"", " data-")];
/// The characters that HTML writes in another way.
const ENTITIES: [(&str, char); 6] =
    [("&amp;", '&'), ("&lt;", '<'), ("&gt;", '>'), ("&quot;", '"'), ("&#39;", '\''), ("&#x27;", '\'')];

/// The HTML of a row with the phrase marked in its body. A row that shows the event `shown` is unfolded.
pub fn marked(row: &str, phrase: &Phrase, shown: Option<u64>) -> String {
    let mut html = String::with_capacity(row.len());
    let mut at = 0;
    for mark in marks(row, phrase) {
        html.push_str(&row[at..mark.start]);
        html.push_str("<mark>");
        html.push_str(&row[mark.clone()]);
        html.push_str("</mark>");
        at = mark.end;
    }
    html.push_str(&row[at..]);
    let is_shown = shown.is_some_and(|sequence| row.contains(&format!("id=\"seq-{sequence}\"")));
    if is_shown { unfolded(html) } else { html }
}

fn unfolded(row: String) -> String {
    let unfold =
        |row: String, (tag, next): (&str, &str)| row.replace(&format!("{tag}{next}"), &format!("{tag} open{next}"));
    FOLDED.into_iter().fold(row, unfold)
}

/// The places to mark. None has a tag in it.
fn marks(row: &str, phrase: &Phrase) -> Vec<Range<usize>> {
    let (mut marks, mut run) = (Vec::new(), Run::default());
    let (mut is_body, mut at) = (false, 0);
    // The two tags before a text.
    let mut tags = ["", ""];
    while at < row.len() {
        let rest = &row[at..];
        if rest.starts_with('<') {
            let tag = &rest[..tag_end(rest)];
            if tag.starts_with("<li class=\"event\"") || tag.starts_with("<details class=\"raw\"") {
                is_body = false;
            } else if tag.contains("class=\"event-body\"") {
                is_body = true;
            }
            if !is_inline(tag) {
                run.mark(phrase, &mut marks);
            }
            tags = [tags[1], tag];
            at += tag.len();
        } else {
            let text = &rest[..rest.find('<').unwrap_or(rest.len())];
            if is_body && !LABELS.iter().any(|label| tags.iter().any(|tag| tag.contains(label))) {
                run.add(text, at);
            }
            tags = ["", ""];
            at += text.len();
        }
    }
    run.mark(phrase, &mut marks);
    marks
}

/// The length of the tag that a text begins with. Attributes may have `>` in their values.
fn tag_end(rest: &str) -> usize {
    let mut quote = None;
    for (at, byte) in rest.bytes().enumerate() {
        match (byte, quote) {
            (b'>', None) => return at + 1,
            (b'"' | b'\'', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            _ => {}
        }
    }
    rest.len()
}

fn is_inline(tag: &str) -> bool {
    let name = tag.trim_start_matches(['<', '/']).split(|c: char| !c.is_ascii_alphanumeric()).next();
    name.is_some_and(|name| INLINE.contains(&name))
}

/// The text between two tags that are not inline.
#[derive(Default)]
struct Run {
    text: String,
    /// Where each character is: in `text`, and in the HTML.
    places: Vec<(usize, Range<usize>)>,
}

impl Run {
    /// Adds a text of the HTML that begins at this place.
    fn add(&mut self, html: &str, start: usize) {
        let mut at = 0;
        while let Some(c) = html[at..].chars().next() {
            let entity = ENTITIES.iter().find(|(name, _)| html[at..].starts_with(name));
            let (c, length) = entity.map_or((c, c.len_utf8()), |(name, c)| (*c, name.len()));
            self.places.push((self.text.len(), start + at..start + at + length));
            self.text.push(c);
            at += length;
        }
    }

    /// Adds the places of the phrase, and begins anew.
    fn mark(&mut self, phrase: &Phrase, marks: &mut Vec<Range<usize>>) {
        for found in phrase.places(&self.text) {
            let from = self.places.partition_point(|(at, _)| *at < found.start);
            let to = self.places.partition_point(|(at, _)| *at < found.end);
            for (_, place) in &self.places[from..to] {
                match marks.last_mut() {
                    Some(last) if last.end == place.start => last.end = place.end,
                    _ => marks.push(place.clone()),
                }
            }
        }
        self.text.clear();
        self.places.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::marked;
    use crate::session::{
        Titles,
        fixture::{answer, call, event},
        rows::LogPart,
    };
    use domain::search::Phrase;
    use wire::event::Event;

    fn rows(events: &[Event], phrase: &str, shown: Option<u64>) -> String {
        let part = LogPart { session_id: "s", events, titles: &Titles::new(), opens_failing_step: false };
        part.found_rows(&Phrase::parse(phrase).unwrap(), shown)
    }

    #[test]
    fn what_was_found_is_marked_in_texts_and_in_no_tag() {
        let row = |body: &str| format!("<li class=\"event\">div<div class=\"event-body\">{body}</div></li>");
        for (phrase, body, marked_body) in [
            (
                "div",
                "<p title=\"div > div\">a Div &lt;div></p>",
                "<p title=\"div > div\">a <mark>Div</mark> &lt;<mark>div</mark>></p>",
            ),
            ("<b>&", "x &lt;b&gt;&amp; y", "x <mark>&lt;b&gt;&amp;</mark> y"),
            ("total: 4", "<strong>Total:</strong> 41", "<strong><mark>Total:</mark></strong><mark> 4</mark>1"),
            ("a b", "<p>a</p> <p>b</p>", "<p>a</p> <p>b</p>"),
            ("copy", "<button><span>Copy</span></button>copy", "<button><span>Copy</span></button><mark>copy</mark>"),
            ("東京", "東京タワー", "<mark>東京</mark>タワー"),
        ] {
            let phrase = Phrase::parse(phrase).unwrap();
            assert_eq!(marked(&row(body), &phrase, None), row(marked_body), "{body}");
        }
    }

    #[test]
    fn the_row_of_the_event_is_unfolded_and_its_labels_are_not_marked() {
        let log = [call(1, "a", "find"), answer(2, "a", "\"input of a zebra\""), call(3, "b", "find")];
        let html = rows(&log, "zebra", Some(2));
        assert!(html.contains("<mark>zebra</mark>"), "{html}");
        assert_eq!(html.matches("<details class=\"tool\" open").count(), 1, "{html}");
        assert!(!rows(&log, "zebra", None).contains(" open"));
        let html = rows(&log, "input", Some(2));
        assert!(html.contains("<h3>Input<") && html.contains("<mark>input</mark> of"), "{html}");
    }

    #[test]
    fn without_marks_rows_are_as_always() {
        let thought = event(3, "agent.thinking", r#"[{"type":"text","text":"hm <b>"}]"#, "{}");
        let log = [call(1, "a", "find"), thought];
        assert_eq!(rows(&log, "zebra", None), crate::session::rows_fragment("s", &log, &Titles::new()));
        assert!(rows(&log, "hm <b>", None).contains("<mark>hm &lt;b&gt;</mark>"));
    }
}
