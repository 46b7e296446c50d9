//! Markdown from agents and people as sanitized HTML: no raw HTML, no images, only http, https and mailto links.

use super::{
    escape::attribute,
    terminal::{is_terminal, plain},
};
use pulldown_cmark::{Alignment, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd, html::push_html};

/// What a line break inside a paragraph means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breaks {
    /// A new line, as in messages.
    Kept,
    /// A space, as in documents.
    Flowing,
}

/// What is shown of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Its words. Its address appears where the pointer is on it.
    Words,
    /// Its words, and its address behind them.
    Addresses,
}

/// Appends the HTML of a Markdown text.
pub fn push(html: &mut String, text: &str, breaks: Breaks) {
    push_with(html, text, breaks, Links::Words);
}

/// Appends the HTML of a Markdown text, with links as `links` says.
pub fn push_with(html: &mut String, text: &str, breaks: Breaks, links: Links) {
    // Somebody may have pasted what a program printed. Of its control sequences only the escape character is invisible.
    let pasted = is_terminal(text).then(|| plain(text));
    let text = pasted.as_deref().unwrap_or(text);
    if is_plain(text) {
        // Fast path: most messages are one plain sentence, which needs no parser.
        html.push_str("<p>");
        super::escape::content(html, text);
        html.push_str("</p>\n");
        return;
    }
    let inner = Parser::new_ext(text, options());
    let mut rendered = String::new();
    push_html(&mut rendered, Harmless { inner, breaks, links, open: Vec::new(), table: Table::default() });
    // A wide table scrolls, so the keyboard has to reach it. Text is escaped and has no such tag.
    html.push_str(&rendered.replace("<table>", "<table tabindex=\"0\">"));
}

const fn options() -> Options {
    Options::ENABLE_TABLES.union(Options::ENABLE_STRIKETHROUGH).union(Options::ENABLE_TASKLISTS)
}

/// Whether a text shows each of its letters and digits when it is rendered with [`Links::Addresses`]: nothing but
/// markup is left out. A title of a link, the address of a reference and the language of a code block are not shown,
/// and a list shows its own numbers.
pub fn shows_all(text: &str) -> bool {
    if is_terminal(text) {
        return false;
    }
    let (mut shown, mut addresses, mut lists) = (String::new(), Vec::new(), Vec::new());
    for event in Parser::new_ext(text, options()) {
        match event {
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                shown.push_str(&text)
            }
            Event::TaskListMarker(true) => shown.push('x'),
            Event::Start(Tag::Link { link_type: LinkType::Autolink | LinkType::Email, .. }) => {
                addresses.push(CowStr::from(""))
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => addresses.push(dest_url),
            Event::End(TagEnd::Link | TagEnd::Image) => shown.push_str(addresses.pop().as_deref().unwrap_or_default()),
            Event::Start(Tag::List(first)) => lists.push(first),
            Event::End(TagEnd::List(_)) => drop(lists.pop()),
            Event::Start(Tag::Item) => {
                if let Some(Some(number)) = lists.last_mut() {
                    shown.push_str(&number.to_string());
                    *number = number.saturating_add(1);
                }
            }
            _ => {}
        }
    }
    let of = |text: &str| text.chars().filter(|letter| letter.is_alphanumeric()).collect::<String>();
    of(&shown) == of(text)
}

/// The plain text of a Markdown text, on one line of at most `max` characters.
pub fn one_line(text: &str, max: usize) -> String {
    // Parses at most 16 times as many bytes as are shown; markup seldom makes up more of a text.
    let text = super::shorten::head(text, max.saturating_mul(16));
    let mut words = String::new();
    for event in Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH) {
        match event {
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                words.push_str(&text)
            }
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(
                TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::Item | TagEnd::TableCell | TagEnd::CodeBlock,
            ) => words.push(' '),
            _ => {}
        }
    }
    super::shorten::one_line(&words, max)
}

/// Whether a text is one paragraph without any character that could be markup.
fn is_plain(text: &str) -> bool {
    let starts_in_words = text.bytes().next().is_some_and(|first| first.is_ascii_alphabetic() || !first.is_ascii());
    let ends_in_words = text.bytes().last().is_some_and(|last| !last.is_ascii_whitespace());
    let marks = |b: u8| b.is_ascii_control() || b"*_`[]<>&#|~!\\".contains(&b);
    starts_in_words && ends_in_words && !text.bytes().any(marks)
}

