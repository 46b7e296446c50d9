//! Names of tools and of their secrets.

use crate::{
    limit::{MCP_TOOL_NAME_CHARS_MAX, TOOL_SECRET_NAME_CHARS_MAX},
    slug::is_slug,
};

/// Slugs that no tool can have, because pages below `/tools/` have these names.
const RESERVED: [&str; 1] = ["new"];

/// Whether `text` can be the slug of a tool: a slug that no page below `/tools/` has as its name.
pub fn is_tool_slug(text: &str) -> bool {
    is_slug(text) && !RESERVED.contains(&text)
}

/// Whether `text` can be the name of a tool's secret: 1 to [`TOOL_SECRET_NAME_CHARS_MAX`] ASCII letters, digits and
/// underscores, of which the first is a letter.
pub fn is_secret_name(text: &str) -> bool {
    text.len() <= TOOL_SECRET_NAME_CHARS_MAX
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Whether `text` can be the name of a tool of an MCP server: 1 to [`MCP_TOOL_NAME_CHARS_MAX`] ASCII letters, digits,
/// `_`, `-`, `.` and `/`.
pub fn is_mcp_tool_name(text: &str) -> bool {
    (1..=MCP_TOOL_NAME_CHARS_MAX).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_cannot_be_named_as_a_page() {
        assert!(is_tool_slug("weather") && is_tool_slug("new-customer"));
        assert!(!is_tool_slug("new") && !is_tool_slug("Weather") && !is_tool_slug(""));
    }

    #[test]
    fn the_name_of_a_tool_of_a_server_has_no_markup_and_no_spaces() {
        for good in ["echo", "get-sum", "files.read_text/v2", &"a".repeat(128)] {
            assert!(is_mcp_tool_name(good), "{good}");
        }
        for bad in ["", "a b", "<b>", "\u{1b}[31m", "é", "a\u{202e}", &"a".repeat(129)] {
            assert!(!is_mcp_tool_name(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_secret_has_the_name_of_a_variable() {
        for good in ["A", "API_KEY", "token2"] {
            assert!(is_secret_name(good), "{good}");
        }
        for bad in ["", "2", "_A", "API-KEY", "A B", "Ä", "A}", &"A".repeat(65)] {
            assert!(!is_secret_name(bad), "{bad}");
        }
    }
}
