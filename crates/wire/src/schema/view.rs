//! Schemas of a view's fields and publication.

use super::{
    AnyJson, Description, Dimension, Label, Named, OptionLabel, OptionValue, Slug, ViewGate, ViewResponses, named,
    shape::{boolean, closed, list, nullable, nullable_of, of_type, ready, reference},
};
use domain::limit::{
    FIELD_TEXT_CHARS_MAX, FIELD_TEXTS_MAX, NAME_CHARS_MAX, SELECT_OPTIONS_MAX, VIEW_EMBED_ORIGINS_MAX, VIEW_FIELDS_MAX,
    VIEW_HELP_CHARS_MAX, VIEW_KEY_CHARS_MAX, VIEW_RESPONSES_MAX, VIEW_URL_BYTES_MAX,
};
use utoipa::{
    PartialSchema, ToSchema,
    openapi::{
        KnownFormat, ObjectBuilder, OneOfBuilder, RefOr, SchemaFormat, Type,
        schema::{AdditionalProperties, Array, ArrayBuilder, Object, Schema, SchemaType},
    },
};

type Properties = Vec<(&'static str, RefOr<Schema>)>;

/// A path of this server, or an https URL: what `domain::view::check_publication` accepts.
const REDIRECT_URL: &str = "^(/([!#-.0-;=?-\\[\\]-~][!#-;=?-\\[\\]-~]*)?|https://[a-z0-9][!#-;=?-\\[\\]-~]*)$";
/// An origin without a path.
const ORIGIN: &str = "^https?://[a-z0-9.-]+(:[0-9]{1,5})?$";

fn text(max: usize) -> ObjectBuilder {
    of_type(Type::String).max_length(Some(max))
}

fn built(object: ObjectBuilder) -> RefOr<Schema> {
    ready(Object::from(object))
}

fn nullable_integer(least: i64, most: i64) -> RefOr<Schema> {
    let kind = SchemaType::from_iter([Type::Integer, Type::Null]);
    built(ObjectBuilder::new().schema_type(kind).minimum(Some(least)).maximum(Some(most)))
}

fn whole() -> ObjectBuilder {
    of_type(Type::Integer).minimum(Some(i64::MIN)).maximum(Some(i64::MAX))
}

fn nullable_kind(kind: Type) -> RefOr<Schema> {
    built(ObjectBuilder::new().schema_type(SchemaType::from_iter([kind, Type::Null])))
}

fn nullable_text() -> RefOr<Schema> {
    let kind = SchemaType::from_iter([Type::String, Type::Null]);
    built(ObjectBuilder::new().schema_type(kind).max_length(Some(FIELD_TEXT_CHARS_MAX)))
}

fn choices(items: RefOr<Schema>) -> RefOr<Schema> {
    ready(Array::from(ArrayBuilder::new().items(items).min_items(Some(1)).max_items(Some(SELECT_OPTIONS_MAX))))
}

/// One option as it is sent: `{value, label}`, or its value alone.
fn value_or_choice() -> RefOr<Schema> {
    let either = OneOfBuilder::new().item(reference::<OptionValue>()).item(reference::<ViewChoice>());
    RefOr::T(Schema::OneOf(either.build()))
}

/// Returns the properties that only fields of this type have, required ones first, and the schema of a default.
fn of_kind(kind: &str, new: bool) -> (Properties, Properties, RefOr<Schema>) {
    let longest = i64::try_from(FIELD_TEXT_CHARS_MAX).unwrap_or(i64::MAX);
    let most = i64::try_from(SELECT_OPTIONS_MAX).unwrap_or(i64::MAX);
    let options = || choices(if new { value_or_choice() } else { reference::<ViewChoice>() });
    let strings = || ready(Array::from(ArrayBuilder::new().items(built(text(FIELD_TEXT_CHARS_MAX)))));
    let label = || built(text(NAME_CHARS_MAX).pattern(Some(r"^[^\x00-\x1F\x7F-\x9F\u202A-\u202E\u2066-\u2069]*$")));
    let (required, optional, default): (Properties, Properties, _) = match kind {
        "short_text" | "long_text" => (
            vec![],
            vec![("minLength", nullable_integer(0, longest)), ("maxLength", nullable_integer(1, longest))],
            nullable_text(),
        ),
        "number" => {
            let bounds = vec![("minimum", nullable_kind(Type::Number)), ("maximum", nullable_kind(Type::Number))];
            (vec![], bounds, nullable_kind(Type::Number))
        }
        "integer" => {
            let bound = || nullable_of(built(whole()));
            (vec![], vec![("minimum", bound()), ("maximum", bound())], bound())
        }
        "yes_no" => (vec![], vec![], nullable_kind(Type::Boolean)),
        "single_choice" => (vec![("options", options())], vec![], nullable_text()),
        "multiple_choice" => {
            let bounds = vec![("minItems", nullable_integer(0, most)), ("maxItems", nullable_integer(1, most))];
            (vec![("options", options())], bounds, nullable_of(strings()))
        }
        "text_list" => {
            let most = i64::try_from(FIELD_TEXTS_MAX).unwrap_or(i64::MAX);
            let bounds = vec![("minItems", nullable_integer(0, most)), ("maxItems", nullable_integer(1, most))];
            (vec![], bounds, nullable_of(strings()))
        }
        "scale" => {
            let label = || if new { nullable_of(label()) } else { label() };
            let labels = vec![("lowLabel", label()), ("highLabel", label())];
            let ends = vec![("minimum", built(whole())), ("maximum", built(whole()))];
            (ends, labels, nullable_of(built(whole())))
        }
        "rating" => {
            let dimensions = vec![("dimensions", list::<Dimension>())];
            (
                vec![("criteriaSet", reference::<Slug>())],
                if new { vec![] } else { dimensions },
                built(of_type(Type::Null)),
            )
        }
        "entity" => (vec![("entityType", reference::<Slug>())], vec![], nullable_text()),
        // Date, date and time, e-mail address, URL.
        _ => (vec![], vec![], nullable_text()),
    };
    (required, optional, default)
}

/// A field of one type.
fn field_of(kind: &'static str, new: bool) -> RefOr<Schema> {
    let name = built(of_type(Type::String).enum_values(Some([kind])));
    let key = text(VIEW_KEY_CHARS_MAX).min_length(Some(1)).pattern(Some("^[A-Za-z][A-Za-z0-9_-]*$"));
    let help = text(VIEW_HELP_CHARS_MAX).pattern(Some(r"^[^\x00]*$"));
    let (mut required, mut optional, default) = of_kind(kind, new);
    required.extend([("type", name), ("key", built(key)), ("label", reference::<Label>())]);
    optional.extend([("help", built(help)), ("required", boolean()), ("hidden", boolean()), ("prefill", boolean())]);
    optional.push(("default", default));
    let condition = if new { nullable::<ViewCondition>() } else { reference::<ViewCondition>() };
    optional.push(("showIf", condition));
    closed(&format!("A field of type `{kind}`."), required, optional)
}

/// Names of all types of fields, in the order of the documentation.
const KINDS: [&str; 15] = [
    "short_text",
    "long_text",
    "number",
    "integer",
    "yes_no",
    "date",
    "date_time",
    "single_choice",
    "multiple_choice",
    "text_list",
    "scale",
    "rating",
    "entity",
    "email",
    "url",
];

fn field(description: &str, new: bool) -> RefOr<Schema> {
    let one = OneOfBuilder::new().description(Some(description));
    RefOr::T(Schema::OneOf(KINDS.into_iter().fold(one, |one, kind| one.item(field_of(kind, new))).build()))
}

/// An answer that a condition compares with.
fn answer() -> RefOr<Schema> {
    let value = ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::String, Type::Number, Type::Boolean]));
    built(value.max_length(Some(FIELD_TEXT_CHARS_MAX)))
}

