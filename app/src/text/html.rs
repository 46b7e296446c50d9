//! An HTML writer for the rows of a transcript, where views are too slow: a page has hundreds of rows.

use super::{markdown::Breaks, terminal};

/// HTML being written. `raw` takes only literals; everything else is escaped.
#[derive(Debug, Default)]
pub struct Html(String);

impl Html {
    /// An empty buffer with this capacity, bytes.
    pub fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// Appends trusted markup.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Appends text, escaped for HTML content and for double-quoted attributes.
    pub fn text(&mut self, text: &str) -> &mut Self {
        let mut rest = text;
        while let Some(at) = rest.bytes().position(|b| matches!(b, b'&' | b'<' | b'>' | b'"')) {
            let (before, from) = rest.split_at(at);
            self.0.push_str(before);
            self.0.push_str(match from.as_bytes().first() {
                Some(b'&') => "&amp;",
                Some(b'<') => "&lt;",
                Some(b'>') => "&gt;",
                _ => "&quot;",
            });
            rest = &from[1..];
        }
        self.0.push_str(rest);
        self
    }

    /// Appends a whole number.
    pub fn number(&mut self, n: u64) -> &mut Self {
        // Faster than the formatter; a row has about twelve numbers.
        if n >= 10 {
            self.number(n / 10);
        }
        self.0.push(char::from(b'0' + (n % 10) as u8));
        self
    }

    /// Appends a number as two digits.
    pub fn two(&mut self, n: u32) -> &mut Self {
        self.0.push(char::from(b'0' + (n / 10 % 10) as u8));
        self.0.push(char::from(b'0' + (n % 10) as u8));
        self
    }

    /// Appends the Markdown of a document as sanitized HTML.
    pub fn markdown(&mut self, text: &str) -> &mut Self {
        super::markdown::push(&mut self.0, text, Breaks::Flowing);
        self
    }

    /// Appends the Markdown of a message as sanitized HTML. Its lines stay lines.
    pub fn message(&mut self, text: &str) -> &mut Self {
        super::markdown::push(&mut self.0, text, Breaks::Kept);
        self
    }

    /// Appends what a program printed, for a `pre`: spans with the classes of `style/output.css` around what is styled.
    pub fn terminal(&mut self, text: &str) -> &mut Self {
        terminal::each_run(text, |classes, words| {
            if classes.is_empty() {
                self.text(words);
            } else {
                self.raw("<span class=\"").text(classes).raw("\">").text(words).raw("</span>");
            }
        });
        self
    }

    /// Appends a view without islands.
    pub fn view(&mut self, view: impl leptos::IntoView) -> &mut Self {
        crate::render::append_html(&mut self.0, view);
        self
    }

    /// The written HTML.
    pub fn finish(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::Html;

    #[test]
    fn text_is_escaped_and_markup_is_not() {
        let mut html = Html::default();
        html.raw("<b title=\"").text("a\"<é>&").raw("\">").number(12).two(7).raw("</b>");
        assert_eq!(html.finish(), "<b title=\"a&quot;&lt;é&gt;&amp;\">1207</b>");
    }
}
