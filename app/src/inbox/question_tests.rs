use super::*;
use crate::inbox::control_name::control_name;
use serde_json::json;

fn fields(schema: &Value) -> Vec<FormField> {
    schema_fields(schema, (ANSWER, control_name), "Answer")
}

fn typed(fields: &[(&str, &str)]) -> impl Fn(&str) -> Option<String> + use<> {
    let fields: Vec<(String, String)> = fields.iter().map(|(n, t)| ((*n).to_owned(), (*t).to_owned())).collect();
    move |name| fields.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone())
}

fn trip() -> Value {
    json!({"type": "object", "required": ["region", "days"], "properties": {
        "region": {"type": "string", "title": "Region", "enum": ["emea", "apac"], "enumNames": ["Europe", "Asia"]},
        "days": {"type": "integer", "description": "Whole days."},
        "urgent": {"type": "boolean"},
        "from": {"type": "string", "format": "date"},
        "why": {"type": "string", "maxLength": 1000, "default": "as agreed"},
        "level": {"oneOf": [{"const": 1, "title": "Low"}, {"const": 2, "title": "High"}]},
        "stops": {"type": "array", "items": {"type": "string"}},
        "when": {"type": "string", "format": "date-time"},
    }})
}

#[test]
fn every_property_becomes_a_field_of_its_kind() {
    let form_fields = fields(&trip());
    let of = |key: &str| form_fields.iter().find(|form_field| form_field.key.as_deref() == Some(key)).unwrap();
    assert_eq!((of("region").label.as_str(), of("region").required), ("Region", true));
    let Typed::Value(Control::Choice(options)) = &of("region").typed else { unreachable!() };
    assert_eq!(options[1..], [("emea".into(), "Europe".into()), ("apac".into(), "Asia".into())]);
    assert_eq!((&of("days").typed, of("days").hint.as_str()), (&Typed::Value(Control::Number), "Whole days."));
    let kinds = ["urgent", "from", "why", "when"].map(|key| of(key).typed.clone());
    let of_values = [Control::Boolean, Control::Date, Control::MultiLine].map(Typed::Value);
    assert_eq!((&kinds[..3], &kinds[3]), (&of_values[..], &Typed::Instant));
    assert_eq!((&of("stops").typed, of("stops").hint.as_str()), (&Typed::List, "One on each line."));
    assert_eq!((of("why").start.as_str(), of("urgent").label.as_str()), ("as agreed", "Urgent"));
}

#[test]
fn what_was_typed_becomes_the_answer_and_what_was_left_out_is_left_out() {
    let all = typed(&[
        ("answer.region", "apac"),
        ("answer.days", " 3 "),
        ("answer.urgent", "false"),
        ("answer.level", "2"),
        ("answer.stops", "Kyoto\r\n Nara \r\n"),
        ("answer.from", ""),
        ("answer.why", "one\r\ntwo"),
        ("answer.when", "2026-03-01T09:30"),
        ("answer.when.zone", "+02:00"),
    ]);
    let expected = json!({
        "region": "apac", "days": 3, "urgent": false, "level": 2, "stops": ["Kyoto", "Nara"],
        "why": "one\ntwo", "when": "2026-03-01T09:30:00+02:00",
    });
    assert_eq!(typed_value(&fields(&trip()), all), Ok(Some(expected)));
    let wrong =
        typed_value(&fields(&trip()), typed(&[("answer.days", "many"), ("answer.region", "mars")])).unwrap_err();
    let mut names: Vec<_> = wrong.iter().filter_map(|error| error.field.as_deref()).collect();
    names.sort_unstable();
    assert_eq!(names, ["answer.days", "answer.region"]);
}

