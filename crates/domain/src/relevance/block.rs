//! The request for ratings in an agent's context, and the block with which an agent answers it.

use super::rating::{Ratings, is_memory_id};

/// Follows the memories in the context of an agent, after an empty line. These are the words of the specification and
/// no others: 353 bytes, 95 tokens (o200k). The specification counts about 50.
pub const REQUEST: &str = "<memory-feedback>
Rate how useful each injected memory was for your last response.
Respond with ONLY a JSON object mapping memory IDs to scores.
Scale: -1 (actively harmful/misleading) to 1 (directly shaped response).
0 = present but not used. Omit memories you can't evaluate.
Example: {\"mem_abc\": 0.8, \"mem_def\": -0.2, \"mem_ghi\": 0}
</memory-feedback>";

/// Describes to an agent the tool `rate_memories`, whose only argument is `memory_feedback`.
pub const RATE_DESCRIPTION: &str = "Rates how useful the memories were that you were given, for your last response. \
`memory_feedback` maps ids of memories to scores: -1 (actively harmful or misleading), 0 (present but not used), 1 \
(directly shaped the response), or a number between. Leave out memories that you cannot evaluate.";

/// Follows the memories in the context of an agent that has the tool, after an empty line. The scale is in
/// [`RATE_DESCRIPTION`], which the agent has with the tool.
pub const TOOL_REQUEST: &str = "<memory-feedback>
Before your last message, rate these memories with the tool rate_memories. Write no ratings in your messages.
</memory-feedback>";

const OPEN: &str = "<memory-feedback>";
const CLOSE: &str = "</memory-feedback>";
const FENCE: &str = "```";
/// Blocks that are read in one answer: the first. Each can be as long as the answer.
const BLOCKS_MAX: usize = 16;

/// Takes the ratings out of an agent's answer: returns the answer as people see it, and the ratings. `None` if it has
/// none, and the answer is shown unchanged.
///
/// Ratings are JSON objects between the tags of the request, anywhere in the answer, or one object at its end whose
/// members are all ids of memories, also in a code block. A block without a JSON object, or without an end, stays in
/// the answer, and so does one after the first 16.
pub fn take_ratings(answer: &str) -> Option<(String, Ratings)> {
    let (mut shown, mut ratings) = (String::with_capacity(answer.len()), Ratings::default());
    let (mut rest, mut found) = (answer, false);
    for _ in 0..BLOCKS_MAX {
        let Some((before, after)) = rest.split_once(OPEN) else { break };
        shown.push_str(before);
        let block = after.split_once(CLOSE).and_then(|(inside, after)| Some((Ratings::read(inside)?, after)));
        let Some((read, after)) = block else {
            shown.push_str(OPEN);
            rest = after;
            continue;
        };
        ratings.append(read);
        found = true;
        rest = after;
    }
    shown.push_str(rest);
    if let Some((before, read)) = at_the_end(&shown) {
        ratings.append(read);
        return Some((before, ratings));
    }
    found.then(|| (shown.trim().to_owned(), ratings))
}

/// Splits an object of ratings off the end of a text.
fn at_the_end(text: &str) -> Option<(String, Ratings)> {
    let end = text.trim_end();
    let unfenced = end.strip_suffix(FENCE).map(str::trim_end);
    let whole = unfenced.unwrap_or(end);
    let begin = whole.ends_with('}').then(|| whole.rfind('{')).flatten()?;
    let (before, object) = whole.split_at(begin);
    let ratings = Ratings::read(object)?;
    if ratings.is_empty() || !ratings.ids().all(is_memory_id) {
        return None;
    }
    let before = match unfenced {
        Some(_) => {
            let (before, language) = before.rsplit_once(FENCE)?;
            matches!(language.trim(), "" | "json").then_some(before)?
        }
        None => before,
    };
    Some((before.trim().to_owned(), ratings))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_writer::text::tokens;

    const ID: &str = "mem_0123456789ab";

    fn taken(answer: &str) -> Option<(String, Vec<(String, f64)>)> {
        let (shown, ratings) = take_ratings(answer)?;
        Some((shown, ratings.accepted.into_iter().map(|one| (one.memory_id, one.value)).collect()))
    }

    #[test]
    fn an_answer_of_many_open_blocks_is_read_soon() {
        let answer = format!("{}{}{CLOSE}", OPEN.repeat(4_000), "{\"a\":".repeat(10_000));
        assert_eq!(taken(&answer), None);
    }

    #[test]
    fn a_block_is_taken_out_of_the_answer_wherever_it_is() {
        let rated = vec![(ID.to_owned(), 0.5)];
        for answer in [
            format!("Done.\n\n<memory-feedback>{{\"{ID}\": 0.5}}</memory-feedback>"),
            format!("<memory-feedback>\nHere: {{\"{ID}\": 0.5}} as asked\n</memory-feedback>\nDone."),
            format!("Done.\n\n{{\"{ID}\": 0.5}}"),
            format!("Done.\n```json\n{{\"{ID}\": 0.5}}\n```\n"),
        ] {
            assert_eq!(taken(&answer), Some(("Done.".to_owned(), rated.clone())), "{answer}");
        }
        let two =
            format!("A <memory-feedback>{{\"{ID}\":1}}</memory-feedback>B<memory-feedback>{{}}</memory-feedback>");
        assert_eq!(taken(&two), Some(("A B".to_owned(), vec![(ID.to_owned(), 1.0)])));
    }

    #[test]
    fn an_answer_without_ratings_is_shown_as_it_is() {
        for answer in [
            "Done.",
            "",
            "{\"a\": 1}",
            "{}",
            "The tag <memory-feedback> is not closed: {\"mem_0123456789ab\": 1",
            "<memory-feedback>no object</memory-feedback>",
            "```js\nlet a = {\"mem_0123456789ab\": 1}\n```",
        ] {
            assert_eq!(take_ratings(answer), None, "{answer}");
        }
    }

    /// Most tokens that we add to the words of the specification, with the empty line before them.
    const ADDED_TOKENS_MAX: u32 = 50;

    #[test]
    fn a_request_in_our_own_words_has_at_most_50_tokens() {
        // One token for four bytes. Tokenizers count fewer: o200k and cl100k have 30 for this text.
        let added = tokens(&format!("\n\n{TOOL_REQUEST}"));
        assert!(added <= ADDED_TOKENS_MAX, "{added}");
    }

    #[test]
    fn the_request_quoted_by_an_agent_rates_no_memory() {
        let (_, ratings) = take_ratings(REQUEST).unwrap();
        assert!(ratings.ids().all(|id| !is_memory_id(id)));
    }

    proptest::proptest! {
        #[test]
        fn no_answer_is_a_panic(answer in "(<memory-feedback>|</memory-feedback>|\\{|\\}|```|\"mem_0123456789ab\"|:|1|,| |é){0,16}") {
            let _ = take_ratings(&answer);
        }
    }
}
