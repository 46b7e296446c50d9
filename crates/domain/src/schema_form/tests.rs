use super::*;
use crate::issue::Issue;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

/// Input schemas of published MCP servers under the MIT licence, with their package, version and tool.
const REAL: &str = include_str!("real_schemas.json");

/// The form of an input with this schema.
fn of(schema: &Value) -> Form<'_> {
    Form::of_input(schema)
}

fn begin(schema: &Value) -> Fields {
    super::begin(of(schema))
}

fn write(schema: &Value, value: &Value) -> Fields {
    super::write(of(schema), value)
}

fn draw(schema: &Value, fields: &Fields) -> Node {
    super::draw(of(schema), fields)
}

fn read(schema: &Value, fields: &Fields) -> Result<Option<Value>, Vec<Issue>> {
    super::read(of(schema), fields)
}

fn press(schema: &Value, fields: &mut Fields, step: &str) -> Result<String, Vec<Issue>> {
    super::press(of(schema), fields, step)
}

fn place(schema: &Value, fields: &Fields, pointer: &str) -> (String, String) {
    super::place(of(schema), fields, pointer)
}

fn real(tool: &str) -> Value {
    let all: Vec<Value> = serde_json::from_str(REAL).unwrap();
    all.into_iter().find(|one| one["tool"] == tool).unwrap()["inputSchema"].take()
}

fn every_schema() -> Vec<Value> {
    let all: Vec<Value> = serde_json::from_str(REAL).unwrap();
    let own = [order(), tree(), json!({ "type": "object" }), json!({ "type": "object", "properties": {} })];
    all.into_iter().map(|mut one| one["inputSchema"].take()).chain(own).collect()
}

/// A schema with every kind of part.
fn order() -> Value {
    json!({
        "type": "object",
        "$defs": { "address": { "type": "object", "title": "Address", "required": ["street"], "properties": {
            "street": { "type": "string" }, "zip": { "type": "string", "pattern": "^[0-9]+$" } } } },
        "properties": {
            "name": { "type": "string", "examples": ["Ada"] },
            "express": { "type": "boolean", "default": false },
            "size": { "enum": [1, "1", "large"] },
            "colours": { "type": "array", "items": { "enum": ["red", "green"] } },
            "tags": { "type": "array", "items": { "type": "string" } },
            "due": { "type": "string", "format": "date-time" },
            "note": { "type": ["string", "null"], "maxLength": 5000 },
            "home": { "$ref": "#/$defs/address" },
            "others": { "type": "array", "maxItems": 3, "items": { "$ref": "#/$defs/address" } },
            "labels": { "type": "object", "additionalProperties": { "type": "integer" } },
            "pay": {
                "oneOf": [
                    { "type": "object", "required": ["kind", "card"], "properties": {
                        "kind": { "const": "card" }, "card": { "type": "string" }, "memo": { "type": "string" } } },
                    { "type": "object", "required": ["kind", "iban"], "properties": {
                        "kind": { "const": "bank" }, "iban": { "type": "string" }, "memo": { "type": "string" } } },
                ],
            },
            "anything": {},
        },
        "required": ["name", "home", "pay"],
        "additionalProperties": { "type": "string" },
    })
}

/// A schema that refers to itself.
fn tree() -> Value {
    json!({
        "type": "object", "required": ["name"],
        "properties": { "name": { "type": "string" }, "children": { "type": "array", "items": { "$ref": "#" } } },
    })
}

