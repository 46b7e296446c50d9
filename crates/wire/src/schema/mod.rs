//! Schemas of the OpenAPI document that several wire types share. Each bound is the constant that the server enforces.
//!
//! Wire types refer to them with `schema(value_type = …)`. The types of this module only carry schemas and have
//! no values.

mod closed;
mod event;
mod json;
mod mcp;
mod number;
mod shape;
mod text;
mod tool;
mod view;

pub use closed::*;
pub use event::*;
pub use json::*;
pub use mcp::*;
pub use number::*;
pub use shape::*;
pub use text::*;
pub use tool::*;
pub use view::*;

use utoipa::{
    ToSchema,
    openapi::{RefOr, schema::Schema},
};

/// A schema under its name.
type Named = (String, RefOr<Schema>);

/// Every shared schema: query parameters refer to some that no body mentions.
pub fn all() -> Vec<Named> {
    let mut all = text::all();
    all.extend(closed::all());
    all.extend(event::all());
    all.extend(json::all());
    all.extend(mcp::all());
    all.extend(number::all());
    all.extend(shape::all());
    all.extend(tool::all());
    all.extend(view::all());
    all
}

fn named<T: ToSchema>() -> Named {
    (T::name().into_owned(), T::schema())
}
