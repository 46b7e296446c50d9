//! What a tool was given and what it returned, as people read it: text with its lines and colours, changes of files,
//! pictures, and JSON for the rest. The event as JSON has it as it was sent.

use super::picture::Picture;
use crate::text::{
    html::Html,
    json::{self, PAYLOAD_BYTES_MAX},
    number::counted,
    shorten, terminal,
};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Deepest nesting of values that are shown in parts; deeper ones are shown as JSON.
const DEPTH_MAX: u8 = 4;
/// Most members or items of one value that are shown in parts.
const PARTS_MAX: usize = 100;
/// Most pictures of one input or output.
const PICTURES_MAX: usize = 20;

/// An event in whose content the value is. It is needed to address pictures.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// Id of the event's session.
    pub session_id: &'a str,
    /// Sequence of the event.
    pub sequence: u64,
}

impl Source<'_> {
    /// Writes a link to the event as JSON.
    pub fn write_json_link(self, html: &mut Html) {
        html.raw("<a class=\"meta\" href=\"/api/sessions/").text(self.session_id).raw("/events?afterSequence=");
        html.number(self.sequence.saturating_sub(1)).raw("&amp;limit=1\">Event ").number(self.sequence);
        html.raw(" as JSON</a>");
    }

    /// Writes that a text continues, by how many lines if that is known, and where all of it is.
    pub fn write_cut(self, html: &mut Html, lines: Option<u64>) {
        html.raw("<p class=\"meta\">");
        match lines {
            Some(lines) => html.text(&counted(lines, "more line")).raw(if lines == 1 { " is" } else { " are" }),
            None => html.raw("The rest is"),
        };
        html.raw(" not shown. ");
        self.write_json_link(html);
        html.raw(" has all of it.</p>");
    }
}

/// Writes a value: at most 12,000 bytes of text, and pictures by their address. Without a source, pictures are only
/// named.
pub fn write_value(html: &mut Html, raw: Option<&RawValue>, source: Option<Source<'_>>) {
    let Some(raw) = raw else {
        html.raw("<p class=\"meta\">Nothing.</p>");
        return;
    };
    let mut writer = Writer { html, source, room: PAYLOAD_BYTES_MAX, pictures: 0, is_cut: false, lines_cut: Some(0) };
    writer.html.raw("<div class=\"output\">");
    writer.value(raw, 0);
    writer.html.raw("</div>");
    let (is_cut, lines) = (writer.is_cut, writer.lines_cut.filter(|lines| *lines > 0));
    match source {
        Some(source) if is_cut => source.write_cut(html, lines),
        None if is_cut => drop(html.raw("<p class=\"meta\">Only part is shown. The event as JSON has all of it.</p>")),
        _ => {}
    }
}

/// The value without what the AI SDK and MCP wrap around it: `{type: text, value}`, `{type: text, text}`,
/// `{content: [...]}` and arrays of one such part.
pub fn unwrapped(raw: &RawValue) -> &RawValue {
    unwrapped_at(raw).0
}

/// Does the same, and returns the JSON Pointer of what is inside.
pub(super) fn unwrapped_at(raw: &RawValue) -> (&RawValue, String) {
    let (mut raw, mut at) = (raw, String::new());
    for _ in 0..DEPTH_MAX {
        let Some((part, inner)) = inner(raw) else { break };
        at.push_str(part);
        raw = inner;
    }
    (raw, at)
}

/// The only part of a value that people read, with its JSON Pointer.
fn inner(raw: &RawValue) -> Option<(&'static str, &RawValue)> {
    if raw.get().starts_with('[') {
        return match serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok()?.as_slice() {
            [only] if is_part(only) => Some(("/0", *only)),
            _ => None,
        };
    }
    let members = json::members(raw.get());
    let get = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
    let kind = get("type").and_then(json::string);
    match kind.as_deref() {
        Some("text" | "error-text" | "json" | "error-json" | "content")
            if members.len() <= 3 && get("value").is_some() =>
        {
            Some(("/value", get("value")?))
        }
        Some("text" | "input_text" | "output_text") => {
            Some(("/text", get("text").filter(|text| text.get().starts_with('"'))?))
        }
        None if members
            .iter()
            .all(|(key, _)| matches!(&**key, "content" | "isError" | "structuredContent" | "_meta")) =>
        {
            Some(("/content", get("content").filter(|content| parts(content).is_some())?))
        }
        _ => None,
    }
}