#[test]
fn an_answer_that_is_no_object_has_one_field_and_keeps_its_type() {
    let text = fields(&json!({"type": "string"}));
    assert_eq!(typed_value(&text, typed(&[("answer", "12")])), Ok(Some(json!("12"))));
    let number = fields(&json!({"type": "number"}));
    assert_eq!(typed_value(&number, typed(&[("answer", "1.5")])), Ok(Some(json!(1.5))));
    assert_eq!(typed_value(&number, typed(&[("answer", "1,5")])), Ok(Some(json!(1.5))));
    let unclear = typed_value(&number, typed(&[("answer", "1,500")])).unwrap_err();
    assert_eq!(unclear[0].message, "Enter 1500 or 1.5; 1,500 can mean either.");
    assert_eq!(typed_value(&number, typed(&[("answer", " ")])), Ok(None));
    let anything = fields(&json!({"anyOf": [{"type": "string"}, {"type": "integer"}]}));
    assert_eq!(anything[0].typed, Typed::Value(Control::Json));
    let wrong = typed_value(&anything, typed(&[("answer", "{\n]")])).unwrap_err();
    assert_eq!(wrong[0].message, "This is not valid JSON (line 2).");
}

/// The value of a form that is sent as it is shown.
fn untouched(form_fields: &[FormField]) -> Result<Option<Value>, Vec<FieldError>> {
    let starts: Vec<(String, String)> = form_fields
        .iter()
        .flat_map(|field| match field.typed {
            Typed::Instant => {
                let (local, zone) = split_instant(&field.start).unwrap_or_default();
                vec![(field.name.clone(), local), (field.zone_name(), zone)]
            }
            Typed::Value(_) | Typed::List | Typed::Boxes => {
                vec![(field.name.clone(), field.start.replace('\n', "\r\n"))]
            }
        })
        .collect();
    typed_value(form_fields, |name| starts.iter().find(|(known, _)| known == name).map(|(_, text)| text.clone()))
}

#[test]
fn a_form_that_is_sent_as_it_is_shown_has_the_defaults() {
    let level = json!({"title": "Level", "enum": ["low", "high"], "type": "string"});
    for (property, typed) in [
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": "hello"}), "text"),
        (json!({"$ref": "#/$defs/Level", "default": "low"}), "choice"),
        (json!({"allOf": [{"$ref": "#/$defs/Level"}], "default": "high"}), "choice"),
        (json!({"anyOf": [{"$ref": "#/$defs/Level"}, {"type": "null"}], "default": "high"}), "choice"),
        (json!({"const": "fast", "default": "fast"}), "choice"),
        (json!({"type": "array", "items": {"type": "string"}, "default": ["a", "b"]}), "list"),
        (json!({"type": "array", "items": {"type": "string"}, "default": []}), "list"),
        (json!({"type": "array", "items": {"type": "string"}, "default": ["one\ntwo", " b "]}), "list"),
        (json!({"type": "array", "items": {"type": "string"}, "default": ["[\"a\"]"]}), "list"),
        (json!({"type": "array", "items": {"$ref": "#/$defs/Level"}, "default": ["high"]}), "boxes"),
        (json!({"type": "array", "items": {"enum": [1, "1x", true]}, "default": [true, 1]}), "boxes"),
        (json!({"type": "array", "items": {"enum": ["a"]}, "default": []}), "boxes"),
        (json!({"type": "array", "items": {"enum": ["a\nb", "c"]}, "default": ["a\nb"]}), "list"),
        (json!({"type": "array", "items": {"enum": [1, "1"]}, "default": ["1"]}), "list"),
        (json!({"type": "array", "items": {"type": "integer"}, "default": [1, 2]}), "json"),
        (json!({"type": ["integer", "null"], "default": 3}), "number"),
        (json!({"type": "number", "default": 0.5}), "number"),
        (json!({"type": "boolean", "default": false}), "boolean"),
        (json!({"enum": [0, 1, "1"], "default": 0}), "choice"),
        (json!({"enum": ["", "x"], "default": ""}), "choice"),
        (json!({"default": "hello"}), "json"),
        (json!({"default": "12"}), "json"),
        (json!({"type": "object", "default": {"a": [null]}}), "json"),
        (json!({"type": "string", "default": "a\nb"}), "text"),
        (json!({"type": "string", "default": ""}), "text"),
        (json!({"type": "string", "format": "date", "default": "2026-03-01"}), "date"),
        (json!({"type": "string", "format": "date-time", "default": "2026-03-01T09:30:00+05:45"}), "instant"),
    ] {
        let schema = json!({"type": "object", "$defs": {"Level": level}, "properties": {"a": property}});
        let form_fields = fields(&schema);
        let kind = match &form_fields[0].typed {
            Typed::List => "list",
            Typed::Boxes => "boxes",
            Typed::Instant => "instant",
            Typed::Value(Control::SingleLine | Control::MultiLine) => "text",
            Typed::Value(Control::Choice(_)) => "choice",
            Typed::Value(Control::Number) => "number",
            Typed::Value(Control::Boolean) => "boolean",
            Typed::Value(Control::Date) => "date",
            Typed::Value(Control::Json) => "json",
        };
        assert_eq!(kind, typed, "{property}");
        assert_eq!(untouched(&form_fields), Ok(Some(json!({"a": property["default"]}))), "{property}");
        let whole = fields(&json!({"$defs": {"Level": level}, "allOf": [property]}));
        assert_eq!(untouched(&whole), Ok(Some(property["default"].clone())), "{property} as the whole");
    }
}

