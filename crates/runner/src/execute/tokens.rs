//! What a model's replies cost.

use serde::{Deserialize, Serialize};

/// Tokens as a model's service reports them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Input tokens, those of the cache included.
    #[serde(rename = "inputTokens")]
    pub input: u64,
    /// Input tokens read from a cache.
    #[serde(rename = "cachedInputTokens", default)]
    pub cached: u64,
    /// Input tokens written to a cache. They are left out if there are none.
    #[serde(rename = "cacheWriteTokens", default, skip_serializing_if = "is_zero")]
    pub cache_written: u64,
    /// Tokens that the model wrote.
    #[serde(rename = "outputTokens")]
    pub output: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// One reply of a model, as it is noted on the reply's last event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Step {
    /// Number of the reply in the session; the first is 1.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub number: Option<u32>,
    /// Name of the model.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub model: Option<String>,
    /// Tokens of the reply; `None` if the service did not report them.
    #[serde(flatten)]
    pub tokens: Option<Tokens>,
    /// Cost of the session so far, US dollars; `None` if it is not known.
    #[serde(skip_serializing_if = "Option::is_none", skip_deserializing)]
    pub total_cost_usd: Option<f64>,
}

impl Tokens {
    /// Adds the tokens of another reply.
    pub const fn add(&mut self, more: Self) {
        self.input = self.input.saturating_add(more.input);
        self.cached = self.cached.saturating_add(more.cached);
        self.cache_written = self.cache_written.saturating_add(more.cache_written);
        self.output = self.output.saturating_add(more.output);
    }
}
