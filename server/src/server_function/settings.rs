//! The theme, a cookie of the browser.

use super::Backend;
use crate::{cookie, problem::Problem};
use app::{Theme, server_function::Refusal, settings::SettingsBackend};
use async_trait::async_trait;
use axum::http::HeaderValue;
use wire::Code;

#[async_trait]
impl SettingsBackend for Backend {
    async fn save_theme(&self, theme: String) -> Result<(), Refusal> {
        let theme = Theme::ALL.into_iter().find(|known| known.as_str() == theme);
        let wrong = || Problem::field(Code::InvalidRequest, "theme", "system, light or dark");
        let theme = self.answer(theme.ok_or_else(wrong))?;
        self.set_cookie(HeaderValue::from_str(&cookie::set_theme(theme.as_str())).ok());
        Ok(())
    }
}
