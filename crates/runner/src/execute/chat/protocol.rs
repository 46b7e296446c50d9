//! The wire formats of models' services.

use serde::Deserialize;

/// Wire format of a model's service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wire {
    /// `POST {base_url}/chat/completions`
    #[serde(rename = "openai")]
    OpenAi,
    /// `POST {base_url}/messages`
    Anthropic,
}

impl Wire {
    /// The address of the service that defined the format.
    pub const fn default_base_url(self) -> &'static str {
        match self {
            Self::OpenAi => "https://api.openai.com/v1/",
            Self::Anthropic => "https://api.anthropic.com/v1/",
        }
    }

    /// The path below the base URL.
    pub(super) const fn path(self) -> &'static [&'static str] {
        match self {
            Self::OpenAi => &["chat", "completions"],
            Self::Anthropic => &["messages"],
        }
    }
}