/// Whether a link may be followed. A relative link would lead into this workspace from text that an agent wrote, so
/// it may not.
fn is_safe(href: &str) -> bool {
    let lower = href.trim_start().to_ascii_lowercase();
    ["http://", "https://", "mailto:"].iter().any(|scheme| lower.starts_with(scheme))
}

/// The table that is being written.
#[derive(Default)]
struct Table {
    alignments: Vec<Alignment>,
    is_head: bool,
    column: usize,
}

impl Table {
    /// The start of a cell. The alignment is a class, because pages allow no styles in attributes.
    fn open_cell(&mut self) -> String {
        let alignment = self.alignments.get(self.column).copied().unwrap_or(Alignment::None);
        self.column += 1;
        let class = match alignment {
            Alignment::None | Alignment::Left => "",
            Alignment::Center => " class=\"align-center\"",
            Alignment::Right => " class=\"align-right\"",
        };
        format!("<{}{class}>", self.cell())
    }

    const fn cell(&self) -> &'static str {
        if self.is_head { "th" } else { "td" }
    }
}

struct Harmless<I> {
    inner: I,
    breaks: Breaks,
    links: Links,
    table: Table,
    /// The closing tags of the open links and images.
    open: Vec<String>,
}

impl<'a, I: Iterator<Item = Event<'a>>> Iterator for Harmless<I> {
    type Item = Event<'a>;