#[test]
fn a_value_that_its_control_cannot_hold_is_not_shown() {
    for property in [
        json!({"type": "integer", "default": "soon"}),
        json!({"type": "boolean", "default": "yes"}),
        json!({"enum": ["a"], "default": "b"}),
        json!({"type": "string", "default": 5}),
        json!({"type": "string", "format": "date-time", "default": "tomorrow"}),
        json!({"type": "array", "items": {"enum": ["a"]}, "default": "a"}),
    ] {
        let form_fields = fields(&json!({"properties": {"a": property}}));
        assert_eq!(form_fields[0].start, "", "{property}");
        assert_eq!(untouched(&form_fields), Ok(Some(json!({}))), "{property}");
    }
    let number = fields(&json!({"properties": {"a": {"type": "integer", "default": 7}}}));
    let again = number.into_iter().map(|field| field.starting_with(&json!({"a": {"b": 1}}))).collect::<Vec<_>>();
    assert_eq!(again[0].start, "7", "an earlier value of another type leaves the default");
}

#[test]
fn a_required_value_that_may_be_null_is_null_if_nothing_is_typed() {
    let schema = json!({"required": ["a", "b", "c"], "properties": {
        "a": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        "b": {"type": "array", "items": {"type": "string"}, "default": []},
        "c": {"type": "string"},
    }});
    let form_fields = fields(&schema);
    assert_eq!(form_fields.iter().map(|field| field.required).collect::<Vec<_>>(), [false, false, true]);
    let answer = typed_value(&form_fields, typed(&[("answer.c", "x")]));
    assert_eq!(answer, Ok(Some(json!({"a": null, "b": [], "c": "x"}))));
}

#[test]
fn properties_that_refer_to_one_definition_have_labels_of_their_own() {
    let schema = json!({"$defs": {"Level": {"title": "Level", "enum": ["low", "high"]}}, "properties": {
        "first": {"$ref": "#/$defs/Level"}, "second": {"$ref": "#/$defs/Level", "title": "Then"},
    }});
    let labels: Vec<_> = fields(&schema).into_iter().map(|field| field.label).collect();
    assert_eq!(labels, ["First", "Then"]);
}

#[test]
fn a_time_is_typed_with_its_offset_and_shown_again_as_typed() {
    let form_fields = fields(&json!({"properties": {"at": {"type": "string", "format": "date-time"}}}));
    let html = |form: &FormState| -> String {
        render_fields("gate", &form_fields, form).into_iter().map(crate::render::to_html).collect()
    };
    let fresh = html(&FormState::default());
    assert!(fresh.contains("type=\"datetime-local\"") && fresh.contains("name=\"answer.at.zone\""), "{fresh}");
    assert!(fresh.split("value=\"+00:00\"").nth(1).unwrap().starts_with(" selected>UTC<"), "{fresh}");
    let values = [("answer.at", "soon"), ("answer.at.zone", "+05:45")].map(|(n, t)| (n.to_owned(), t.to_owned()));
    let again = html(&FormState { values: values.into(), ..FormState::default() });
    assert!(again.contains("value=\"soon\"") && !again.contains("datetime-local"), "{again}");
    assert!(again.split("value=\"+05:45\"").nth(1).unwrap().starts_with(" selected"), "{again}");
}

