//! Words and figures: escaping, durations, counts, JSON and markdown as they are shown.

pub mod duration;
pub mod escape;
pub mod html;
pub mod json;
pub mod markdown;
pub mod number;
pub mod shorten;