    fn next(&mut self) -> Option<Event<'a>> {
        let raw = |html: String| Event::Html(CowStr::from(html));
        Some(match self.inner.next()? {
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            Event::Start(Tag::HtmlBlock) => raw("<p>".to_owned()),
            Event::End(TagEnd::HtmlBlock) => raw("</p>".to_owned()),
            Event::Start(Tag::Link { link_type, dest_url, .. }) => {
                if is_safe(&dest_url) {
                    let has_words = !matches!(link_type, LinkType::Autolink | LinkType::Email);
                    let address = (self.links == Links::Addresses && has_words).then(|| attribute(&dest_url));
                    self.open.push(match address {
                        Some(address) => format!("</a> ({address})"),
                        None => "</a>".to_owned(),
                    });
                    raw(format!("<a href=\"{}\" rel=\"noreferrer nofollow\">", attribute(&dest_url)))
                } else {
                    self.open.push(format!(" ({})", attribute(&dest_url)));
                    raw(String::new())
                }
            }
            // The browser would fetch an image from any host, so only its text is shown.
            Event::Start(Tag::Image { dest_url, .. }) => {
                let address = attribute(&dest_url);
                if is_safe(&dest_url) {
                    self.open.push(format!("] (<a href=\"{address}\" rel=\"noreferrer nofollow\">{address}</a>)"));
                } else {
                    self.open.push(format!("] ({address})"));
                }
                raw("[image: ".to_owned())
            }
            // Headings in a message would break the outline of the page.
            Event::Start(Tag::Heading { .. }) => raw("<p class=\"prose-heading\">".to_owned()),
            Event::End(TagEnd::Heading(_)) => raw("</p>".to_owned()),
            Event::End(TagEnd::Link | TagEnd::Image) => raw(self.open.pop().unwrap_or_default()),
            Event::SoftBreak if self.breaks == Breaks::Kept => Event::HardBreak,
            Event::Start(Tag::Table(alignments)) => {
                self.table = Table { alignments, ..Table::default() };
                Event::Start(Tag::Table(Vec::new()))
            }
            event @ Event::Start(Tag::TableHead | Tag::TableRow) => {
                self.table.column = 0;
                self.table.is_head = matches!(event, Event::Start(Tag::TableHead));
                event
            }
            // The words behind the box name it; they may hold links, so they are no label.
            Event::TaskListMarker(is_done) => raw(format!(
                "<input disabled=\"\" type=\"checkbox\"{} aria-label=\"{}\">\n",
                if is_done { " checked=\"\"" } else { "" },
                if is_done { "Done" } else { "To do" }
            )),
            Event::Start(Tag::TableCell) => raw(self.table.open_cell()),
            Event::End(TagEnd::TableCell) => raw(format!("</{}>", self.table.cell())),
            event => event,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Breaks, Links};

    fn html(text: &str) -> String {
        let mut out = String::new();
        super::push(&mut out, text, Breaks::Flowing);
        out
    }

    #[test]
    fn raw_html_is_text() {
        assert_eq!(html("a <b onclick=x>c</b>"), "<p>a &lt;b onclick=x&gt;c&lt;/b&gt;</p>\n");
        let block = html("<script>\nalert(1)\n</script>");
        assert!(!block.contains("<script"), "{block}");
    }

    #[test]
    fn plain_text_needs_no_parser_and_looks_the_same() {
        for text in [
            "One sentence, and a second. 3 - 2 = 1; \"quoted\" (so).",
            "héllo",
            "a > b",
            "a\n\nb",
            "1. x",
            " x",
            "x ",
            "-x",
            "a & b",
        ] {
            let mut parsed = String::new();
            pulldown_cmark::html::push_html(&mut parsed, pulldown_cmark::Parser::new(text));
            assert_eq!(html(text), parsed, "{text:?}");
        }
    }

    #[test]
    fn a_text_shows_all_if_nothing_but_markup_is_left_out() {
        for (text, shows) in [
            ("# Hi\n\n**Sorry**, _Kim_: `x` <b>\n\n1. a\n2. b\n\n- [x] c\n\n| d |\n|---|\n| e |", true),
            ("See [it](https://acme.test/1), ![us](https://acme.test/2) and <https://acme.test/3>.", true),
            ("See [it](https://acme.test/1 \"title\").", false),
            ("See [it][1].\n\n[1]: https://acme.test/1", false),
            ("```sh\nx\n```", false),
            ("1. a\n1. b", false),
            ("a &amp; b", false),
            ("\u{1b}[8mhidden\u{1b}[0m", false),
        ] {
            assert_eq!(super::shows_all(text), shows, "{text}");
        }
        let mut html = String::new();
        super::push_with(&mut html, "[it](https://acme.test/1) <https://b.test>", Breaks::Kept, Links::Addresses);
        assert!(
            html.contains(">it</a> (https://acme.test/1)") && html.ends_with(">https://b.test</a></p>\n"),
            "{html}"
        );
    }

    #[test]
    fn one_line_has_words_and_no_marks() {
        assert_eq!(
            super::one_line("# Head\n\nSome **bold**, `code`.\n\n- [x](https://a.test)", 80),
            "Head Some bold, code. x"
        );
        assert_eq!(super::one_line(&"a ".repeat(1_000), 3), "a a…");
    }

    #[test]
    fn boxes_of_task_lists_have_a_name() {
        let html = html("- [x] one\n- [ ] two");
        assert!(html.contains("<input disabled=\"\" type=\"checkbox\" checked=\"\" aria-label=\"Done\">"), "{html}");
        assert!(html.contains("<input disabled=\"\" type=\"checkbox\" aria-label=\"To do\">"), "{html}");
    }

    #[test]
    fn headings_stay_out_of_the_outline() {
        assert_eq!(html("# Big"), "<p class=\"prose-heading\">Big</p>");
    }

    #[test]
    fn messages_keep_their_lines_and_documents_flow() {
        let of = |breaks| {
            let mut out = String::new();
            super::push(&mut out, "one\ntwo\n\n- a\n  b", breaks);
            out
        };
        assert_eq!(of(Breaks::Flowing), "<p>one\ntwo</p>\n<ul>\n<li>a\nb</li>\n</ul>\n");
        assert_eq!(of(Breaks::Kept), "<p>one<br />\ntwo</p>\n<ul>\n<li>a<br />\nb</li>\n</ul>\n");
    }

    #[test]
    fn cells_of_tables_keep_their_alignment() {
        assert_eq!(
            html("| Module | Lines |\n|:---|---:|\n| m1 | 1,204 |\n| m2 | 880 |"),
            "<table tabindex=\"0\"><thead><tr><th>Module</th><th class=\"align-right\">Lines</th></tr></thead><tbody>\n\
             <tr><td>m1</td><td class=\"align-right\">1,204</td></tr>\n\
             <tr><td>m2</td><td class=\"align-right\">880</td></tr>\n</tbody></table>\n"
        );
    }

    #[test]
    fn images_are_words() {
        let out = html("![a *pixel*](https://x.test/p.png)");
        assert!(!out.contains("<img"), "{out}");
        assert!(out.contains("[image: a <em>pixel</em>]") && out.contains("href=\"https://x.test/p.png\""), "{out}");
    }

    #[test]
    fn only_harmless_links_are_links() {
        assert!(
            html("[x](https://a.test/?q=\"1\")")
                .contains("<a href=\"https://a.test/?q=&quot;1&quot;\" rel=\"noreferrer nofollow\">x</a>")
        );
        for bad in ["javascript:alert(1)", " JAVASCRIPT:alert(1)", "data:text/html,x", "/sign-out", "//evil.test"] {
            let out = html(&format!("[x](<{bad}>)"));
            assert!(!out.contains("<a "), "{out}");
        }
        assert!(!html("<javascript:alert(1)>").contains("<a "));
    }
}
