//! Text for display: escaping, durations, numbers, names of people, JSON and Markdown; and texts that share a line of a
//! control.

pub mod duration;
#[cfg(feature = "ssr")]
pub mod error_text;
pub mod escape;
pub mod html;
pub mod json;
pub mod label;
pub mod markdown;
pub mod number;
pub mod parts;
pub mod people;
pub mod shorten;
pub mod terminal;
