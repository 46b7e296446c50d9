//! Error messages of programs: which of their lines says what went wrong, and the message as HTML.

use super::{html::Html, shorten, terminal};

/// How a traceback of Python begins.
const TRACEBACK: &str = "Traceback (most recent call last)";

/// The line of a stack trace that says what went wrong: the last one of a Python traceback, the message of a panic in
/// Rust, and the line above the frames of JavaScript and Java. `None` for other texts.
pub fn telling_line(message: &str) -> Option<&str> {
    let said = |line: &&str| !line.trim().is_empty();
    if let Some((_, trace)) = message.split_once(TRACEBACK) {
        return trace.lines().rfind(said).map(str::trim);
    }
    let lines: Vec<&str> = message.lines().filter(said).collect();
    if let Some(at) = lines.iter().position(|line| line.contains("panicked at ")) {
        // Rust 1.73 and newer write the message below the place.
        let below = lines.get(at).filter(|line| line.ends_with(':')).and_then(|_| lines.get(at + 1));
        return below.or_else(|| lines.get(at)).map(|line| line.trim());
    }
    let frames = lines.iter().position(|line| line.starts_with([' ', '\t']) && line.trim_start().starts_with("at "))?;
    lines.get(frames.checked_sub(1)?).map(|line| line.trim())
}

/// The message on one line of at most `max` characters: of a stack trace, the line that says what went wrong.
pub fn one_line(message: &str, max: usize) -> String {
    shorten::one_line(telling_line(message).unwrap_or(message), max)
}

/// Appends a message of at most about `bytes_max` bytes. One with several lines keeps them, without control sequences.
/// The line with the error is emphasised; if it is not known, the last one. Of a longer message with several
/// lines the end is shown, because it says why.
pub fn push(html: &mut Html, message: &str, bytes_max: usize) {
    let message = message.trim_end();
    if !message.trim_start().contains(['\n', '\r']) {
        html.raw("<strong dir=\"auto\">").text(shorten::head(message, bytes_max)).raw("</strong>");
        return;
    }
    let message = terminal::plain(message);
    let shown = shorten::tail(&message, bytes_max);
    let telling = telling_line(&message).or_else(|| message.lines().next_back().map(str::trim)).unwrap_or_default();
    html.raw("<pre class=\"error-text\" dir=\"auto\">");
    if shown.len() < message.len() {
        html.raw("…");
    }
    match shown.rsplit_once(telling) {
        Some((before, after)) => html.text(before).raw("<strong>").text(telling).raw("</strong>").text(after),
        None => html.text(shown),
    };
    html.raw("</pre>");
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: &str = "exited with 1:\nTraceback (most recent call last):\n  File \"a.py\", line 2, in <module>\n    \
        pay()\nValueError: no <amount>\n";

    fn shortened(message: &str, bytes_max: usize) -> String {
        let mut html = Html::default();
        push(&mut html, message, bytes_max);
        html.finish()
    }

    #[test]
    fn the_line_that_says_what_went_wrong_is_found() {
        for (message, line) in [
            (PYTHON, Some("ValueError: no <amount>")),
            (
                "thread 'main' panicked at src/a.rs:3:5:\nno amount\nnote: run with `RUST_BACKTRACE=1`",
                Some("no amount"),
            ),
            (
                "thread 'main' panicked at 'no amount', src/a.rs:3:5\nnote: run",
                Some("thread 'main' panicked at 'no amount', src/a.rs:3:5"),
            ),
            (
                "TypeError: x is not a function\n    at pay (a.js:2:1)\n    at main (a.js:9:1)",
                Some("TypeError: x is not a function"),
            ),
            ("    at pay (a.js:2:1)", None),
            ("The disk is full", None),
            ("Two\nlines", None),
            ("", None),
        ] {
            assert_eq!(telling_line(message), line, "{message}");
        }
        assert_eq!(one_line(PYTHON, 80), "ValueError: no <amount>");
        assert_eq!(one_line("Two\nlines", 80), "Two lines");
    }

    #[test]
    fn a_message_keeps_its_lines_and_its_telling_line_is_emphasised() {
        let html = shortened(PYTHON, 4_000);
        assert!(html.starts_with("<pre class=\"error-text\" dir=\"auto\">exited with 1:\nTraceback"), "{html}");
        assert!(html.contains("    pay()\n<strong>ValueError: no &lt;amount&gt;</strong></pre>"), "{html}");
        assert!(shortened("Two\n\u{1b}[31mlines\u{1b}[0m", 80).ends_with(">Two\n<strong>lines</strong></pre>"));
        assert_eq!(shortened("The disk is full\n", 80), "<strong dir=\"auto\">The disk is full</strong>");
    }

    #[test]
    fn of_a_long_message_the_end_is_shown() {
        let long = format!("{}{PYTHON}", "progress\n".repeat(1_000));
        let html = shortened(&long, 200);
        assert!(html.len() < 400 && html.contains(">…") && html.contains("<strong>ValueError"), "{html}");
        assert!(shortened(&"é".repeat(1_000), 201).len() < 300);
    }
}
