//! Merges neighbouring messages of one role. Chat templates of many models refuse conversations whose roles do not
//! alternate.

use super::row::Row;
use crate::record::{Message, Role};

/// What is between the texts of two merged messages: an empty line.
const BETWEEN: &str = "\n\n";

/// Merges neighbours of one role in a row. If the prompt ends with messages of the agent, they become the beginning of
/// each answer, so that prompt and answer together have the messages of an SFT row. Returns whether anything changed.
pub(super) fn merge_row(row: &mut Row) -> bool {
    match row {
        Row::Sft { messages, .. } => merge(messages),
        Row::Dpo { prompt, chosen, rejected, .. } => merge_answers(prompt, &mut [chosen, rejected]),
        Row::Kto { prompt, completion, .. } => merge_answers(prompt, &mut [completion]),
    }
}

fn merge_answers(prompt: &mut Vec<Message>, answers: &mut [&mut Vec<Message>]) -> bool {
    let mut is_changed = merge(prompt);
    // An answer needs a prompt, so messages of the agent alone stay where they are.
    if let Some(last) = prompt.pop_if(|last| last.role == Role::Assistant) {
        if prompt.is_empty() {
            prompt.push(last);
        } else {
            is_changed = true;
            answers.iter_mut().for_each(|answer| answer.insert(0, last.clone()));
        }
    }
    for answer in answers {
        is_changed |= merge(answer);
    }
    is_changed
}

/// Merges neighbours of one role. Each message of a tool answers a call of its own and stays.
fn merge(messages: &mut Vec<Message>) -> bool {
    let before = messages.len();
    messages.dedup_by(|next, kept| {
        let is_one_role = next.role == kept.role && next.role != Role::Tool;
        if is_one_role {
            if !kept.content.is_empty() && !next.content.is_empty() {
                kept.content.push_str(BETWEEN);
            }
            kept.content.push_str(&next.content);
            kept.tool_calls.append(&mut next.tool_calls);
        }
        is_one_role
    });
    messages.len() < before
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::message::ToolCall;
    use serde_json::Map;

    fn chat(turns: &[(Role, &str)]) -> Vec<Message> {
        turns.iter().map(|(role, text)| Message::new(*role, *text)).collect()
    }

    fn kto(prompt: Vec<Message>, answer: &str) -> Row {
        Row::Kto { prompt, completion: chat(&[(Role::Assistant, answer)]), label: true, tools: None }
    }

    #[test]
    fn neighbours_of_one_role_become_one_message_the_same_way_in_every_format() {
        use Role::{Assistant, System, User};
        let turns = [(System, "a"), (System, "b"), (User, "c"), (User, ""), (User, "d"), (Assistant, "e")];
        let whole = chat(&[(System, "a\n\nb"), (User, "c\n\nd"), (Assistant, "e\n\nf")]);
        let mut sft = Row::Sft { messages: chat(&[&turns[..], &[(Assistant, "f")]].concat()), tools: None };
        assert!(merge_row(&mut sft));
        assert_eq!(sft.lists().concat(), whole);
        let mut row = kto(chat(&turns), "f");
        assert!(merge_row(&mut row));
        assert_eq!(row.lists(), [&whole[..2], &whole[2..]]);
        let (chosen, rejected) = (chat(&[(Assistant, "f")]), chat(&[(Assistant, "g")]));
        let mut dpo = Row::Dpo { prompt: chat(&turns), chosen, rejected, tools: None };
        assert!(merge_row(&mut dpo));
        assert_eq!(dpo.lists(), [&whole[..2], &whole[2..], &chat(&[(Assistant, "e\n\ng")])[..]]);
    }

    #[test]
    fn what_alternates_and_the_answers_of_tools_stay() {
        use Role::{Assistant, User};
        let mut row = kto(chat(&[(User, "a"), (Assistant, "b"), (User, "c")]), "d");
        let before = row.clone();
        assert!(!merge_row(&mut row));
        assert_eq!(row, before);
        let calls = ["1", "2"].map(|id| ToolCall::new(id, "look", Map::new()));
        let results = calls.clone().map(|call| Message::answering(&call, "found"));
        let [one, two] = calls.clone().map(|call| Message::calling(vec![call]));
        let mut messages = chat(&[(User, "a"), (Assistant, "I look.")]);
        messages.extend([one, two].into_iter().chain(results.clone()));
        let mut row = kto(messages, "d");
        assert!(merge_row(&mut row));
        let agent = Message { content: "I look.".into(), ..Message::calling(calls.into()) };
        let mut expected = chat(&[(User, "a")]);
        expected.push(agent);
        expected.extend(results);
        assert_eq!(row.lists()[0], expected);
    }

    #[test]
    fn a_prompt_of_the_agent_alone_stays_a_prompt() {
        let mut row = kto(chat(&[(Role::Assistant, "a"), (Role::Assistant, "b")]), "c");
        assert!(merge_row(&mut row));
        assert_eq!(row.lists(), [chat(&[(Role::Assistant, "a\n\nb")]), chat(&[(Role::Assistant, "c")])]);
    }
}
