//! The rule that each table of limits in the operators' document names every constant of its file, and no other.

use super::{Finding, Sources};

pub const RULE: &str = "limit-table";

const DOCUMENT: &str = "docs/operations.md";
/// Begins the sentence before a table. The file of the constants follows, up to the next backtick.
const BEGIN: &str = "From `";

/// Compares the names in the first columns of the tables with the public constants of their files.
pub fn check(sources: &Sources) -> Vec<Finding> {
    let lines: Vec<&str> = sources.get(DOCUMENT).map_or_else(Vec::new, |text| text.lines().collect());
    let mut findings = Vec::new();
    for (at, file) in lines.iter().enumerate().filter_map(|(at, line)| Some((at, file_of(line)?))) {
        let Some(code) = sources.get(file) else {
            findings.push(Finding::new(DOCUMENT, at + 1, RULE, format!("there is no {file}")));
            continue;
        };
        let constants: Vec<&str> = code.lines().filter_map(constant).collect();
        let rows = rows_after(&lines, at);
        for name in constants.iter().filter(|name| rows.iter().all(|(_, named)| named != *name)) {
            findings.push(Finding::new(DOCUMENT, at + 1, RULE, format!("the table has no row for {name} of {file}")));
        }
        for (line, name) in rows.iter().filter(|(_, named)| !constants.contains(named)) {
            findings.push(Finding::new(DOCUMENT, *line, RULE, format!("{file} has no constant {name}")));
        }
    }
    findings
}

/// The file that a line announces the constants of.
fn file_of(line: &str) -> Option<&str> {
    let (file, _) = line.split_once(BEGIN)?.1.split_once('`')?;
    file.ends_with(".rs").then_some(file)
}

/// The name of the public constant that a line declares.
fn constant(line: &str) -> Option<&str> {
    line.strip_prefix("pub const ")?.split_once(':').map(|(name, _)| name)
}

/// The names in the first column of the next table, each with its line.
fn rows_after<'a>(lines: &[&'a str], at: usize) -> Vec<(usize, &'a str)> {
    let after = lines.iter().enumerate().skip(at + 1);
    let table = after.skip_while(|(_, line)| !line.starts_with('|')).take_while(|(_, line)| line.starts_with('|'));
    let names = table.flat_map(|(at, line)| {
        let first = line.split('|').nth(1).unwrap_or_default();
        first.split('`').skip(1).step_by(2).map(move |name| (at + 1, name))
    });
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: &str = "/// Most of these.\npub const A_MAX: u32 = 1;\npub const B_MAX: usize = 2;\nconst C: u8 = 3;\n";

    fn found(document: &str) -> Vec<(usize, String)> {
        let sources =
            Sources::from([(DOCUMENT.to_owned(), document.to_owned()), ("a/limit.rs".to_owned(), CODE.to_owned())]);
        check(&sources).into_iter().map(|finding| (finding.line, finding.what)).collect()
    }

    #[test]
    fn a_table_that_names_all_constants_and_no_other_is_in_order() {
        let table = "From `a/limit.rs`:\n\n| Constant | Value |\n|---|---|\n| `A_MAX`, `B_MAX` | 1, 2 |\n";
        assert_eq!(found(table), []);
        assert_eq!(found("From `limits`, and no table.\n"), []);
        assert_eq!(check(&Sources::new()), []);
    }

    #[test]
    fn constants_without_a_row_and_rows_without_a_constant_are_found() {
        let table =
            "From `a/limit.rs`:\n\n| Constant | Value |\n|---|---|\n| `A_MAX` | 1 |\n| `C` | `3` |\n\n| `D` |\n";
        let missing = "the table has no row for B_MAX of a/limit.rs".to_owned();
        let unknown = "a/limit.rs has no constant C".to_owned();
        assert_eq!(found(table), [(1, missing), (6, unknown)]);
    }

    #[test]
    fn a_file_that_does_not_exist_is_found() {
        assert_eq!(found("One.\nFrom `b.rs`:\n"), [(2, "there is no b.rs".to_owned())]);
    }
}
