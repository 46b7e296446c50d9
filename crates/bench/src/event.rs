//! Events of plausible kinds and sizes, the same for the server, the bare engines and the rows made in bulk.

/// What an agent says, about a line long.
const TEXT: &str = "The second supplier delivers within four days at 12.40 per piece, but only from 500 pieces on; \
                    the first one has no minimum and asks for 13.10. I will check the third before I compare.";

/// Kind and content of the event at this place of a session: a message, a thought, a tool call, its result.
pub fn kind_and_content(index: usize) -> (&'static str, String) {
    kind_and_content_with(index, TEXT)
}

/// The same with this text, which needs no escapes in JSON.
pub fn kind_and_content_with(index: usize, text: &str) -> (&'static str, String) {
    let call = index / 4;
    match index % 4 {
        0 => ("agent.message", format!("[{{\"type\":\"text\",\"text\":\"{text}\"}}]")),
        1 => ("agent.thinking", format!("[{{\"type\":\"reasoning\",\"text\":\"{text}\"}}]")),
        2 => (
            "agent.tool_call",
            format!(
                "[{{\"type\":\"tool-call\",\"toolCallId\":\"call-{call}\",\"toolName\":\"search_offers\",\
                 \"input\":{{\"article\":\"M8 x 40\",\"pieces\":500,\"region\":\"EU\"}}}}]"
            ),
        ),
        _ => (
            "agent.tool_result",
            format!(
                "[{{\"type\":\"tool-result\",\"toolCallId\":\"call-{call}\",\"toolName\":\"search_offers\",\
                 \"output\":{{\"type\":\"text\",\"value\":\"{text}\"}}}}]"
            ),
        ),
    }
}

/// The event at this place as a worker sends it.
pub fn json(id: &str, index: usize) -> String {
    let (kind, content) = kind_and_content(index);
    format!("{{\"id\":\"{id}\",\"type\":\"{kind}\",\"content\":{content}}}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_json() {
        for index in 0..8 {
            serde_json::from_str::<serde_json::Value>(&json("x", index)).unwrap();
        }
    }
}
