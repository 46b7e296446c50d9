//! Schemas of objects whose types `domain` defines. That crate does not depend on OpenAPI.

use super::{
    AnyJson, BundledTool, Description, DimensionDescription, DimensionKey, DimensionType, EmailAddress, FieldType,
    ImportCell, Key, McpTransport, Name, Named, NewViewField, NewViewPublication, OptionStyle, OptionValue, OutputType,
    PlannedKind, PlannedOperation, QuestionText, Slug, StreamEventId, StreamEventName, Title, named,
};
use domain::limit::{BUNDLE_BYTES_MAX, CRITERIA_NUMBER_MAX, SELECT_OPTIONS_MAX};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, OneOfBuilder, Ref, RefOr, Type,
        schema::{AdditionalProperties, Array, ArrayBuilder, Object, Schema, SchemaType},
    },
};

pub(super) fn reference<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}

pub(super) fn nullable<T: ToSchema>() -> RefOr<Schema> {
    nullable_of(reference::<T>())
}

pub(super) fn of_type(kind: Type) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(SchemaType::Type(kind))
}

pub(super) fn ready(object: impl Into<Schema>) -> RefOr<Schema> {
    RefOr::T(object.into())
}

fn number() -> RefOr<Schema> {
    let bounded = of_type(Type::Number).minimum(Some(-CRITERIA_NUMBER_MAX)).maximum(Some(CRITERIA_NUMBER_MAX));
    ready(Object::from(bounded))
}

fn nullable_number() -> RefOr<Schema> {
    let kind = SchemaType::from_iter([Type::Number, Type::Null]);
    let number = ObjectBuilder::new().schema_type(kind);
    ready(Object::from(number.minimum(Some(-CRITERIA_NUMBER_MAX)).maximum(Some(CRITERIA_NUMBER_MAX))))
}

fn options(items: RefOr<Schema>) -> RefOr<Schema> {
    ready(Array::from(ArrayBuilder::new().items(items).max_items(Some(SELECT_OPTIONS_MAX))))
}

/// An object with these properties and no others.
pub(super) fn closed(
    description: &str,
    required: Vec<(&str, RefOr<Schema>)>,
    optional: Vec<(&str, RefOr<Schema>)>,
) -> RefOr<Schema> {
    let mut object = ObjectBuilder::new().description(Some(description));
    for (name, schema) in required {
        object = object.property(name, schema).required(name);
    }
    for (name, schema) in optional {
        object = object.property(name, schema);
    }
    object.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false))).build().into()
}

macro_rules! shapes {
    ($(
        #[doc = $doc:literal]
        $name:ident { $($required:literal: $schema:expr),* $(; $($optional:literal: $other:expr),+)? }
    )+) => {
        $(
            #[doc = $doc]
            #[derive(Debug)]
            pub struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    closed($doc.trim(), vec![$(($required, $schema)),*], vec![$($(($optional, $other)),+)?])
                }
            }

            impl ToSchema for $name {}
        )+

        pub(super) fn all() -> Vec<Named> {
            vec![$(named::<$name>()),+]
        }
    };
}

