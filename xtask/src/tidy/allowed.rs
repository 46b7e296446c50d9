//! Exceptions from rules, each with its reason: `path | rule | reason`.

use super::Finding;

const REASON_LETTERS_MIN: usize = 20;
pub const RULE: &str = "allow-list";

/// Removes the findings that the list allows. An entry without a reason, or one that allows nothing, is a finding
/// itself.
pub fn apply(list_path: &str, list: &str, findings: Vec<Finding>) -> Vec<Finding> {
    let mut left = findings;
    let mut complaints = Vec::new();
    for (at, line) in list.lines().enumerate() {
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.splitn(3, '|').map(str::trim).collect();
        let [path, rule, reason] = fields[..] else {
            complaints.push(Finding::new(list_path, at + 1, RULE, "an entry reads: path | rule | reason"));
            continue;
        };
        if reason.len() < REASON_LETTERS_MIN {
            complaints.push(Finding::new(list_path, at + 1, RULE, format!("{path} needs a reason that explains")));
            continue;
        }
        let before = left.len();
        left.retain(|finding| !(finding.file == path && finding.rule == rule));
        if left.len() == before {
            complaints.push(Finding::new(list_path, at + 1, RULE, format!("{path} does not break {rule} any more")));
        }
    }
    left.extend(complaints);
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings() -> Vec<Finding> {
        vec![Finding::new("a.rs", 501, "length", "501 lines")]
    }

    #[test]
    fn an_entry_with_a_reason_allows_one_rule_for_one_file() {
        assert_eq!(apply("allow", "# note\na.rs | length | one table that reads best whole\n", findings()), []);
        let other_file = apply("allow", "b.rs | length | one table that reads best whole\n", findings());
        assert_eq!(other_file.len(), 2);
    }

    #[test]
    fn entries_without_reason_or_use_are_findings() {
        let rules = |list| apply("allow", list, findings()).into_iter().map(|finding| finding.rule).collect::<Vec<_>>();
        assert_eq!(rules("a.rs | length | long\n"), ["length", RULE]);
        assert_eq!(rules("a.rs length\n"), ["length", RULE]);
        let stale = "a.rs | length | one table that reads best whole\na.rs | sql | there used to be a query here\n";
        assert_eq!(rules(stale), [RULE]);
    }
}
