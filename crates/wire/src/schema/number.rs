//! Schemas of whole numbers in query parameters.

use super::{Named, named};
use domain::limit::{COUNT_AT_MOST_MAX, SEQUENCE_MAX};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, RefOr, Type,
        schema::{Schema, SchemaType},
    },
};

macro_rules! integers {
    ($(#[doc = $doc:literal] $name:ident = $least:expr, $most:expr;)+) => {
        $(
            #[doc = $doc]
            #[derive(Debug)]
            pub struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    let integer = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Integer));
                    let integer = integer.minimum(Some($least)).maximum(Some($most));
                    integer.description(Some($doc.trim())).build().into()
                }
            }

            impl ToSchema for $name {}
        )+

        pub(super) fn all() -> Vec<Named> {
            vec![$(named::<$name>()),+]
        }
    };
}

integers! {
    /// A place in a session's log.
    Sequence = 0_u64, SEQUENCE_MAX;
    /// Where counting may end.
    CountAtMost = 0_u32, COUNT_AT_MOST_MAX;
    /// How many sessions of an entity: more than 100 count as 100.
    EntitySessionsLimit = 1_u32, u32::MAX;
}
