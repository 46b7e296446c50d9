//! `[canvas]`: documents that people and agents edit together.

use chrono::TimeDelta;
use domain::limit::CANVAS_LEFT_DAYS_DEFAULT;
use serde::Deserialize;
use std::num::NonZeroU16;

/// The table of the file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CanvasFile {
    /// Days without a change after which a canvas is abandoned.
    abandoned_after_days: Option<NonZeroU16>,
}

impl CanvasFile {
    /// Time without a change after which a canvas is abandoned.
    pub(super) fn left_for(&self) -> TimeDelta {
        TimeDelta::days(self.abandoned_after_days.map_or(CANVAS_LEFT_DAYS_DEFAULT, |days| days.get().into()))
    }
}
