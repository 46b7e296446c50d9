//! Calls that forget a person.

use crate::{Client, Result};
use wire::memory_forget::{ForgetPerson, ForgottenPerson, RememberPerson, RememberedPerson};

impl Client {
    /// `POST /api/memory/forget`
    pub async fn forget_person(&self, person: &ForgetPerson) -> Result<ForgottenPerson> {
        self.post(&["api", "memory", "forget"], person).await
    }

    /// `POST /api/memory/remember`
    pub async fn remember_person(&self, person: &RememberPerson) -> Result<RememberedPerson> {
        self.post(&["api", "memory", "remember"], person).await
    }
}
