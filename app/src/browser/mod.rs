//! Browser APIs for the islands. Only in the WASM build.

pub mod address;
pub mod channel;
pub mod checkbox;
pub mod clipboard;
pub mod database;
pub mod dom;
pub mod element;
pub mod fetch;
pub mod field;
pub mod id;
pub mod live;
pub mod lock;
pub mod notification;
pub mod page;
pub mod patch;
pub mod pointer;
pub mod reads;
pub mod stream;
pub mod task;
pub mod theme;
pub mod times;
pub mod view;
pub mod viewport;
