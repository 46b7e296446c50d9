//! Results in the form that people read them best in: a table, keys and values, a tree, Markdown, a link, a picture or
//! an error. Below it is the JSON, to read and to copy.

use super::{
    picture::Picture,
    shape::{Shape, is_link, is_part},
    tree::{Branch, branches},
    value::{unwrapped_at, write_value},
};
use crate::text::{
    html::Html,
    json::{self, PAYLOAD_BYTES_MAX},
    number::counted,
    shorten,
};
use serde_json::{Value, value::RawValue};

/// Larger results are text in a transcript, bytes: a page has hundreds of them.
const LOG_BYTES_MAX: usize = 8 * 1024;
/// Most rows of a table.
const ROWS_MAX: usize = 200;
/// Levels of a tree that are open at the start.
const OPEN_DEPTH: usize = 2;
/// Most members or items of a part that is open at the start, and most parts beside each other of which any is.
const OPEN_PARTS_MAX: usize = 10;
/// Longest text in a tree, bytes.
const TEXT_BYTES_MAX: usize = 400;
/// Longest key in a tree, characters.
const KEY_CHARS_MAX: usize = 80;
/// Most causes of an error.
const CAUSES_MAX: usize = 5;
/// Longest Markdown, bytes.
const MARKDOWN_BYTES_MAX: usize = 64 * 1024;

/// Where a result is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look<'a> {
    /// In a transcript: tables and errors alone.
    Log,
    /// On a page of its session, with the session's id. The page can show pictures, and link to all of it.
    Page(&'a str),
    /// On a shared page, in a message and in a field: without links and pictures.
    Plain,
}

/// Writes a result on the page of its session or tool, with a link that saves all of it. Of a large one the beginning.
pub fn write_result(html: &mut Html, raw: &RawValue, session_id: &str) {
    let (inner, at) = unwrapped_at(raw);
    if !write_shape_at(html, (inner, &at), Look::Page(session_id), None) {
        write_value(html, Some(raw), None);
    }
    html.raw("<p class=\"meta result-file\"><a href=\"/api/sessions/")
        .text(session_id)
        .raw("/result\" download=\"session-");
    html.text(session_id).raw("-result.json\">Save the result as JSON</a></p>");
}

/// Writes a text that is a JSON object or list in its form, and returns whether it is one that has a form. Otherwise
/// nothing is written. Texts over 8 KiB are not looked into: a page can have many.
pub fn write_json_text(html: &mut Html, text: &str) -> bool {
    let text = text.trim();
    if text.len() > LOG_BYTES_MAX || !text.starts_with(['{', '[']) {
        return false;
    }
    serde_json::from_str::<&RawValue>(text).is_ok_and(|raw| write_shape(html, raw, Look::Plain))
}

/// Writes a value in its form, and returns whether it has one. Without one nothing is written.
pub fn write_shape(html: &mut Html, raw: &RawValue, look: Look<'_>) -> bool {
    write_shape_at(html, (raw, ""), look, None)
}

/// Does the same for an input, without links and pictures. Members have the titles of their schema in place of keys.
pub fn write_input(html: &mut Html, raw: &RawValue, schema: &Value) -> bool {
    write_shape_at(html, (raw, ""), Look::Plain, Some(schema))
}

/// Does the same for a part of a result, at this JSON Pointer.
fn write_shape_at(html: &mut Html, (raw, at): (&RawValue, &str), look: Look<'_>, schema: Option<&Value>) -> bool {
    if look == Look::Log && raw.get().len() > LOG_BYTES_MAX {
        return false;
    }
    let Some(shape) = Shape::of(raw) else { return false };
    let is_shown = match (look, &shape) {
        (Look::Log, shape) => matches!(shape, Shape::Table(_) | Shape::Error),
        (Look::Plain, shape) => !matches!(shape, Shape::Picture(_) | Shape::Link(_)),
        (Look::Page(_), _) => true,
    };
    if !is_shown {
        return false;
    }
    html.raw("<div class=\"result\">");
    let mut writer = Writer { html, has_links: matches!(look, Look::Page(_)) };
    match &shape {
        Shape::Table(columns) => writer.table(raw, columns),
        Shape::Facts => writer.facts(raw, schema),
        Shape::Error => writer.error(raw, 0),
        Shape::Tree => writer.tree(raw, at, schema),
        Shape::Markdown(text) => writer.markdown(text),
        Shape::Link(address) => writer.link(address),
        Shape::Picture(text) => writer.picture(text),
    }
    if matches!(shape, Shape::Table(_) | Shape::Facts | Shape::Error | Shape::Tree | Shape::Markdown(_)) {
        write_json(html, raw);
    }
    html.raw("</div>");
    true
}

