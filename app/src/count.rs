//! A count with its noun, for code that also ships to the browser, which does not link `domain`.

/// `1 event`, `2 events`: for nouns whose plural takes an `s`. `domain::count::counted` knows the other plurals.
pub fn counted(n: u32, one: &str) -> String {
    let end = if n == 1 { "" } else { "s" };
    [&n.to_string(), " ", one, end].concat()
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    #[test]
    fn the_browser_counts_as_the_server_does() {
        for noun in ["event", "new event", "task"] {
            for n in [0, 1, 2, 999] {
                assert_eq!(super::counted(n, noun), domain::count::counted(n.into(), noun));
            }
        }
    }
}
