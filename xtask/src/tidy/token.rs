//! Rust code as a flat list of tokens.

use std::str::FromStr;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

pub(super) struct Token {
    pub(super) line: usize,
    pub(super) text: String,
}

pub(super) fn is_string(token: &str) -> bool {
    token.trim_start_matches(['b', 'c', 'r', '#']).starts_with('"')
}

/// The tokens of the code as a flat list, brackets included. `::` is one token, because the rules look for paths.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, usize> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let stream = TokenStream::from_str(text).map_err(|error| error.span().start().line)?;
    let mut flat = Vec::new();
    flatten(stream, &mut flat);
    Ok(flat)
}

fn flatten(stream: TokenStream, flat: &mut Vec<Token>) {
    for tree in stream {
        let line = tree.span().start().line;
        match tree {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                flat.push(Token { line, text: open.to_owned() });
                flatten(group.stream(), flat);
                flat.push(Token { line: group.span_close().start().line, text: close.to_owned() });
            }
            TokenTree::Punct(punct) => match flat.last_mut() {
                Some(last) if last.text == ":" && punct.as_char() == ':' => last.text.push(':'),
                _ => flat.push(Token { line, text: punct.as_char().to_string() }),
            },
            other => flat.push(Token { line, text: other.to_string() }),
        }
    }
}
