//! What the server promises over HTTP, asked of the real binary. One test binary; each file is a chapter.

mod app;
mod bad_input;
mod csrf;
mod docs;
mod limits;
mod matrix;
mod soak;
mod stop;
