//! Browser APIs for the islands. Only in the WASM build.

pub mod dom;
pub mod fetch;
pub mod lock;
pub mod page;
pub mod patch;
pub mod theme;
pub mod times;
