//! Names of form controls. A key can be any text, but brackets in a name mean nesting to a server function.

/// The name of the control for a key, below a prefix such as `value`.
pub fn control_name(prefix: &str, key: &str) -> String {
    format!("{prefix}.{}", key.replace('%', "%25").replace('[', "%5B").replace(']', "%5D"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_no_brackets_and_stays_unique() {
        let names = ["a[b]", "a%5Bb%5D", "a.b"].map(|key| control_name("value", key));
        assert_eq!(names, ["value.a%5Bb%5D", "value.a%255Bb%255D", "value.a.b"]);
    }
}
