//! The lines of the parts of a JSON text.

/// Returns the line, from 1, of the part of a JSON text that these keys and indices lead to. Of a part that is not
/// there, the line of the deepest part around it that is; `None` if there is none, or the text is no object or array.
pub fn line_of<'a>(text: &str, path: impl Iterator<Item = &'a str>) -> Option<usize> {
    let mut at = 0;
    let mut found = None;
    for segment in path {
        let Some(next) = member(text, at, segment) else { break };
        found = Some(next.0);
        at = next.1;
    }
    found.map(|offset: usize| text[..offset].matches('\n').count() + 1)
}

/// Offsets of a member's name, or of an item, and of its value, in the object or array that begins at `at`.
fn member(text: &str, at: usize, wanted: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let mut at = skip_spaces(bytes, at);
    let is_array = match bytes.get(at)? {
        b'{' => false,
        b'[' => true,
        _ => return None,
    };
    at += 1;
    for index in 0_usize.. {
        at = skip_spaces(bytes, at);
        let start = at;
        if matches!(bytes.get(at)?, b'}' | b']') {
            return None;
        }
        let is_wanted = if is_array {
            index.to_string() == wanted
        } else {
            at = skip_value(bytes, at)?;
            let name: Option<String> = serde_json::from_str(&text[start..at]).ok();
            at = skip_spaces(bytes, at) + 1;
            at = skip_spaces(bytes, at);
            name.as_deref() == Some(wanted)
        };
        if is_wanted {
            return Some((start, at));
        }
        at = skip_spaces(bytes, skip_value(bytes, at)?);
        if *bytes.get(at)? == b',' {
            at += 1;
        }
    }
    None
}

fn skip_spaces(bytes: &[u8], from: usize) -> usize {
    let spaces = bytes.iter().skip(from).take_while(|byte| byte.is_ascii_whitespace());
    from + spaces.count()
}

/// The end of the value that begins at `at`.
fn skip_value(bytes: &[u8], from: usize) -> Option<usize> {
    let (mut at, mut depth, mut in_text) = (from, 0_usize, false);
    loop {
        let byte = *bytes.get(at)?;
        if in_text {
            match byte {
                b'\\' => at += 1,
                b'"' => in_text = false,
                _ => {}
            }
            if !in_text && depth == 0 {
                return Some(at + 1);
            }
        } else {
            match byte {
                b'"' => in_text = true,
                b'{' | b'[' => depth += 1,
                b'}' | b']' | b',' if depth == 0 => return Some(at),
                b'}' | b']' => {
                    depth -= 1;
                    if depth == 0 {
                        return Some(at + 1);
                    }
                }
                byte if depth == 0 && byte.is_ascii_whitespace() => return Some(at),
                _ => {}
            }
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_part_is_found() {
        let text = "{\n  \"rows\": [\n    { \"a/b\": 1 },\n    { \"c\": [1,\n 2] }\n  ]\n}";
        for (path, line) in [
            (&["rows"][..], Some(2)),
            (&["rows", "0", "a/b"], Some(3)),
            (&["rows", "1", "c", "1"], Some(5)),
            (&["rows", "7"], Some(2)),
            (&["none"], None),
        ] {
            assert_eq!(line_of(text, path.iter().copied()), line, "{path:?}");
        }
    }
}
