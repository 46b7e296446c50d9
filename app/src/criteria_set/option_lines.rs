//! The options of a select as lines of text: `value | label | style | score | hard block`. Trailing parts may be
//! omitted. A backslash escapes `|` and `\` inside a part.

use crate::text::parts::{escaped, split};
use domain::{
    criteria_set::{Choice, ChoiceStyle},
    typed_number::typed_number,
};

const HARD_BLOCK: &str = "hard block";

/// Writes options as lines.
pub fn write(options: &[Choice]) -> String {
    options.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn line(option: &Choice) -> String {
    let style = (option.style != ChoiceStyle::Neutral).then(|| option.style.as_str().to_owned());
    let mut parts = vec![
        escaped(&option.value),
        if option.label == option.value { String::new() } else { escaped(&option.label) },
        style.unwrap_or_default(),
        option.score.map(|score| score.to_string()).unwrap_or_default(),
        if option.hard_block { HARD_BLOCK.to_owned() } else { String::new() },
    ];
    while parts.len() > 1 && parts.last().is_some_and(String::is_empty) {
        parts.pop();
    }
    parts.join(" | ")
}

/// Parses lines as options; ignores blank lines.
///
/// # Errors
/// A message with the number of the first invalid line.
pub fn read(text: &str) -> Result<Vec<Choice>, String> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(index, line)| option(line).map_err(|message| format!("line {}: {message}", index + 1))).collect()
}

fn option(line: &str) -> Result<Choice, String> {
    let parts = split(line);
    let part = |index: usize| parts.get(index).map(String::as_str).unwrap_or_default();
    if parts.len() > 5 {
        return Err("write at most value | label | style | score | hard block".into());
    }
    let mut option = Choice::plain(part(0));
    if !part(1).is_empty() {
        option.label = part(1).to_owned();
    }
    if !part(2).is_empty() {
        let style = ChoiceStyle::parse(&part(2).to_lowercase());
        option.style = style.ok_or("the style must be neutral, positive, caution or negative")?;
    }
    if !part(3).is_empty() {
        let score = typed_number(part(3)).and_then(|score| score.as_f64());
        option.score = Some(score.ok_or("the score must be a number")?);
    }
    option.hard_block = match part(4) {
        "" => false,
        text if text.eq_ignore_ascii_case(HARD_BLOCK) => true,
        _ => return Err("the last part must be `hard block` or empty".into()),
    };
    Ok(option)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choice(value: &str, label: &str, style: ChoiceStyle, score: Option<f64>, hard_block: bool) -> Choice {
        Choice { value: value.into(), label: label.into(), style, score, hard_block }
    }

    #[test]
    fn option_lines_omit_empty_parts_and_round_trip() {
        let options = [
            choice("pass", "pass", ChoiceStyle::Neutral, None, false),
            choice("ok", "Fine", ChoiceStyle::Positive, Some(1.0), false),
            choice("fail", "fail", ChoiceStyle::Neutral, None, true),
            choice(r"a|b\c", "x | y", ChoiceStyle::Negative, Some(-0.25), true),
        ];
        let text = write(&options);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[..3], ["pass", "ok | Fine | positive | 1", "fail |  |  |  | hard block"]);
        assert_eq!(read(&text).unwrap(), options);
        assert_eq!(read("\n pass|OK | Positive\n\n").unwrap()[0].label, "OK");
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for (text, message) in [
            ("a\nb | B | red", "line 2: the style must be neutral, positive, caution or negative"),
            ("a |  |  | high", "line 1: the score must be a number"),
            ("a |  |  | NaN", "line 1: the score must be a number"),
            ("\na |  |  |  | block", "line 2: the last part must be `hard block` or empty"),
            ("a | b | c | d | e | f", "line 1: write at most value | label | style | score | hard block"),
        ] {
            assert_eq!(read(text).unwrap_err(), message);
        }
    }
}