fn write_json(html: &mut Html, raw: &RawValue) {
    let (text, is_cut) = json::indented(raw.get(), PAYLOAD_BYTES_MAX);
    html.raw("<details class=\"result-json\"><summary>JSON</summary><pre class=\"payload\" tabindex=\"0\">");
    html.text(&text).raw("</pre>");
    if is_cut {
        html.raw("<p class=\"meta\">Only the beginning is shown.</p>");
    }
    html.raw("</details>");
}

struct Writer<'a> {
    html: &'a mut Html,
    has_links: bool,
}

impl Writer<'_> {
    fn table(&mut self, raw: &RawValue, columns: &[impl AsRef<str>]) {
        let rows: Vec<&RawValue> = serde_json::from_str(raw.get()).unwrap_or_default();
        self.html.raw("<div class=\"table-frame\" tabindex=\"0\" role=\"group\" aria-label=\"Result\"><table class=\"table\"><thead><tr>");
        for column in columns {
            self.html.raw("<th scope=\"col\" dir=\"auto\">").text(&shorten::one_line(column.as_ref(), 80)).raw("</th>");
        }
        self.html.raw("</tr></thead><tbody>");
        for row in rows.iter().take(ROWS_MAX) {
            let members = json::members(row.get());
            self.html.raw("<tr>");
            for column in columns {
                self.html.raw("<td dir=\"auto\">");
                if let Some((_, value)) = members.iter().find(|(key, _)| key == column.as_ref()) {
                    self.plain(value);
                }
                self.html.raw("</td>");
            }
            self.html.raw("</tr>");
        }
        self.html.raw("</tbody></table></div>");
        if rows.len() > ROWS_MAX {
            let more = counted((rows.len() - ROWS_MAX) as u64, "more row");
            self.html.raw("<p class=\"meta\">").text(&more).raw(" not shown.</p>");
        }
    }

    fn facts(&mut self, raw: &RawValue, schema: Option<&Value>) {
        self.html.raw("<dl class=\"result-facts\">");
        for (key, value) in json::members(raw.get()) {
            let label = shorten::one_line(label(schema, &key), 80);
            self.html.raw("<div><dt dir=\"auto\">").text(&label).raw("</dt><dd dir=\"auto\">");
            self.plain(value);
            self.html.raw("</dd></div>");
        }
        self.html.raw("</dl>");
    }

    /// A value without parts.
    fn plain(&mut self, raw: &RawValue) {
        match json::string(raw) {
            Some(text) if is_link(&text) => self.link(&text),
            Some(text) => {
                let shown = shorten::head(&text, TEXT_BYTES_MAX);
                self.html.text(shown).raw(if shown.len() < text.len() { "…" } else { "" });
            }
            None if raw.get() == "null" => drop(self.html.raw("<span class=\"meta\">null</span>")),
            None => drop(self.html.text(raw.get())),
        }
    }

    fn link(&mut self, address: &str) {
        if !self.has_links {
            self.html.text(address);
            return;
        }
        self.html.raw("<a rel=\"noopener noreferrer nofollow\" href=\"").text(address).raw("\">");
        self.html.text(&shorten::one_line(address, 200)).raw("</a>");
    }

    /// The error with its cause, and the advice if the error has one.
    fn error(&mut self, raw: &RawValue, depth: usize) {
        let members = json::members(raw.get());
        let text = |name: &str| {
            let (_, value) = members.iter().find(|(key, _)| key == name)?;
            Some(json::string(value).map_or_else(|| value.get().to_owned(), |text| text.into_owned()))
        };
        self.html.raw("<div class=\"result-error\"><p dir=\"auto\"><strong>");
        let message = text("message").unwrap_or_default();
        self.html.text(shorten::head(&message, TEXT_BYTES_MAX * 4)).raw("</strong>");
        if let Some(code) = text("code") {
            self.html.raw(" <code>").text(&shorten::one_line(&code, 100)).raw("</code>");
        }
        self.html.raw("</p>");
        if let Some(hint) = text("hint") {
            self.html.raw("<p dir=\"auto\">").text(shorten::head(&hint, TEXT_BYTES_MAX * 4)).raw("</p>");
        }
        if let Some((_, cause)) = members.iter().find(|(key, _)| key == "cause").filter(|(_, of)| of.get() != "null") {
            self.html.raw("<p class=\"meta\">Because of:</p>");
            if cause.get().starts_with('{') && depth < CAUSES_MAX {
                self.error(cause, depth + 1);
            } else {
                self.html.raw("<p dir=\"auto\">");
                self.plain(cause);
                self.html.raw("</p>");
            }
        }
        self.html.raw("</div>");
    }

    fn tree(&mut self, raw: &RawValue, at: &str, schema: Option<&Value>) {
        if at.is_empty() {
            self.html.raw("<ul class=\"result-tree\">");
        } else {
            self.html.raw("<ul class=\"result-tree\" data-at=\"").text(at).raw("\">");
        }
        let branches = branches(raw);
        if let Some(first) = branches.first() {
            self.branch(&branches, first, 0, schema);
        }
        self.html.raw("</ul>");
    }

    /// The parts of a value, each an entry of a list. What has parts that are shown folds, and says how many it has.
    fn branch(&mut self, branches: &[Branch<'_>], branch: &Branch<'_>, depth: usize, schema: Option<&Value>) {
        let may_open = depth + 1 < OPEN_DEPTH && branch.count <= OPEN_PARTS_MAX;
        for part in &branch.parts {
            let label = shorten::one_line(label(schema, &part.key), KEY_CHARS_MAX);
            // The script of the tree needs the whole key for the path of the part.
            if label == part.key {
                self.html.raw("<li>");
            } else {
                self.html.raw("<li data-key=\"").text(&part.key).raw("\">");
            }
            let Some(inner) = part.branch.and_then(|at| branches.get(at)) else {
                self.leaf(&label, part.value);
                continue;
            };
            let one = if part.value.get().starts_with('{') { "field" } else { "item" };
            let number = counted(inner.count as u64, one);
            if inner.parts.is_empty() {
                self.key(&label);
                self.html.raw(" <span class=\"meta\">").text(&number).raw(" not shown</span></li>");
                continue;
            }
            let is_open = may_open && inner.count <= OPEN_PARTS_MAX;
            self.html.raw(if is_open { "<details open><summary>" } else { "<details><summary>" });
            self.key(&label);
            self.html.raw(" <span class=\"meta\">").text(&number).raw("</span></summary><ul>");
            self.branch(branches, inner, depth + 1, schema.and_then(|schema| schema_of(schema, &part.key)));
            self.html.raw("</ul></details></li>");
        }
        if branch.parts.len() < branch.count {
            let more = counted((branch.count - branch.parts.len()) as u64, "more part");
            self.html.raw("<li class=\"meta\">").text(&more).raw(" not shown.</li>");
        }
    }

    /// The rest of an entry that does not fold: a value without parts, or the beginning of one that is too deep.
    fn leaf(&mut self, label: &str, value: &RawValue) {
        self.key(label);
        self.html.raw(" ");
        if is_part(value) {
            self.html.text(shorten::head(value.get(), TEXT_BYTES_MAX)).raw("…");
        } else {
            self.plain(value);
        }
        self.html.raw("</li>");
    }

    fn key(&mut self, label: &str) {
        self.html.raw("<span class=\"result-key\" dir=\"auto\">").text(label).raw("</span>");
    }

    fn markdown(&mut self, text: &str) {
        let shown = shorten::head(text, MARKDOWN_BYTES_MAX);
        self.html.raw("<div class=\"prose\">");
        if self.has_links {
            self.html.markdown(shown);
        } else {
            self.html.message(shown);
        }
        self.html.raw("</div>");
        if shown.len() < text.len() {
            self.html.raw("<p class=\"meta\">Only the beginning is shown.</p>");
        }
    }

    /// A picture of a type whose bytes are known. The data URL is written anew, so that it has no other type.
    fn picture(&mut self, text: &str) {
        let Some(picture) = Picture::of(text) else { return };
        self.html.raw("<p><img class=\"result-picture\" src=\"data:").raw(picture.media_type).raw(";base64,");
        self.html.text(picture.data).raw("\" alt=\"").text(&picture.words()).raw("\"></p>");
    }
}