fn condition() -> RefOr<Schema> {
    let key = || ("field", built(text(VIEW_KEY_CHARS_MAX).min_length(Some(1))));
    let some =
        ready(Array::from(ArrayBuilder::new().items(answer()).min_items(Some(1)).max_items(Some(SELECT_OPTIONS_MAX))));
    let one = OneOfBuilder::new()
        .description(Some("A field applies if the answer to an earlier field is this. One test only."))
        .item(closed("The answer is this value; one of the chosen ones is.", vec![key(), ("equals", answer())], vec![]))
        .item(closed("It is one of these values.", vec![key(), ("in", some)], vec![]))
        .item(closed("Whether there is an answer.", vec![key(), ("filled", boolean())], vec![]));
    RefOr::T(Schema::OneOf(one.build()))
}

fn publication(description: &str, new: bool) -> RefOr<Schema> {
    let when = || {
        let time = of_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)));
        if new { nullable_of(built(time)) } else { built(time) }
    };
    let most = i64::from(VIEW_RESPONSES_MAX);
    let url = built(text(VIEW_URL_BYTES_MAX).pattern(Some(REDIRECT_URL)));
    let origins = ArrayBuilder::new()
        .items(built(text(VIEW_URL_BYTES_MAX).pattern(Some(ORIGIN))))
        .max_items(Some(VIEW_EMBED_ORIGINS_MAX));
    let always: Properties =
        vec![("gate", reference::<ViewGate>()), ("responses", reference::<ViewResponses>()), ("notify", boolean())];
    let sometimes: Properties = vec![
        ("audience", if new { nullable::<Slug>() } else { reference::<Slug>() }),
        ("maxResponses", nullable_integer(1, most)),
        ("opensAt", when()),
        ("closesAt", when()),
        ("thanks", reference::<Description>()),
        ("redirectUrl", if new { nullable_of(url) } else { url }),
        ("embedOrigins", ready(Array::from(origins))),
    ];
    if new { closed(description, vec![], [always, sometimes].concat()) } else { closed(description, always, sometimes) }
}

