//! Calls that forget a person.

use crate::{Client, Result, limit};
use domain::id::SessionId;
use reqwest::Method;
use wire::{
    interaction::ForgottenInteractions,
    memory_forget::{ForgetPerson, ForgottenPerson, RememberPerson, RememberedPerson},
};

impl Client {
    /// `POST /api/memory/forget`
    pub async fn forget_person(&self, person: &ForgetPerson) -> Result<ForgottenPerson> {
        self.post(&["api", "memory", "forget"], person).await
    }

    /// `DELETE /api/sessions/{id}/interactions`
    pub async fn forget_interactions(&self, id: SessionId) -> Result<ForgottenInteractions> {
        let path = ["api", "sessions", &id.to_string(), "interactions"];
        self.send(Method::DELETE, &path, &serde_json::json!({}), limit::CALL_TIMEOUT).await
    }

    /// `POST /api/memory/remember`
    pub async fn remember_person(&self, person: &RememberPerson) -> Result<RememberedPerson> {
        self.post(&["api", "memory", "remember"], person).await
    }
}
