//! Schemas of JSON values that are stored as they were sent.

use super::{HookName, HookSession, Name, Named, RuleText, named};
use domain::limit::RULE_NUMBER_MAX;
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        ObjectBuilder, OneOfBuilder, Ref, RefOr, Type,
        schema::{AdditionalProperties, ArrayBuilder, Schema, SchemaType},
    },
};

/// A JSON value of any type.
#[derive(Debug)]
pub struct AnyJson;

impl PartialSchema for AnyJson {
    fn schema() -> RefOr<Schema> {
        let text = "Any JSON: an object, an array, a text, a number, true, false or null. Kept byte for byte.";
        ObjectBuilder::new().schema_type(SchemaType::AnyValue).description(Some(text)).build().into()
    }
}

impl ToSchema for AnyJson {}

/// One part of an event's content.
#[derive(Debug)]
pub struct Part;

impl PartialSchema for Part {
    fn schema() -> RefOr<Schema> {
        let kind = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        let part = ObjectBuilder::new().property("type", kind).required("type");
        let text = "A part of an event's content: its `type`, and whatever belongs to it, e.g. `text`.";
        part.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(true)))
            .description(Some(text))
            .build()
            .into()
    }
}

impl ToSchema for Part {}

/// An operation of a patch of a canvas.
#[derive(Debug)]
pub struct CanvasOperation;

impl PartialSchema for CanvasOperation {
    fn schema() -> RefOr<Schema> {
        let kinds = ["add", "replace", "remove", "test"];
        let kind = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).enum_values(Some(kinds));
        let path = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).max_length(Some(8_192));
        let value = ObjectBuilder::new().schema_type(SchemaType::AnyValue);
        let operation =
            ObjectBuilder::new().property("op", kind).required("op").property("path", path).required("path");
        let text = "`path` is a JSON Pointer. `value` goes with all but `remove`.";
        operation.property("value", value).description(Some(text)).build().into()
    }
}

impl ToSchema for CanvasOperation {}

/// A character card as JSON.
#[derive(Debug)]
pub struct CardJson;

impl PartialSchema for CardJson {
    fn schema() -> RefOr<Schema> {
        let specs = ["chara_card_v2", "chara_card_v3"];
        let spec = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String)).enum_values(Some(specs));
        let data = ObjectBuilder::new()
            .property("name", Ref::from_schema_name(Name::name()))
            .required("name")
            .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(true)));
        let card = ObjectBuilder::new().property("spec", spec).required("spec").property("data", data).required("data");
        card.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(true)))
            .description(Some("A character card of version 2 or 3. Every other field is kept as it is."))
            .build()
            .into()
    }
}

impl ToSchema for CardJson {}

/// A coding agent's hook.
#[derive(Debug)]
pub struct Hook;

impl PartialSchema for Hook {
    fn schema() -> RefOr<Schema> {
        let hook = ObjectBuilder::new()
            .property("session_id", Ref::from_schema_name(HookSession::name()))
            .required("session_id")
            .property("hook_event_name", Ref::from_schema_name(HookName::name()))
            .required("hook_event_name");
        hook.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(true)))
            .description(Some("A hook's JSON as the agent sends it. Every other field is kept as it is."))
            .build()
            .into()
    }
}

impl ToSchema for Hook {}

/// An event's content as it is sent.
#[derive(Debug)]
pub struct EventContent;

impl PartialSchema for EventContent {
    fn schema() -> RefOr<Schema> {
        let text = ObjectBuilder::new().schema_type(SchemaType::Type(Type::String));
        let parts = ArrayBuilder::new().items(Ref::from_schema_name(Part::name()));
        let either = OneOfBuilder::new().item(text).item(parts);
        let either = either.description(Some("An array of parts; or plain text, which becomes one part."));
        RefOr::T(Schema::OneOf(either.build()))
    }
}

impl ToSchema for EventContent {
    fn schemas(schemas: &mut Vec<Named>) {
        schemas.push(named::<Part>());
    }
}

/// A number that rules compare.
#[derive(Debug)]
pub struct RuleNumber;

impl PartialSchema for RuleNumber {
    fn schema() -> RefOr<Schema> {
        let number = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Number));
        let number = number.minimum(Some(-RULE_NUMBER_MAX)).maximum(Some(RULE_NUMBER_MAX));
        number.description(Some("A number that rules compare, to six decimals.")).build().into()
    }
}

impl ToSchema for RuleNumber {}

/// A value that a condition of a rule takes.
#[derive(Debug)]
pub struct RuleValue;

impl PartialSchema for RuleValue {
    fn schema() -> RefOr<Schema> {
        let boolean = ObjectBuilder::new().schema_type(SchemaType::Type(Type::Boolean));
        let one_of = OneOfBuilder::new()
            .item(Ref::from_schema_name(RuleText::name()))
            .item(ObjectBuilder::new().schema_type(SchemaType::Type(Type::Number)))
            .item(boolean);
        RefOr::T(Schema::OneOf(one_of.description(Some("A text, a number, true or false.")).build()))
    }
}

impl ToSchema for RuleValue {}

pub(super) fn all() -> Vec<Named> {
    vec![
        named::<AnyJson>(),
        named::<Part>(),
        named::<CanvasOperation>(),
        named::<Hook>(),
        named::<EventContent>(),
        named::<CardJson>(),
        named::<RuleNumber>(),
        named::<RuleValue>(),
    ]
}
