//! Counts with their nouns: `1 event`, `12,345 events`.

/// Nouns whose plural follows no rule.
const IRREGULAR: [(&str, &str); 2] = [("person", "people"), ("criterion", "criteria")];

/// Endings after which the plural takes `es`.
const TAKES_ES: [&str; 5] = ["s", "x", "z", "ch", "sh"];

/// Formats a number with its digits in groups of three: `12,345`.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// Returns the plural of an English noun. Of several words the last one changes: `tool call` becomes `tool
/// calls`.
pub fn plural(one: &str) -> String {
    let (before, last) = one.split_at(one.rfind(' ').map_or(0, |space| space + 1));
    if let Some((_, many)) = IRREGULAR.iter().find(|(noun, _)| *noun == last) {
        return [before, many].concat();
    }
    let vowel_before_y = ["ay", "ey", "oy", "uy"].iter().any(|end| last.ends_with(end));
    if let Some(stem) = one.strip_suffix('y').filter(|_| !vowel_before_y) {
        return [stem, "ies"].concat();
    }
    let end = if TAKES_ES.iter().any(|end| last.ends_with(end)) { "es" } else { "s" };
    [one, end].concat()
}

/// Returns the singular of a noun that may be a plural: `rows` becomes `row`. Other words stay unchanged.
pub fn singular(many: &str) -> String {
    if let Some((one, _)) = IRREGULAR.iter().find(|(_, plural)| *plural == many) {
        return (*one).to_owned();
    }
    if let Some(stem) = many.strip_suffix("ies").filter(|stem| stem.len() > 1 && !stem.ends_with("ser")) {
        return [stem, "y"].concat();
    }
    let takes_es = ["sses", "xes", "zes", "ches", "shes"].iter().any(|end| many.ends_with(end));
    if let Some(stem) = many.strip_suffix("es").filter(|_| takes_es) {
        return stem.to_owned();
    }
    let no_plural = ["ss", "us", "is", "series"].iter().any(|end| many.ends_with(end));
    many.strip_suffix('s').filter(|_| !no_plural).unwrap_or(many).to_owned()
}

/// Formats a count with its noun, which is singular for exactly one.
pub fn counted(n: u64, one: &str) -> String {
    if n == 1 { ["1 ", one].concat() } else { [&grouped(n), " ", &plural(one)].concat() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_is_singular() {
        assert_eq!(
            [0, 1, 2, 12_345].map(|n| counted(n, "event")),
            ["0 events", "1 event", "2 events", "12,345 events"]
        );
        assert_eq!([0, 1, 2].map(|n| counted(n, "person")), ["0 people", "1 person", "2 people"]);
    }

    #[test]
    fn plurals_follow_the_rules_of_english() {
        for (one, many) in [
            ("row", "rows"),
            ("tool call", "tool calls"),
            ("try", "tries"),
            ("entry", "entries"),
            ("entity", "entities"),
            ("reply", "replies"),
            ("day", "days"),
            ("key", "keys"),
            ("address", "addresses"),
            ("match", "matches"),
            ("index", "indexes"),
            ("criteria set", "criteria sets"),
            ("former person", "former people"),
        ] {
            assert_eq!(plural(one), many);
        }
    }

    #[test]
    fn singulars_undo_plurals_and_leave_other_words() {
        for one in ["row", "result", "match", "entry", "entity", "day", "address", "index", "person", "box", "file"] {
            assert_eq!(singular(&plural(one)), one);
        }
        for word in ["data", "status", "analysis", "series", "class", "hit"] {
            assert_eq!(singular(word), word);
        }
    }

    #[test]
    fn digits_stand_in_groups_of_three() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
