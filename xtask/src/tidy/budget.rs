//! Rules that the repository does not keep everywhere yet: `rule | findings`, a number that can only fall.

use std::collections::BTreeMap;

use super::Finding;

pub const RULE: &str = "budget";

/// Removes the findings of each rule that has exactly as many as its budget. A rule with more keeps all its findings; a
/// budget that is larger than needed is a finding itself, so that it is lowered.
pub fn apply(list_path: &str, list: &str, findings: Vec<Finding>) -> Vec<Finding> {
    let counts = counts(&findings);
    let mut left = findings;
    let mut complaints = Vec::new();
    for (line, entry) in entries(list) {
        let Some((rule, allowed)) = entry else {
            complaints.push(Finding::new(list_path, line, RULE, "an entry reads: rule | number of findings"));
            continue;
        };
        let count = counts.get(rule).copied().unwrap_or_default();
        if count > allowed {
            let what = format!("{rule} has {count} findings, and {allowed} are allowed: mend the new ones");
            complaints.push(Finding::new(list_path, line, RULE, what));
            continue;
        }
        left.retain(|finding| finding.rule != rule);
        if count < allowed {
            let what = format!("{rule} has only {count} findings: run `cargo xtask tidy --lower`");
            complaints.push(Finding::new(list_path, line, RULE, what));
        }
    }
    left.extend(complaints);
    left
}

/// The list with every number lowered to what is found, and without the rules that nothing breaks any more. No number
/// rises.
pub fn lowered(list: &str, findings: &[Finding]) -> String {
    let counts = counts(findings);
    let mut text = String::new();
    for (line, (_, entry)) in list.lines().zip(all_lines(list)) {
        match entry {
            Some((rule, allowed)) => {
                let count = counts.get(rule).copied().unwrap_or_default().min(allowed);
                if count > 0 {
                    text.push_str(&format!("{rule} | {count}\n"));
                }
            }
            None => text.push_str(&format!("{line}\n")),
        }
    }
    text
}

fn counts(findings: &[Finding]) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for finding in findings {
        *counts.entry(finding.rule).or_default() += 1;
    }
    counts
}

type Entry<'a> = Option<(&'a str, usize)>;

fn all_lines(list: &str) -> impl Iterator<Item = (usize, Entry<'_>)> {
    list.lines().zip(1..).map(|(line, number)| {
        let entry = line.split_once('|').and_then(|(rule, count)| Some((rule.trim(), count.trim().parse().ok()?)));
        (number, entry.filter(|_| !line.starts_with('#')))
    })
}

fn entries(list: &str) -> impl Iterator<Item = (usize, Entry<'_>)> {
    let is_entry = |line: &str| !line.trim().is_empty() && !line.starts_with('#');
    all_lines(list).zip(list.lines()).filter(move |(_, line)| is_entry(line)).map(|(entry, _)| entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(count: usize) -> Vec<Finding> {
        (1..=count).map(|line| Finding::new("a.rs", line, "doc-echo", "it repeats its name")).collect()
    }

    fn rules(list: &str, count: usize) -> Vec<&'static str> {
        apply("budget", list, findings(count)).into_iter().map(|finding| finding.rule).collect()
    }

    #[test]
    fn as_many_findings_as_allowed_are_let_pass() {
        assert_eq!(rules("# note\ndoc-echo | 2\n", 2), [""; 0]);
        assert_eq!(rules("", 1), ["doc-echo"]);
    }

    #[test]
    fn one_more_finding_shows_them_all() {
        assert_eq!(rules("doc-echo | 1\n", 2), ["doc-echo", "doc-echo", RULE]);
    }

    #[test]
    fn a_budget_that_is_too_large_is_lowered() {
        assert_eq!(rules("doc-echo | 3\n", 2), [RULE]);
        assert_eq!(rules("doc-echo | many\n", 0), [RULE]);
        assert_eq!(lowered("# note\ndoc-echo | 3\nother | 4\n", &findings(2)), "# note\ndoc-echo | 2\n");
        assert_eq!(lowered("doc-echo | 1\n", &findings(2)), "doc-echo | 1\n");
    }
}
