//! Parts of JSON Pointers (RFC 6901).

/// Whether a text is a JSON Pointer of a part: it begins with `/`, and each `~` begins an escape.
pub fn is_pointer(text: &str) -> bool {
    text.starts_with('/') && text.split('~').skip(1).all(|after| after.starts_with(['0', '1']))
}

/// The name of a member as a part of a JSON Pointer.
pub fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// A part of a JSON Pointer as the name of a member.
pub fn unescaped(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_escaped_and_read_without_a_difference() {
        for (name, part) in [("", ""), ("a/b", "a~1b"), ("~1", "~01"), ("ä ~/", "ä ~0~1")] {
            assert_eq!((escaped(name).as_str(), unescaped(part).as_str()), (part, name));
            assert!(is_pointer(&format!("/{part}")), "{part}");
        }
        assert!(["", "a", "/~", "/~2", "/a~"].iter().all(|text| !is_pointer(text)));
    }
}
