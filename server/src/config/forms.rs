//! `[forms]`: forms that people answer.

use chrono::TimeDelta;
use domain::limit::DRAFT_HOURS_DEFAULT;
use serde::Deserialize;
use std::num::{NonZeroU16, NonZeroU32};

/// Requests that one address or browser without an account may send in a minute when no one says.
const REQUESTS_PER_MINUTE_DEFAULT: NonZeroU32 = NonZeroU32::MIN.saturating_add(119);

/// The table of the file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FormsFile {
    /// Other hosts to which a form may send a respondent after submitting.
    #[serde(default)]
    pub(super) redirect_hosts: Vec<String>,
    /// Requests that one address or browser without an account may send in a minute.
    requests_per_minute: Option<NonZeroU32>,
    /// Hours without a save after which a draft is abandoned.
    draft_hours: Option<NonZeroU16>,
}

/// Settings of forms that people answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FormSettings {
    /// Requests that one address or browser without an account may send in a minute.
    pub requests_per_minute: NonZeroU32,
    /// Time without a save after which a draft is abandoned.
    pub draft_left_for: TimeDelta,
}

impl From<&FormsFile> for FormSettings {
    fn from(file: &FormsFile) -> Self {
        Self {
            requests_per_minute: file.requests_per_minute.unwrap_or(REQUESTS_PER_MINUTE_DEFAULT),
            draft_left_for: TimeDelta::hours(file.draft_hours.map_or(DRAFT_HOURS_DEFAULT, |hours| hours.get().into())),
        }
    }
}
