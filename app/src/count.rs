//! A count and a count with its noun, for code that also ships to the browser, which does not link `domain`.

/// `1 event`, `2 events`: for nouns whose plural takes an `s`. `domain::count::counted` knows the other plurals.
pub fn counted(n: u32, one: &str) -> String {
    let end = if n == 1 { "" } else { "s" };
    [&grouped(n), " ", one, end].concat()
}

/// The number with a comma between groups of three digits.
pub fn grouped(n: u32) -> String {
    if n < 1_000 {
        return n.to_string();
    }
    let last = (n % 1_000 + 1_000).to_string();
    [&grouped(n / 1_000), ",", &last[1..]].concat()
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    #[test]
    fn the_browser_counts_as_the_server_does() {
        for noun in ["event", "new event", "task"] {
            for n in [0, 1, 2, 999, 1_000, 12_034, u32::MAX] {
                assert_eq!(super::counted(n, noun), domain::count::counted(n.into(), noun));
            }
        }
    }
}