/// Whether a value is a part of a message: an object whose type is known here.
fn is_part(raw: &RawValue) -> bool {
    let members = json::members(raw.get());
    let kind = members.iter().find(|(key, _)| key == "type").and_then(|(_, kind)| json::string(kind));
    let is_known = |kind: &str| {
        matches!(
            kind,
            "text" | "input_text" | "output_text" | "error-text" | "json" | "image" | "input_image" | "image-data"
        ) || matches!(kind, "media" | "file" | "file-data")
    };
    kind.is_some_and(|kind| is_known(&kind))
}

/// The parts of a message; `None` for anything else.
fn parts(raw: &RawValue) -> Option<Vec<&RawValue>> {
    if !raw.get().starts_with('[') {
        return None;
    }
    let items: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
    (!items.is_empty() && items.iter().all(|item| is_part(item))).then_some(items)
}

/// The picture of a part that says that it is one: in a member, or in a member of its source.
fn picture_text(raw: &RawValue) -> Option<Cow<'_, str>> {
    if !is_part(raw) {
        return None;
    }
    let own = values(raw).into_iter();
    let texts = own.flat_map(|value| if value.get().starts_with('{') { values(value) } else { vec![value] });
    texts.filter_map(json::string).find(|text| Picture::of(text).is_some())
}

/// The values of an object's members.
fn values(raw: &RawValue) -> Vec<&RawValue> {
    json::members(raw.get()).into_iter().map(|(_, value)| value).collect()
}

/// Whether a part is a picture.
pub fn is_picture(raw: &RawValue) -> bool {
    picture_text(raw).is_some()
}

/// The text of a value that is one text or a list of parts that begins with one; `None` for anything else.
pub fn leading_text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let raw = unwrapped(raw);
    let text = json::string(raw).or_else(|| parts(raw)?.first().and_then(|first| json::string(unwrapped(first))))?;
    Some(if is_escaped_json(&text) { Cow::Owned(json::readable(&text).into_owned()) } else { text })
}

/// Whether a text is JSON with escapes of characters, which are decoded for people. In other texts they can be meant as
/// they are.
fn is_escaped_json(text: &str) -> bool {
    text.trim_start().starts_with(['{', '[']) && text.contains("\\u") && serde_json::from_str::<&RawValue>(text).is_ok()
}

/// Whether a value has texts that JSON shows badly: several lines, control sequences or pictures. Escapes are looked
/// for in the JSON, so that nothing is decoded.
fn reads_badly_as_json(raw: &RawValue) -> bool {
    let text = raw.get();
    ["\\n", "\\u001b", "\\u001B", "iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR"].iter().any(|mark| text.contains(mark))
}

struct Writer<'a, 'b> {
    html: &'a mut Html,
    source: Option<Source<'b>>,
    /// How much text may still be written, bytes.
    room: usize,
    pictures: usize,
    is_cut: bool,
    /// How many lines of text are left out; `None` if something else is left out too.
    lines_cut: Option<u64>,
}

impl Writer<'_, '_> {
    /// Notes that something is left out whose lines are not counted.
    fn leave_out(&mut self) {
        (self.is_cut, self.lines_cut) = (true, None);
    }

    fn value(&mut self, raw: &RawValue, depth: u8) {
        let raw = unwrapped(raw);
        if self.room == 0 {
            self.leave_out();
        } else if let Some(text) = json::string(raw) {
            self.text(&text);
        } else if let Some(text) = picture_text(raw)
            && let Some(picture) = Picture::of(&text)
        {
            self.picture(&picture);
        } else if depth >= DEPTH_MAX || !(reads_badly_as_json(raw) || parts(raw).is_some()) {
            self.json(raw);
        } else if raw.get().starts_with('[') {
            let items: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
            if items.len() > PARTS_MAX {
                self.leave_out();
            }
            items.into_iter().take(PARTS_MAX).for_each(|item| self.value(item, depth + 1));
        } else {
            self.members(raw, depth);
        }
    }

    fn members(&mut self, raw: &RawValue, depth: u8) {
        let members = json::members(raw.get());
        if members.len() > PARTS_MAX {
            self.leave_out();
        }
        self.html.raw("<dl class=\"output-members\">");
        for (name, value) in members.into_iter().take(PARTS_MAX) {
            if self.room == 0 {
                self.leave_out();
                break;
            }
            self.html.raw("<div><dt dir=\"auto\">").text(&shorten::one_line(&name, 80)).raw("</dt><dd>");
            match json::string(value) {
                Some(text)
                    if !text.contains('\n')
                        && text.len() <= 200
                        && !terminal::is_terminal(&text)
                        && Picture::of(&text).is_none() =>
                {
                    self.room = self.room.saturating_sub(text.len());
                    self.html.raw("<span class=\"output-value\" dir=\"auto\">").text(&text).raw("</span>");
                }
                None if !value.get().starts_with(['{', '[']) => {
                    self.html.raw("<span class=\"output-value\">").text(value.get()).raw("</span>");
                }
                _ => self.value(value, depth + 1),
            }
            self.html.raw("</dd></div>");
        }
        self.html.raw("</dl>");
    }