/// The title of a member in the schema of its object; its key if it has none.
fn label<'a>(schema: Option<&'a Value>, key: &'a str) -> &'a str {
    let title = schema.and_then(|schema| schema.get("properties")?.get(key)?.get("title")?.as_str());
    title.filter(|title| !title.trim().is_empty()).unwrap_or(key)
}

/// The schema of a member of an object, or of the items of a list.
fn schema_of<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    schema.get("properties").map_or_else(|| schema.get("items"), |members| members.get(key))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{picture::tests::PIXEL, tree::DEPTH_MAX};
    use serde_json::json;

    fn html_of(json: &str, look: Look<'_>) -> String {
        let raw = RawValue::from_string(json.to_owned()).unwrap();
        let mut html = Html::default();
        write_shape(&mut html, &raw, look);
        html.finish()
    }

    #[test]
    fn like_objects_are_a_table_with_their_json_below() {
        let html = html_of(r#"[{"id":1,"at":"https://a.test/<x"},{"id":2,"name":"<b>"}]"#, Look::Page("s"));
        for part in [
            "<th scope=\"col\" dir=\"auto\">name</th>",
            "<td dir=\"auto\">&lt;b&gt;</td>",
            "<td dir=\"auto\"></td>",
            "<pre class=\"payload\"",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
        assert!(!html.contains("href="), "{html}");
        let many = format!("[{}]", vec![r#"{"a":1}"#; ROWS_MAX + 7].join(","));
        let html = html_of(&many, Look::Page("s"));
        assert_eq!(html.matches("<tr>").count(), ROWS_MAX + 1);
        assert!(html.contains("7 more rows not shown."), "{html}");
    }

    #[test]
    fn a_value_with_parts_folds_and_stays_small() {
        let html = html_of(r#"{"a":{"b":{"c":"<i>"}},"list":[1]}"#, Look::Page("s"));
        assert_eq!((html.matches("<details open>").count(), html.matches("<details>").count()), (2, 1), "{html}");
        assert!(html.contains("&lt;i&gt;") && !html.contains("<i>") && !html.contains("data-key"), "{html}");
        let three = html_of(r#"{"a":{"b":[1,2,3]}}"#, Look::Page("s"));
        assert!(three.contains(">1 field<") && three.contains(">3 items<"), "{three}");
        let long = html_of(&format!(r#"{{"a\"{}":{{"b":1}}}}"#, "x".repeat(100)), Look::Page("s"));
        assert!(long.contains(&format!("<li data-key=\"a&quot;{}\">", "x".repeat(100))), "{long}");
        let deep = format!("{}1{}", r#"{"a":"#.repeat(90), "}".repeat(90));
        assert!(html_of(&deep, Look::Page("s")).matches("<details").count() <= DEPTH_MAX + 1);
        let wide = format!("[{}]", vec![r#"{"a":[1,2,3]}"#; 10_000].join(","));
        let html = html_of(&wide, Look::Page("s"));
        assert!(html.len() < 100_000 && html.contains("9,500 more parts not shown."), "{}", html.len());
    }

    #[test]
    fn many_parts_are_folded_with_their_number() {
        let of = |parts: usize, each: usize| {
            let list = format!("[{}]", vec!["1"; each].join(","));
            let members: Vec<_> = (0..parts).map(|at| format!("\"k{at}\":{list}")).collect();
            html_of(&format!("{{{}}}", members.join(",")), Look::Page("s"))
        };
        for (parts, each, open, words) in
            [(1, 1, 1, "1 item<"), (2, 7, 2, "7 items<"), (7, 40, 0, "40 items<"), (40, 2, 0, "2 items<")]
        {
            let html = of(parts, each);
            let found = html.matches("<details open>").count();
            assert_eq!((found, html.matches(words).count()), (open, parts), "{parts} of {each}: {html}");
        }
    }

    #[test]
    fn the_first_items_of_a_long_list_do_not_hide_the_others() {
        let rows = vec![r#"{"a":1,"b":{"c":2}}"#; 400].join(",");
        let html = html_of(&format!("[{rows}]"), Look::Page("s"));
        assert!(html.contains(">399</span> <span class=\"meta\">2 fields not shown</span></li>"), "{html}");
        assert_eq!((html.matches("<details><summary><span").count(), html.matches("more part").count()), (50, 0));
    }

    #[test]
    fn a_text_that_is_json_is_shown_in_its_form_without_links() {
        let of = |text: &str| {
            let mut html = Html::default();
            write_json_text(&mut html, text).then(|| html.finish())
        };
        let facts = of(" {\"a\": \"https://a.test/x\", \"b\": \"<i>\"}\n").unwrap();
        assert!(facts.contains("result-facts") && facts.contains("https://a.test/x"), "{facts}");
        assert!(!facts.contains("href=") && !facts.contains("<i>"), "{facts}");
        assert!(of("[{\"a\": 1}, {\"a\": 2}]").unwrap().contains("<table"));
        let large = format!("{{\"a\": \"{}\"}}", "x".repeat(LOG_BYTES_MAX));
        for text in ["", "{", "[1, 2] and more", "{a: 1}", "\"{}\"", "12", "Hello {\"a\": 1}", &large] {
            assert_eq!(of(text), None, "{text:.40}");
        }
    }

    #[test]
    fn an_input_has_the_titles_of_its_schema() {
        let city = json!({ "type": "object", "properties": { "city": { "title": "City <b>" }, "zip": {} } });
        let trip = json!({ "properties": { "stops": { "title": "Stops", "items": city } } });
        let of = |input: &str, schema: &Value| {
            let (raw, mut html) = (RawValue::from_string(input.to_owned()).unwrap(), Html::default());
            assert!(write_input(&mut html, &raw, schema), "{input}");
            html.finish()
        };
        let facts = of(r#"{"city":"Oslo","zip":"0150"}"#, &city);
        assert!(facts.contains(">City &lt;b&gt;</dt>") && facts.contains(">zip</dt>"), "{facts}");
        let tree = of(r#"{"stops":[{"city":"Oslo"}]}"#, &trip);
        for label in [">Stops</span>", ">0</span>", ">City &lt;b&gt;</span>"] {
            assert!(tree.contains(label), "{label}: {tree}");
        }
    }

    #[test]
    fn an_error_has_its_cause_and_what_to_do() {
        let html = html_of(
            r#"{"code":"no_answer","message":"No <answer>","hint":"Try again.","cause":{"message":"reset","cause":"peer"}}"#,
            Look::Log,
        );
        for part in [
            "<strong>No &lt;answer&gt;</strong> <code>no_answer</code>",
            "Try again.",
            "<strong>reset</strong>",
            "peer",
        ] {
            assert!(html.contains(part), "{part}: {html}");
        }
    }

    #[test]
    fn hostile_content_is_inert() {
        for (json, look) in [
            (r#""javascript:alert(1)""#, Look::Page("s")),
            (r#"{"a":"javascript:alert(1)","b":"<script>alert(1)</script>"}"#, Look::Page("s")),
            (r##""# T\n\n- [x](javascript:alert(1)) <img src=x onerror=alert(1)>""##, Look::Page("s")),
            (r#""data:image/svg+xml;base64,PHN2Zz4=""#, Look::Page("s")),
            (r#"[{"<script>":1},{"<script>":"\" onclick=\"x"}]"#, Look::Plain),
            (r#"{"link":"https://evil.test"}"#, Look::Plain),
        ] {
            let html = html_of(json, look);
            for part in ["href=", "<script", "<img", "onclick=\"x", "<svg"] {
                assert!(!html.contains(part), "{part} of {json}: {html}");
            }
        }
        let picture = html_of(&format!("\"data:image/svg+xml;base64,{PIXEL}\""), Look::Page("s"));
        assert!(picture.contains("src=\"data:image/png;base64,") && !picture.contains("svg"), "{picture}");
        assert_eq!(html_of(&format!("\"data:image/png;base64,{PIXEL}\""), Look::Plain), "");
    }

    #[test]
    fn a_large_result_is_cut_and_can_be_saved() {
        let raw = RawValue::from_string(format!("[{}]", vec!["\"abcdef\""; 110_000].join(","))).unwrap();
        let mut html = Html::default();
        write_result(&mut html, &raw, "s1");
        let html = html.finish();
        assert!(html.len() < 3 * PAYLOAD_BYTES_MAX, "{}", html.len());
        assert!(html.contains("href=\"/api/sessions/s1/result\" download=\"session-s1-result.json\""), "{html:.300}");
    }
}