fn fields(pairs: &[(&str, &str)]) -> Fields {
    pairs.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn pressed(schema: &Value, mut fields: Fields, steps: &[&str]) -> Fields {
    for step in steps {
        press(schema, &mut fields, step).unwrap();
    }
    fields
}

fn typed(mut form: Fields, pairs: &[(&str, &str)]) -> Fields {
    pairs.iter().for_each(|(name, text)| form.set(*name, *text));
    form
}

/// The part with this name.
fn node(root: &Node, name: &str) -> Node {
    fn all(node: &Node, found: &mut Vec<Node>) {
        found.push(node.clone());
        let entries = |entries: &[Entry], found: &mut Vec<Node>| entries.iter().for_each(|one| all(&one.value, found));
        match &node.kind {
            NodeKind::Object { members, more } => {
                members.iter().for_each(|one| all(one, found));
                entries(more.as_deref().unwrap_or_default(), found);
            }
            NodeKind::Map(rows) => entries(rows, found),
            NodeKind::Rows { rows, .. } => rows.iter().for_each(|one| all(one, found)),
            NodeKind::Variants { inner, .. } => all(inner, found),
            NodeKind::Absent | NodeKind::Control(_) | NodeKind::Const(_) | NodeKind::Json(_) => {}
        }
    }
    let mut found = Vec::new();
    all(root, &mut found);
    found.into_iter().find(|one| one.name == name).unwrap()
}

#[test]
fn a_value_with_every_kind_of_part_has_controls_and_reads_as_itself() {
    let value = json!({
        "name": "Ada", "express": true, "size": "1", "colours": ["green"], "tags": ["a", "b c"],
        "due": "2026-03-01T09:30:00+02:00", "note": "two\nlines", "home": { "street": "Main" },
        "others": [{ "street": "A", "zip": "1" }, { "street": "B" }], "labels": { "x.y": 1, "z": 2 },
        "pay": { "kind": "bank", "iban": "NO1" }, "anything": [1, { "a": null }], "extra": "more",
    });
    let form = write(&order(), &value);
    assert!(form.iter().all(|(name, _)| !name.ends_with(Mark::Json.as_str())), "{form:?}");
    for (name, text) in [
        ("input.name", "Ada"),
        ("input.size", "\"1\""),
        ("input.due", "2026-03-01T09:30"),
        ("input.due.~zone", "+02:00"),
        ("input.others.~rows", "2"),
        ("input.others.1.street", "B"),
        ("input.labels.0.~key", "x.y"),
        ("input.labels.0", "1"),
        ("input.pay.~variant", "1"),
        ("input.~more.0.~key", "extra"),
    ] {
        assert_eq!(form.text(name), text, "{name}: {form:?}");
    }
    assert_eq!(read(&order(), &form), Ok(Some(value)));
}

#[test]
fn a_new_form_has_the_defaults_and_leaves_out_what_is_empty() {
    let form = begin(&order());
    assert_eq!(read(&order(), &form), Ok(Some(json!({ "express": false, "home": {}, "pay": { "kind": "card" } }))));
    let drawn = draw(&order(), &form);
    assert_eq!(node(&drawn, "input.labels").kind, NodeKind::Absent);
    assert_eq!(node(&drawn, "input.name").hint, "For example: Ada");
    let NodeKind::Object { members, .. } = &drawn.kind else { panic!("{drawn:?}") };
    let first: Vec<&str> = members.iter().take(3).map(|member| member.key.as_str()).collect();
    assert_eq!(first, ["name", "home", "pay"], "required members are first");
}

#[test]
fn rows_are_added_moved_and_removed_and_keep_what_was_typed() {
    let form = pressed(&order(), begin(&order()), &["add:input.others", "add:input.others", "add:input.others"]);
    let texts = [("input.others.0.street", "A"), ("input.others.1.street", "B"), ("input.others.2.street", "C")];
    let form = typed(form, &texts);
    let streets = |form: &Fields| {
        let value = read(&order(), form).unwrap().unwrap();
        let rows = value["others"].as_array().cloned().unwrap_or_default();
        rows.iter().map(|row| row["street"].as_str().unwrap().to_owned()).collect::<String>()
    };
    assert_eq!(streets(&pressed(&order(), form.clone(), &["up:input.others.2"])), "ACB");
    assert_eq!(streets(&pressed(&order(), form.clone(), &["down:input.others.0"])), "BAC");
    assert_eq!(streets(&pressed(&order(), form.clone(), &["up:input.others.0", "down:input.others.2"])), "ABC");
    assert_eq!(streets(&pressed(&order(), form.clone(), &["remove:input.others.1"])), "AC");
    let none = pressed(&order(), form.clone(), &["remove:input.others.0"; 3]);
    assert_eq!(read(&order(), &none).unwrap().unwrap().get("others"), None, "a list without rows is left out");
    let mut full = form.clone();
    assert_eq!(press(&order(), &mut full, "add:input.others"), Err(vec![Issue::new("input.others", "At most 3.")]));
    assert_eq!(full, form);
    for nothing in ["add:input.name", "remove:input.others.9", "up:input", "add:x", "burn:input", "", "add:"] {
        assert_eq!(pressed(&order(), form.clone(), &[nothing]), form, "{nothing}");
    }
}

#[test]
fn keys_are_typed_and_each_is_there_once() {
    let steps = ["on:input.labels", "add:input.labels", "add:input.labels", "add:input.~more"];
    let form = pressed(&order(), begin(&order()), &steps);
    let keys = [("input.labels.0.~key", "a"), ("input.labels.0", "1"), ("input.labels.1.~key", "a")];
    let form = typed(form, &[keys.as_slice(), &[("input.labels.1", "x"), ("input.~more.0.~key", "name")]].concat());
    let wrong = read(&order(), &form).unwrap_err();
    let places: Vec<_> = wrong.iter().map(|issue| issue.field.as_str()).collect();
    assert_eq!(places, ["input.labels.1", "input.labels.1.~key", "input.~more.0.~key"], "{wrong:?}");
    let off = pressed(&order(), begin(&order()), &["on:input.labels", "off:input.labels"]);
    assert_eq!(read(&order(), &off).unwrap().unwrap().get("labels"), None);
}

#[test]
fn another_variant_keeps_what_was_typed_into_the_first() {
    let form = typed(begin(&order()), &[("input.pay.card", "4111"), ("input.pay.memo", "both")]);
    let form = pressed(&order(), typed(form, &[("input.pay.~variant", "1")]), &["variant:input.pay"]);
    let drawn = node(&draw(&order(), &form), "input.pay");
    let NodeKind::Variants { labels, chosen, .. } = drawn.kind else { panic!("no variants") };
    assert_eq!((labels.as_slice(), chosen), (["card".to_owned(), "bank".to_owned()].as_slice(), 1));
    let form = typed(form, &[("input.pay.iban", "NO1")]);
    let paid = |form: &Fields| read(&order(), form).unwrap().unwrap()["pay"].clone();
    assert_eq!(paid(&form), json!({ "kind": "bank", "iban": "NO1", "memo": "both" }));
    let back = typed(form, &[("input.pay.~variant", "0")]);
    assert_eq!(paid(&back), json!({ "kind": "card", "card": "4111", "memo": "both" }));
}

#[test]
fn a_default_chooses_the_variant_of_its_type() {
    for (default, chosen) in [(json!("[x"), "1"), (json!({ "a": 1 }), "0")] {
        let schema = json!({ "properties": { "k": { "type": ["object", "string"], "default": default } } });
        let form = begin(&schema);
        assert_eq!(form.text("input.k.~variant"), chosen, "{default}");
        assert_eq!(read(&schema, &form).unwrap(), Some(json!({ "k": default })));
    }
}

#[test]
fn schemas_as_pydantic_writes_them_have_controls_that_read_their_defaults() {
    let schema = json!({
        "type": "object",
        "$defs": {
            "Level": { "title": "Level", "enum": ["low", "high"], "type": "string" },
            "Window": { "type": "object", "properties": { "start": { "type": "string", "format": "date" } } },
        },
        "properties": {
            "level": { "allOf": [{ "$ref": "#/$defs/Level" }], "default": "low" },
            "next": { "$ref": "#/$defs/Level", "default": "high" },
            "limit": { "anyOf": [{ "type": "integer" }, { "type": "null" }], "default": null },
            "title": { "anyOf": [{ "type": "string" }, { "type": "null" }], "default": "hello" },
            "window": { "anyOf": [{ "$ref": "#/$defs/Window" }, { "type": "null" }], "default": null },
            "mode": { "const": "fast", "default": "fast" },
            "tags": { "type": "array", "items": { "type": "string" }, "default": ["a", "b"] },
            "kind": { "enum": [0, 1], "type": "integer", "default": 0 },
            "threshold": { "type": "number", "default": 0 },
            "dry": { "type": "boolean", "default": false },
        },
    });
    let form = begin(&schema);
    let drawn = draw(&schema, &form);
    for (name, kind) in [
        ("input.level", "Control(One("),
        ("input.next", "Control(One("),
        ("input.limit", "Control(Number"),
        ("input.title", "Control(Line"),
        ("input.window", "Absent"),
        ("input.mode", "Control(One("),
        ("input.tags", "Control(Texts"),
        ("input.kind", "Control(One("),
        ("input.threshold", "Control(Number"),
        ("input.dry", "Control(Boolean"),
    ] {
        let found = format!("{:?}", node(&drawn, name).kind);
        assert!(found.starts_with(kind), "{name}: {found}");
    }
    let defaults = json!({
        "level": "low", "next": "high", "title": "hello", "mode": "fast", "tags": ["a", "b"], "kind": 0,
        "threshold": 0, "dry": false,
    });
    assert_eq!(read(&schema, &form), Ok(Some(defaults)), "what is shown can be sent as it is");
}

#[test]
fn what_controls_cannot_hold_is_json_with_the_line_of_its_error() {
    let form = write(&order(), &json!({ "name": 7, "home": { "street": "x", "floor": 2 } }));
    assert_eq!((form.text("input.name"), form.text("input.name.~json")), ("7", "1"));
    assert_eq!(node(&draw(&order(), &form), "input.home").kind, NodeKind::Json(Why::Chosen));
    assert_eq!(node(&draw(&order(), &form), "input.anything").kind, NodeKind::Json(Why::Any));
    let wrong = read(&order(), &typed(form.clone(), &[("input.home", "{\n  \"street\": 1,\n}")])).unwrap_err();
    assert_eq!(wrong[0].field, "input.home");
    assert!(wrong[0].message.contains("Line 3, column"), "{wrong:?}");
    // Back and forth between JSON and fields.
    let all = pressed(&order(), typed(begin(&order()), &[("input.name", "Ada")]), &["json:input"]);
    assert!(all.text("input").contains("\"name\": \"Ada\""), "{all:?}");
    let back = pressed(&order(), all, &["fields:input"]);
    assert_eq!((back.text("input.name"), back.text("input.~json")), ("Ada", ""));
    let mut unfit = fields(&[("input", "[1]"), ("input.~json", "1")]);
    assert!(press(&order(), &mut unfit, "fields:input").is_err());
    for cut in ["{", "", "[1,"] {
        assert_eq!(
            press(&order(), &mut fields(&[("input", cut), ("input.~json", "1")]), "fields:input").is_err(),
            !cut.is_empty()
        );
    }
}

#[test]
fn an_error_is_placed_at_the_control_of_its_part() {
    let form = pressed(&order(), begin(&order()), &["add:input.others", "on:input.labels", "add:input.labels"]);
    let form = typed(form, &[("input.labels.0.~key", "a/b"), ("input.anything", "{\n  \"x\": [\n1]}")]);
    for (pointer, name, inside) in [
        ("", "input", ""),
        ("/name", "input.name", ""),
        ("/home/street", "input.home.street", ""),
        ("/others/0/zip", "input.others.0.zip", ""),
        ("/labels/a~1b", "input.labels.0", ""),
        ("/labels/none", "input.labels", "none: "),
        ("/pay/card", "input.pay.card", ""),
        ("/pay/iban", "input.pay", "iban: "),
        ("/anything/x/0", "input.anything", "line 3, x/0: "),
        ("/unknown", "input", "unknown: "),
    ] {
        assert_eq!(place(&order(), &form, pointer), (name.to_owned(), inside.to_owned()), "{pointer}");
    }
}

#[test]
fn labels_of_a_schema_have_no_character_that_overrides_their_direction() {
    let turned = "a\u{202e}b\u{2066}";
    let one = json!({ "type": "object", "title": turned, "properties": { "x": { "const": turned } } });
    let two = json!({ "type": "object", "title": "Two", "properties": { "y": { "const": "y" } } });
    let schema = json!({ "type": "object", "required": [turned, "size", "mode", "pay"], "properties": {
        turned: { "type": "string" },
        "size": { "title": turned, "description": turned, "enum": [turned, "b"] },
        "mode": { "oneOf": [{ "const": 1, "title": turned }, { "const": 2, "title": "Two" }] },
        "pay": { "oneOf": [one, two] },
    } });
    let fields = begin(&schema);
    let NodeKind::Object { members, .. } = draw(&schema, &fields).kind else { panic!("an object") };
    let [named, size, mode, pay] = members.as_slice() else { panic!("{members:?}") };
    let shown = "a\u{fffd}b\u{fffd}";
    assert_eq!((named.key.as_str(), size.title.as_str(), size.hint.as_str()), (shown, shown, shown));
    for choices in [size, mode] {
        let NodeKind::Control(Control::One(choices)) = &choices.kind else { panic!("{choices:?}") };
        assert_eq!(choices[0].label, shown);
    }
    let NodeKind::Variants { labels, .. } = &pay.kind else { panic!("{pay:?}") };
    assert_eq!(labels[0], shown);
    // Values and names of controls stay, because a tool and its schema compare them.
    assert_eq!(named.name, format!("input.{turned}"));
    let NodeKind::Control(Control::One(sizes)) = &size.kind else { panic!("{size:?}") };
    assert_eq!((&sizes[0].value, sizes[0].text.as_str()), (&Value::from(turned), turned));
}

#[test]
fn a_schema_that_refers_to_itself_is_drawn_as_deep_as_its_value() {
    let deep = (0..12).fold(json!({ "name": "leaf" }), |inner, _| json!({ "name": "x", "children": [inner] }));
    for value in [json!({ "name": "a", "children": [{ "name": "b" }] }), deep] {
        let form = write(&tree(), &value);
        assert_eq!(read(&tree(), &form), Ok(Some(value)), "{form:?}");
        draw(&tree(), &form);
    }
    // Each level has itself twice and must have it: the form ends where it is full.
    let twice = json!({ "type": "object", "required": ["a", "b"], "properties": { "a": { "$ref": "#" }, "b": { "$ref": "#" } } });
    let form = begin(&twice);
    assert!(read(&twice, &form).is_ok());
    let circle = json!({ "type": "object", "properties": { "a": { "$ref": "#/properties/b" }, "b": { "$ref": "#/properties/a" } } });
    assert_eq!(node(&draw(&circle, &begin(&circle)), "input.a").kind, NodeKind::Json(Why::Reference));
}

#[test]
fn schemas_of_published_tools_have_controls() {
    let drawn = |tool: &str| {
        let schema = real(tool);
        let form = begin(&schema);
        (draw(&schema, &form), schema, form)
    };
    for (tool, name, kind) in [
        ("create_pull_request_review", "input.event", "One("),
        ("create_pull_request_review", "input.comments", "Rows {"),
        ("push_files", "input.files", "Rows {"),
        ("set_config_value", "input.value", "Variants {"),
        ("edit_block", "input.content", "Json(Any"),
        ("generate_spreadsheet", "input.data.0", "Map("),
        ("generate_mind_map", "input.data.name", "Control(Line"),
        ("generate_mind_map", "input.theme", "One("),
        ("create_table", "input.fields", "Rows {"),
    ] {
        let (root, ..) = drawn(tool);
        let found = format!("{:?}", node(&root, name).kind);
        assert!(found.contains(kind), "{tool} {name}: {found:.200}");
    }
    let (_, schema, form) = drawn("create_pull_request_review");
    let form = pressed(&schema, form, &["add:input.comments"]);
    let NodeKind::Variants { labels, .. } = node(&draw(&schema, &form), "input.comments.0").kind else { panic!() };
    assert_eq!(labels.len(), 2);
    for schema in every_schema() {
        assert!(matches!(draw(&schema, &begin(&schema)).kind, NodeKind::Object { .. } | NodeKind::Json(_)));
    }
}

#[test]
fn a_schema_with_many_large_variants_becomes_json_soon() {
    let refs = |to: &str, count: usize| vec![json!({ "$ref": to }); count];
    // Each variant is the whole schema again.
    let wide = json!({ "type": "object", "oneOf": refs("#", 2_000) });
    assert!(matches!(draw(&wide, &begin(&wide)).kind, NodeKind::Json(_)));
    let part =
        json!({ "type": "object", "properties": { "x": { "type": "string" } }, "oneOf": refs("#/$defs/part", 400) });
    let members = || (0..30).map(|at| (at.to_string(), json!({ "$ref": "#/$defs/part", "default": { "x": "a" } })));
    let large = json!({ "type": "object", "properties": members().collect::<Map<_, _>>(), "$defs": { "part": part } });
    let form = begin(&large);
    draw(&large, &form);
    let value = json!({ "7": { "x": "b" }, "8": { "x": "c" } });
    let read = read(&large, &write(&large, &value)).unwrap().unwrap();
    assert!(has_all_of(&read, &value), "{read}");
}

/// Whether a value has all of another one. It has required members besides.
fn has_all_of(read: &Value, wanted: &Value) -> bool {
    match (read, wanted) {
        (Value::Object(read), Value::Object(wanted)) => {
            wanted.iter().all(|(key, wanted)| read.get(key).is_some_and(|read| has_all_of(read, wanted)))
        }
        (Value::Array(read), Value::Array(wanted)) => {
            read.len() == wanted.len() && read.iter().zip(wanted).all(|(read, wanted)| has_all_of(read, wanted))
        }
        _ => read == wanted,
    }
}

/// JSON without `null`, which an optional part that may be `null` leaves out.
fn any_json() -> impl Strategy<Value = Value> {
    let keys = "name|home|street|pay|kind|iban|others|labels|children|data|value|content|[a-z~./%]{0,4}";
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[ -~\\n]{0,12}".prop_map(Value::from),
        Just(json!("card")),
        Just(json!("2026-03-01T09:30:00Z")),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(keys, inner, 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

proptest! {
    #[test]
    fn a_form_reads_as_the_value_that_it_was_written_with(value in any_json(), at in 0_usize..13) {
        let all = every_schema();
        let schema = &all[at % all.len()];
        let form = write(schema, &value);
        let read = read(schema, &form).unwrap().unwrap();
        prop_assert!(has_all_of(&read, &value), "{} is not {}", read, value);
        draw(schema, &form);
    }

    #[test]
    fn no_names_and_steps_break_a_form(
        pairs in prop::collection::vec(("input(\\.(name|others|pay|labels|[0-2]|~[a-z]{3,7})){0,4}", "[0-9a-z{\\[]{0,4}"), 0..12),
        step in "(add|remove|up|down|on|off|variant|json|fields):input(\\.(others|pay|labels|[0-2]|~more)){0,3}",
    ) {
        let mut form: Fields = pairs.into_iter().collect();
        let _ = press(&order(), &mut form, &step);
        let _ = read(&order(), &form);
        draw(&order(), &form);
        place(&order(), &form, "/others/1/street");
    }
}
