//! Inputs and results of tools: in transcripts, on the pages of sessions and tools, and on shared pages. All of them
//! are untrusted text.

mod picture;
mod shape;
mod tree;
mod tree_script;
mod value;
mod write;

pub use picture::{Picture, picture_named};
pub use tree_script::{live_tree_script, tree_script};
pub use value::{Source, is_picture, leading_text, unwrapped, write_value};
pub use write::{Look, write_input, write_json_text, write_result, write_shape};
