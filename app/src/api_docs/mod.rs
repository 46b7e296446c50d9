//! /api/docs: the OpenAPI document, to be read.

mod page;
mod view_model;

pub use page::page;