shapes! {
    /// One field of an entity type. A select has options; a relation has the slug of the type that it leads to.
    FieldDefinition {
        "slug": reference::<Slug>(), "name": reference::<Name>(), "type": reference::<FieldType>();
        "required": boolean(), "options": options(reference::<OptionValue>()), "relationType": nullable::<Slug>()
    }
    /// One dimension of a criteria set, as it is stored.
    Dimension {
        "slug": reference::<DimensionKey>(), "name": reference::<Name>(), "type": reference::<DimensionType>();
        "description": reference::<DimensionDescription>(), "options": options(reference::<DimensionOption>()),
        "min": number(), "max": number()
    }
    /// One option of a select.
    DimensionOption {
        "value": reference::<OptionValue>(), "label": reference::<OptionValue>(), "style": reference::<OptionStyle>(),
        "hardBlock": boolean();
        "score": number()
    }
    /// One dimension as it is sent. Its name defaults to its slug.
    NewDimension {
        "slug": reference::<DimensionKey>(), "type": reference::<DimensionType>();
        "name": nullable::<Name>(), "description": reference::<DimensionDescription>(),
        "options": options(value_or_option()), "optionStyles": option_styles(), "min": nullable_number(),
        "max": nullable_number()
    }
    /// One option as it is sent in full. Its label defaults to its value.
    NewDimensionOption {
        "value": reference::<OptionValue>();
        "label": nullable::<OptionValue>(), "style": reference::<OptionStyle>(), "score": nullable_number(),
        "hardBlock": boolean()
    }
    /// Properties of an option in the short form, where its value is the key.
    NewOptionStyle {
        ; "label": nullable::<OptionValue>(), "style": nullable::<OptionStyle>(), "score": nullable_number(),
        "hardBlock": boolean()
    }
    /// A column of a file, and the field that it fills: a slug, `title`, or nothing.
    ImportColumn { "column": reference::<ImportCell>(), "field": nullable::<Slug>() }
    /// What is wrong with a cell, or with a whole row: then `field` is empty.
    RowError { "row": integer(), "field": text(), "message": text() }
    /// An object of a bundle.
    PlannedItem {
        "kind": reference::<PlannedKind>(), "slug": reference::<Slug>(), "operation": reference::<PlannedOperation>(),
        "fields": ready(Array::from(ArrayBuilder::new().items(reference::<PlannedField>())))
    }
    /// What an installation does with a field, or with a part of one such as `dimensions.tone`.
    PlannedField {
        "field": text(), "operation": reference::<PlannedOperation>(), "before": reference::<AnyJson>(), "after": reference::<AnyJson>()
    }
    /// A tool call that waits for a decision.
    PausedToolCall {
        "toolCallId": reference::<Key>(), "toolName": reference::<Name>(),
        "toolInput": ready(Object::from(of_type(Type::Object)))
    }
    /// One event of a stream of server-sent events. `data` is JSON on one line; an event without a name is a `message`.
    StreamEvent { "data": text(); "event": reference::<StreamEventName>(), "id": reference::<StreamEventId>() }
    /// A bundle as JSON. Properties that are left out of an existing object keep their values.
    Bundle {
        ; "name": nullable_of(prose()), "description": nullable_of(prose()), "groups": list::<BundledGroup>(),
        "criteriaSets": list::<BundledCriteriaSet>(), "entityTypes": list::<BundledEntityType>(),
        "views": list::<BundledView>(), "mcpServers": list::<BundledMcpServer>(), "tools": list::<BundledTool>(),
        "actions": list::<BundledAction>()
    }
    /// A group of people in a bundle. Members are named by their addresses; who else is in it goes.
    BundledGroup {
        "slug": reference::<Slug>(), "name": reference::<Name>();
        "members": nullable_of(list::<EmailAddress>())
    }
    /// A criteria set in a bundle.
    BundledCriteriaSet {
        "slug": reference::<Slug>(), "name": reference::<Name>(), "dimensions": list::<NewDimension>();
        "description": nullable::<Description>()
    }
    /// An entity type in a bundle.
    BundledEntityType {
        "slug": reference::<Slug>(), "name": reference::<Name>();
        "fields": list::<FieldDefinition>()
    }
    /// A view in a bundle. `publish` makes it the newest version.
    BundledView {
        "slug": reference::<Slug>(), "title": reference::<Title>(), "fields": list::<NewViewField>();
        "introduction": nullable::<Description>(), "publishConfig": nullable::<NewViewPublication>(),
        "publish": boolean()
    }
    /// An MCP server in a bundle. Its secret headers are set apart.
    BundledMcpServer {
        "slug": reference::<Slug>(), "name": reference::<Name>(), "transport": reference::<McpTransport>()
    }
    /// An action in a bundle. `approval` is `metadata.approval`, where reviewers may be named by address too.
    BundledAction {
        "slug": reference::<Slug>(), "name": reference::<Name>();
        "description": nullable::<Description>(), "agentSlug": nullable::<Slug>(),
        "outputType": nullable::<OutputType>(), "outputConfig": nullable_object(), "metadata": nullable_object(),
        "criteriaSets": nullable_of(list::<Slug>()), "approval": nullable_object()
    }
    /// A question to a person. `schema` is the JSON Schema of the answer; without one it is free text.
    Question { "message": reference::<QuestionText>(); "schema": reference::<AnyJson>() }
}

pub(super) fn list<T: ToSchema>() -> RefOr<Schema> {
    ready(Array::from(ArrayBuilder::new().items(reference::<T>())))
}

/// For people who read the file; kept nowhere.
fn prose() -> RefOr<Schema> {
    ready(Object::from(of_type(Type::String).max_length(Some(BUNDLE_BYTES_MAX))))
}

pub(super) fn nullable_of(schema: RefOr<Schema>) -> RefOr<Schema> {
    let null = of_type(Type::Null);
    RefOr::T(Schema::OneOf(OneOfBuilder::new().item(null).item(schema).build()))
}

fn nullable_object() -> RefOr<Schema> {
    ready(Object::from(ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::Object, Type::Null]))))
}

pub(super) fn boolean() -> RefOr<Schema> {
    ready(Object::from(of_type(Type::Boolean)))
}

fn integer() -> RefOr<Schema> {
    ready(Object::from(of_type(Type::Integer).minimum(Some(0))))
}

/// Text that the product writes about what was sent. Its length is not limited by itself.
fn text() -> RefOr<Schema> {
    ready(Object::from(of_type(Type::String)))
}

fn value_or_option() -> RefOr<Schema> {
    let either = OneOfBuilder::new().item(reference::<OptionValue>()).item(reference::<NewDimensionOption>());
    RefOr::T(Schema::OneOf(either.build()))
}

/// By the value of the option.
fn option_styles() -> RefOr<Schema> {
    let styles = of_type(Type::Object).additional_properties(Some(reference::<NewOptionStyle>()));
    ready(Object::from(styles.max_properties(Some(SELECT_OPTIONS_MAX))))
}
