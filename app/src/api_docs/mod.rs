//! The page /api/docs: the OpenAPI document for readers.

mod page;
mod view_model;

pub use page::page;
