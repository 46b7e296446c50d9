//! Types of the parts of content, with the names of the AI SDK.

/// Type of a part. Content may have parts of other types too; they are kept and shown as JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartType {
    /// Text in Markdown.
    Text,
    /// Reasoning of an agent.
    Reasoning,
    /// What an agent asks a tool to do.
    ToolCall,
    /// The result of a call, good or bad.
    ToolResult,
    /// The result of a call that failed.
    ToolError,
}

impl PartType {
    /// The name that is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Reasoning => "reasoning",
            Self::ToolCall => "tool-call",
            Self::ToolResult => "tool-result",
            Self::ToolError => "tool-error",
        }
    }

    /// Reads a name. Some programs write `_` in it, or "thinking" for reasoning.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "text" => Self::Text,
            "reasoning" | "thinking" => Self::Reasoning,
            "tool-call" | "tool_call" => Self::ToolCall,
            "tool-result" | "tool_result" => Self::ToolResult,
            "tool-error" | "tool_error" => Self::ToolError,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_written_name_is_read_as_its_type_and_so_are_the_spellings_of_others() {
        for part in [PartType::Text, PartType::Reasoning, PartType::ToolCall, PartType::ToolResult, PartType::ToolError]
        {
            assert_eq!(PartType::parse(part.as_str()), Some(part));
            assert_eq!(PartType::parse(&part.as_str().replace('-', "_")), Some(part));
        }
        assert_eq!(PartType::parse("thinking"), Some(PartType::Reasoning));
        for other in ["", "Text", "image", "tool-calls", "tool call"] {
            assert_eq!(PartType::parse(other), None, "{other}");
        }
    }
}
