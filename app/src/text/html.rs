//! A plain writer for the one place where views are too slow: the rows of a transcript, hundreds per page.

/// HTML being written. Markup goes in through `raw` as literals; everything else is escaped.
#[derive(Debug, Default)]
pub struct Html(String);

impl Html {
    /// With room for `bytes`.
    pub fn with_capacity(bytes: usize) -> Self {
        Self(String::with_capacity(bytes))
    }

    /// Markup of ours.
    pub fn raw(&mut self, markup: &'static str) -> &mut Self {
        self.0.push_str(markup);
        self
    }

    /// Text, escaped for content and for double-quoted attributes alike.
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

    /// A whole number.
    pub fn number(&mut self, n: u64) -> &mut Self {
        // Without the formatter: a row has a dozen of them.
        if n >= 10 {
            self.number(n / 10);
        }
        self.0.push(char::from(b'0' + (n % 10) as u8));
        self
    }

    /// Two digits.
    pub fn two(&mut self, n: u32) -> &mut Self {
        self.0.push(char::from(b'0' + (n / 10 % 10) as u8));
        self.0.push(char::from(b'0' + (n % 10) as u8));
        self
    }

    /// Markdown, made harmless.
    pub fn markdown(&mut self, text: &str) -> &mut Self {
        super::markdown::push(&mut self.0, text);
        self
    }

    /// A view without islands.
    pub fn view(&mut self, view: impl leptos::IntoView) -> &mut Self {
        crate::document::plain_into(&mut self.0, view);
        self
    }

    /// What was written.
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