    fn json(&mut self, raw: &RawValue) {
        let (text, is_cut) = json::indented(raw.get(), self.room);
        self.room = self.room.saturating_sub(text.len());
        if is_cut {
            self.leave_out();
        }
        self.block(|html| {
            html.text(&text);
        });
    }

    fn text(&mut self, text: &str) {
        if let Some(picture) = Picture::of(text) {
            self.picture(&picture);
            return;
        }
        let shown = shorten::head(text, self.room);
        if shown.len() < text.len() {
            self.is_cut = true;
            let rest = text.get(shown.len()..).unwrap_or_default().lines().count() as u64;
            self.lines_cut = self.lines_cut.map(|lines| lines + rest);
        }
        self.room -= shown.len();
        let shown = if is_escaped_json(text) { json::readable(shown) } else { Cow::Borrowed(shown) };
        self.block(|html| {
            if terminal::is_terminal(&shown) {
                html.terminal(&shown);
            } else if is_diff(&shown) {
                push_diff(html, &shown);
            } else {
                html.text(&shown);
            }
        });
    }

    fn block(&mut self, write: impl FnOnce(&mut Html)) {
        self.html.raw("<pre class=\"payload\" tabindex=\"0\">");
        write(self.html);
        self.html.raw("</pre>");
    }

    fn picture(&mut self, picture: &Picture<'_>) {
        self.pictures += 1;
        let source = match self.source {
            Some(source) if self.pictures <= PICTURES_MAX => source,
            _ => {
                self.html.raw("<p class=\"meta\">").text(&picture.words()).raw("</p>");
                return;
            }
        };
        let address = picture.address(source.session_id, source.sequence);
        self.html
            .raw("<details class=\"fold picture\" open><summary><span class=\"fold-more\">")
            .text(&picture.words());
        self.html
            .raw("</span></summary><a href=\"")
            .text(&address)
            .raw("\"><img loading=\"lazy\" src=\"")
            .text(&address);
        self.html.raw("\" alt=\"Picture of event ").number(source.sequence).raw(": ").text(&picture.words());
        self.html.raw("\"></a></details>");
    }
}

/// Whether a text is a change of files, as `git diff` or a patch tool writes it.
fn is_diff(text: &str) -> bool {
    let mut lines = text.lines();
    text.starts_with("*** Begin Patch") || lines.any(|line| line.starts_with("@@ -") && line.contains(" @@"))
}