#[test]
fn what_a_schema_says_never_becomes_markup() {
    let evil = "<img src=x>";
    let schema =
        fields(&json!({"properties": {evil: {"type": "string", "title": evil, "description": evil, "enum": [evil]}}}));
    let html: String =
        render_fields("gate", &schema, &FormState::default()).into_iter().map(crate::render::to_html).collect();
    assert!(!html.contains("<img"), "{html}");
}

#[test]
fn a_list_of_constants_takes_several_options() {
    let form_fields = fields(&json!({ "type": "object", "properties": {
        "colours": { "type": "array", "items": { "anyOf": [{ "const": "r", "title": "Red" }, { "const": "b", "title": "Blue" }] } },
    } }));
    let typed = |text: &'static str| typed_value(&form_fields, move |_| Some(text.to_owned()));
    assert_eq!(typed("Blue\r\nr\r\n"), Ok(Some(json!({ "colours": ["b", "r"] }))));
    assert_eq!(typed("Green").unwrap_err()[0].field.as_deref(), Some("answer.colours"));
}

/// The values of the boxes that are ticked in this HTML.
fn ticked(html: &str) -> Vec<String> {
    let boxes =
        html.split("type=\"checkbox\"").skip(1).filter(|rest| rest.split('>').next().unwrap().contains("checked"));
    boxes.map(|rest| rest.split("value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()).collect()
}

#[test]
fn a_list_of_options_is_a_group_of_check_boxes_and_keeps_what_was_ticked() {
    for count in [1, 2, 7, 40] {
        let options: Vec<String> = (0..count).map(|n| format!("option {n}")).collect();
        let last = options.last().unwrap().clone();
        let list =
            json!({"type": "array", "items": {"enum": options}, "default": [last], "minItems": 1, "maxItems": 3});
        let form_fields = fields(&json!({"required": ["a"], "properties": {"a": list, "b": {"type": "string"}}}));
        let html = |form: &FormState| crate::render::to_html(render_field("gate", &form_fields[0], form));
        let fresh = html(&FormState::default());
        assert_eq!(fresh.matches("type=\"checkbox\"").count(), count);
        assert_eq!(fresh.matches("name=\"answer.a\"").count(), count, "all are one field");
        assert!(fresh.contains("id=\"gate-answer.a\"") && fresh.contains("Choose 1 to 3."), "{fresh}");
        assert_eq!(ticked(&fresh), [last.as_str()]);
        let typed = ["option 0", &last].join("\n");
        let sent = [("answer.a".to_owned(), typed), ("answer.b".to_owned(), String::new())];
        let errors = vec![FieldError { field: Some("answer.a".into()), message: "too many".into() }];
        let again = html(&FormState { values: sent.into(), errors, ..FormState::default() });
        let expected = if count == 1 { vec!["option 0"] } else { vec!["option 0", &last] };
        assert_eq!(ticked(&again), expected);
        assert!(again.contains("id=\"gate-answer.a-error\"") && again.contains("too many"), "{again}");
        let none = html(&FormState { values: [("answer.b".to_owned(), String::new())].into(), ..FormState::default() });
        assert!(ticked(&none).is_empty(), "nothing was ticked: {none}");
        let value = typed_value(&form_fields, |name| (name == "answer.a").then(|| last.clone()));
        assert_eq!(value, Ok(Some(json!({"a": [last]}))));
        assert_eq!(typed_value(&form_fields, |_| None), Ok(Some(json!({"a": []}))), "no ticked box is an empty list");
    }
}

#[test]
fn a_ticked_box_is_its_own_option_and_not_one_with_the_same_label() {
    let swapped = [json!({"const": "a", "title": "b"}), json!({"const": "b", "title": "a"})];
    let form_fields = fields(&json!({"type": "array", "items": {"anyOf": swapped}}));
    assert_eq!(typed_value(&form_fields, |_| Some("b".into())), Ok(Some(json!(["b"]))));
}
