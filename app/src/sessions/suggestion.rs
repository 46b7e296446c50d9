//! What is suggested while someone types a search line.

use domain::{
    search::{Field, Line},
    session::Status,
};

/// Most agents that are suggested.
const AGENTS_MAX: usize = 20;

/// Whole lines that a browser suggests: the line so far, and one more condition.
pub fn suggestions(line: &Line, agents: &[String]) -> Vec<String> {
    let set = line.to_string();
    let before = if set.is_empty() { set } else { format!("{set} ") };
    let statuses = Status::ALL.into_iter().map(|status| format!("status:{}", status.as_str()));
    let agents = agents.iter().take(AGENTS_MAX).map(|agent| format!("agent:{agent}"));
    let others = Field::ALL.into_iter().filter(|field| !matches!(field, Field::Agent | Field::Status));
    let others = others.map(|field| field.example().to_owned());
    let all = statuses.chain(agents).chain(others).chain(["after:today".to_owned(), "after:7d".to_owned()]);
    all.map(|condition| format!("{before}{condition}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_suggestion_is_a_search() {
        let line = Line::parse("tea -milk").unwrap();
        let all = suggestions(&line, &["scout".to_owned()]);
        assert!(all.contains(&"tea -milk agent:scout".to_owned()) && all.contains(&"tea -milk status:idle".to_owned()));
        for text in all {
            assert!(Line::parse(&text).is_ok(), "{text}");
        }
    }
}