/// Appends a change of files, each line in a span that tells what it is.
fn push_diff(html: &mut Html, text: &str) {
    for line in text.split_inclusive('\n') {
        let class = match line {
            _ if line.starts_with("+++") || line.starts_with("---") || line.starts_with("*** ") => "diff-file",
            _ if line.starts_with("diff ") || line.starts_with("index ") => "diff-file",
            _ if line.starts_with("@@") => "diff-place",
            _ if line.starts_with('+') => "diff-added",
            _ if line.starts_with('-') => "diff-removed",
            _ => {
                html.text(line);
                continue;
            }
        };
        html.raw("<span class=\"").raw(class).raw("\">").text(line).raw("</span>");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{result::picture::tests::PIXEL, text::number::grouped};

    fn html_of(json: &str) -> String {
        let raw = RawValue::from_string(json.to_owned()).unwrap();
        let mut html = Html::default();
        write_value(&mut html, Some(&raw), Some(Source { session_id: "s", sequence: 7 }));
        html.finish()
    }

    const PRE: &str = "<pre class=\"payload\" tabindex=\"0\">";

    #[test]
    fn escapes_are_decoded_in_texts_that_are_json() {
        for (text, shown) in [
            (r#"{"a":"Gr\u00fc\u00dfe"}"#, "{&quot;a&quot;:&quot;Grüße&quot;}"),
            (r#"["\u202e"]"#, r"[&quot;\u202e&quot;]"),
            (r#"printf("\u00fc")"#, r"printf(&quot;\u00fc&quot;)"),
            (r#"[warn] \u00fc"#, r"[warn] \u00fc"),
        ] {
            let raw = RawValue::from_string(serde_json::to_string(text).unwrap()).unwrap();
            assert_eq!(html_of(raw.get()), format!("<div class=\"output\">{PRE}{shown}</pre></div>"));
        }
        let raw = RawValue::from_string(r#"{"type":"text","value":"[\"\\u00fc\"]"}"#.to_owned()).unwrap();
        assert_eq!(leading_text(&raw).as_deref(), Some("[\"ü\"]"));
    }

    #[test]
    fn wrapped_texts_are_shown_as_text() {
        let wanted = format!("<div class=\"output\">{PRE}a\n  b</pre></div>");
        for json in [
            r#""a\n  b""#,
            r#"{"type":"text","value":"a\n  b"}"#,
            r#"{"type":"error-text","value":"a\n  b"}"#,
            r#"{"value":"a\n  b","type":"text"}"#,
            r#"{"type":"json","value":{"content":[{"type":"text","text":"a\n  b"}],"isError":false}}"#,
            r#"[{"type":"text","text":"a\n  b"}]"#,
            r#"{"type":"content","value":[{"type":"text","text":"a\n  b"}]}"#,
        ] {
            assert_eq!(html_of(json), wanted, "{json}");
        }
        assert_eq!(
            html_of(r#"{"type":"json","value":[1,2]}"#),
            format!("<div class=\"output\">{PRE}[\n  1,\n  2\n]</pre></div>")
        );
    }

    #[test]
    fn colours_and_changes_of_files_are_marked_and_other_sequences_are_gone() {
        let html = html_of(r#"{"type":"text","value":"\u001b[31merror\u001b[0m\n\u001b]0;t\u0007<b>"}"#);
        assert!(html.contains("<span class=\"ansi-1\">error</span>\n&lt;b&gt;"), "{html}");
        let html = html_of(r#"{"patch":"--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new <i>\n same"}"#);
        for part in [
            "<dt dir=\"auto\">patch</dt>",
            "diff-place\">@@ -1 +1 @@\n",
            "diff-removed\">-old\n",
            "diff-added\">+new &lt;i&gt;\n</span> same",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn members_with_lines_are_shown_one_by_one_and_others_as_json() {
        let html = html_of(r#"{"command":"cd x\nmake","timeout":5,"note":"<i>","env":{"A":"1"}}"#);
        for part in [
            format!("<dt dir=\"auto\">command</dt><dd>{PRE}cd x\nmake</pre>"),
            "<span class=\"output-value\">5</span>".into(),
            "&lt;i&gt;".into(),
            format!("{PRE}{{\n  &quot;A&quot;: &quot;1&quot;\n}}</pre>"),
        ] {
            assert!(html.contains(&part), "{part}: {html}");
        }
        assert!(html_of(r#"{"a":"b","n":1}"#).contains(&format!("{PRE}{{\n  &quot;a&quot;: &quot;b&quot;,")));
    }

    #[test]
    fn pictures_are_addressed_and_nothing_is_fetched_from_elsewhere() {
        let part =
            format!(r#"[{{"type":"text","text":"see"}},{{"type":"image","data":"{PIXEL}","mimeType":"image/png"}}]"#);
        let html = html_of(&part);
        let address = Picture::of(PIXEL).unwrap().address("s", 7);
        assert!(html.contains(&format!("src=\"{address}\"")) && html.contains("PNG, 70 bytes"), "{html}");
        assert!(!html.contains(PIXEL));
        let html = html_of(r#"{"type":"image","image":"https://evil.test/a.png"}"#);
        assert!(!html.contains("<img"), "{html}");
        let raw = RawValue::from_string(format!("\"{PIXEL}\"")).unwrap();
        let mut named = Html::default();
        write_value(&mut named, Some(&raw), None);
        assert!(!named.finish().contains("<img"));
    }

    #[test]
    fn what_is_left_out_is_counted_and_can_be_reached() {
        let lines: String = (0..3_000).map(|n| format!("line {n}\\n")).collect();
        let html = html_of(&format!("\"{lines}\""));
        let last = html.matches("line ").count() as u64;
        assert!(html.contains(&format!("{} more lines are not shown.", grouped(3_000 - last))), "{html}");
        assert!(
            html.contains("href=\"/api/sessions/s/events?afterSequence=6&amp;limit=1\">Event 7 as JSON</a> has all")
        );
    }

    #[test]
    fn sizes_are_bounded() {
        let long = format!(r#"{{"a":"{}\n","b":"{}\n"}}"#, "x".repeat(20_000), "y".repeat(20_000));
        let html = html_of(&long);
        assert!(html.len() < PAYLOAD_BYTES_MAX + 1_000 && html.contains("The rest is not shown."), "{}", html.len());
        let deep = format!("{}\"a\\nb\"{}", "[".repeat(100), "]".repeat(100));
        assert!(html_of(&deep).contains("a\\nb"));
        let pictures = format!("[{}]", vec![format!("\"{PIXEL}\""); 60].join(","));
        assert_eq!(html_of(&pictures).matches("<img").count(), PICTURES_MAX);
    }
}