fn requested_schema() -> RefOr<Schema> {
    let object = built(of_type(Type::String).enum_values(Some(["object"])));
    let property = of_type(Type::Object).additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(true)));
    let properties = of_type(Type::Object)
        .additional_properties(Some(AdditionalProperties::from(built(property))))
        .max_properties(Some(VIEW_FIELDS_MAX));
    let names = ready(Array::from(ArrayBuilder::new().items(built(text(VIEW_KEY_CHARS_MAX)))));
    closed(
        "A JSON Schema: an object whose properties are texts, lists of texts, numbers, yes or no, and choices.",
        vec![("type", object), ("properties", built(properties))],
        vec![("required", names), ("$schema", nullable_of(built(text(VIEW_URL_BYTES_MAX))))],
    )
}

macro_rules! view_schemas {
    ($(#[doc = $doc:literal] $name:ident = $schema:expr;)+) => {
        $(
            #[doc = $doc]
            #[derive(Debug)]
            pub struct $name;

            impl PartialSchema for $name {
                fn schema() -> RefOr<Schema> {
                    $schema
                }
            }

            impl ToSchema for $name {}
        )+

        pub(super) fn all() -> Vec<Named> {
            vec![$(named::<$name>()),+]
        }
    };
}

view_schemas! {
    /// One option of a choice.
    ViewChoice = closed(
        "One option of a choice: what an answer holds, and what people read.",
        vec![("value", reference::<OptionValue>()), ("label", reference::<OptionLabel>())],
        vec![],
    );
    /// A condition of a field.
    ViewCondition = condition();
    /// One question with the limits of its answers.
    ViewField = field("One question of a form.", false);
    /// The same as it is sent: options may be their values alone.
    NewViewField = field("One question of a form, as it is sent.", true);
    /// How a view is published.
    ViewPublication = publication("Who may answer, how often and when.", false);
    /// How a view is published, as it is sent.
    NewViewPublication = publication("Who may answer, how often and when. What is left out has its default.", true);
    /// The JSON Schema of a form.
    RequestedSchema = requested_schema();
    /// The JSON Schema of a view's fields.
    ExportedSchema = {
        let any = of_type(Type::Object).property("properties", reference::<AnyJson>());
        built(any.description(Some("JSON Schema 2020-12 of the answers.")))
    };
}
