//! The wire formats of models' services.

use genai::adapter::AdapterKind;
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

    /// The name of the format in `genai`.
    pub(super) const fn kind(self) -> AdapterKind {
        match self {
            Self::OpenAi => AdapterKind::OpenAI,
            Self::Anthropic => AdapterKind::Anthropic,
        }
    }
}
