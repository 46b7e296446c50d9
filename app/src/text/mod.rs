//! Text for display: escaping, durations, numbers, JSON and Markdown.

pub mod duration;
pub mod escape;
pub mod html;
pub mod json;
pub mod label;
pub mod markdown;
pub mod number;
pub mod shorten;
