//! What tools were given and what they returned, wherever it is shown: transcripts, the page of a session, the page of
//! a tool and shared pages. Texts that are JSON are shown in the same forms in conversations and on pages of entities.
//! All of it is untrusted text.

mod picture;
mod shape;
mod value;
mod write;

pub use picture::{Picture, picture_named};
pub use value::{Source, is_picture, leading_text, unwrapped, write_value};
pub use write::{Look, write_json_text, write_result, write_shape};
