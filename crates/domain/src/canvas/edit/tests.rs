//! What keys and pasted texts do to a document, shown as the lines of its Markdown.

use super::*;
use crate::{
    canvas::{
        Document,
        outline::{self, CheckItem, Content},
        spread,
    },
    limit::{CANVAS_INDENT_MAX, CANVAS_PASTE_BLOCKS_MAX},
};
use serde_json::{Value, json};

fn document(blocks: Value) -> Document {
    Document::read(&json!({ "blocks": blocks }).to_string()).unwrap()
}

/// A document with blocks of these types and texts, whose ids are a, b, c and so on.
fn texts(blocks: &[(&str, &str)]) -> Document {
    let orders = spread(blocks.len()).unwrap();
    let block = |((id, (kind, text)), order): ((char, &(&str, &str)), String)| {
        (id.to_string(), json!({ "type": kind, "text": text, "order": order }))
    };
    document(('a'..).zip(blocks).zip(orders).map(block).collect::<serde_json::Map<_, _>>().into())
}

fn list(items: &[&str]) -> Document {
    let orders = spread(items.len()).unwrap();
    let item = |((id, text), order): ((char, &&str), String)| {
        (id.to_string(), json!({ "text": text, "done": false, "order": order }))
    };
    let items: serde_json::Map<_, _> = ('i'..).zip(items).zip(orders).map(item).collect();
    document(json!({ "l": { "type": "checklist", "order": "a0", "items": items } }))
}

/// Ids n1, n2 and so on.
fn ids() -> impl FnMut() -> String {
    let mut made = 0;
    move || {
        made += 1;
        format!("n{made}")
    }
}

fn lines(document: &Document) -> Vec<String> {
    let markdown = outline::markdown("", &outline::blocks(document));
    markdown.lines().skip(1).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// The document after a change, as lines, and the text and position of the cursor.
fn after(document: &Document, edit: Option<Edit>) -> (Vec<String>, Option<(String, usize)>) {
    let edit = edit.unwrap();
    let changed = document.apply(&edit.ops).unwrap().document;
    let focus = edit.focus.map(|focus| (focus.spot.text(&changed), focus.at));
    (lines(&changed), focus)
}

fn text_of(id: &str) -> Spot {
    Spot::Text(id.into())
}

fn item_of(id: &str) -> Spot {
    Spot::Item("l".into(), id.into())
}

fn at(text: &str, position: usize) -> Option<(String, usize)> {
    Some((text.to_owned(), position))
}

#[test]
fn enter_divides_a_block_at_the_cursor() {
    let two = texts(&[("heading", "Plan"), ("text", "one two")]);
    let split =
        |id: &str, before: &str, behind: &str| after(&two, split(&two, &text_of(id), (before, behind), &mut ids()));
    assert_eq!(split("b", "one ", "two"), (vec!["## Plan".into(), "one".into(), "two".into()], at("two", 0)));
    assert_eq!(split("b", "one two", "").1, at("", 0));
    // The block keeps its id, and what points to it, if all of its text is behind the cursor.
    assert_eq!(split("b", "", "one two").1, at("one two", 0));
    assert_eq!(split("a", "Pl", "an").0, ["## Pl", "an", "one two"]);
    let code = texts(&[("code", "x")]);
    assert_eq!(super::split(&code, &text_of("a"), ("x", ""), &mut ids()), None);
    let field = document(json!({ "f": { "type": "text", "heading": "Stage", "text": "x", "order": "a0" } }));
    assert_eq!(super::split(&field, &text_of("f"), ("x", ""), &mut ids()), None);
}

#[test]
fn enter_in_a_checklist_makes_items_and_leaves_the_list_from_an_empty_one() {
    let two = list(&["one", "two"]);
    let split =
        |id: &str, before: &str, behind: &str| after(&two, split(&two, &item_of(id), (before, behind), &mut ids()));
    assert_eq!(split("i", "o", "ne"), (vec!["- [ ] o".into(), "- [ ] ne".into(), "- [ ] two".into()], at("ne", 0)));
    assert_eq!(split("j", "", "two").0, ["- [ ] one", "- [ ] ", "- [ ] two"]);
    let with_empty = list(&["one", ""]);
    let left = super::split(&with_empty, &item_of("j"), ("", ""), &mut ids());
    assert_eq!(after(&with_empty, left), (vec!["- [ ] one".into()], at("", 0)));
    let alone = list(&[""]);
    let left = after(&alone, super::split(&alone, &item_of("i"), ("", ""), &mut ids()));
    assert_eq!(left, (Vec::new(), at("", 0)), "the list has become an empty text");
}

#[test]
fn backspace_takes_back_indentation_and_type_before_it_joins() {
    let mut shown = document(json!({
        "a": { "type": "text", "text": "ä🙂", "order": "a0" },
        "b": { "type": "heading", "text": "two", "order": "a1", "indent": 1 }
    }));
    let mut steps = Vec::new();
    for _ in 0..3 {
        let edit = joined(&shown, &text_of("b"), "two", &mut ids()).unwrap();
        shown = shown.apply(&edit.ops).unwrap().document;
        steps.push(lines(&shown).join("|"));
    }
    assert_eq!(steps, ["ä🙂|## two", "ä🙂|two", "ä🙂two"]);
    let two = texts(&[("text", "ä🙂"), ("text", "two")]);
    assert_eq!(after(&two, joined(&two, &text_of("b"), "two", &mut ids())).1, at("ä🙂two", 3));
    assert_eq!(joined(&two, &text_of("a"), "ä🙂", &mut ids()), None);
    let behind_code = texts(&[("code", "x"), ("text", "two")]);
    assert_eq!(joined(&behind_code, &text_of("b"), "two", &mut ids()), None, "code and prose are not joined");
    let empty = texts(&[("code", "x"), ("text", "")]);
    assert_eq!(after(&empty, joined(&empty, &text_of("b"), "", &mut ids())).1, at("x", 1));
}

#[test]
fn backspace_joins_items_and_takes_the_first_one_out_of_its_list() {
    let two = list(&["one", "two"]);
    let joined = |id: &str, text: &str| after(&two, joined(&two, &item_of(id), text, &mut ids()));
    assert_eq!(joined("j", "two"), (vec!["- [ ] onetwo".into()], at("onetwo", 3)));
    assert_eq!(joined("i", "one"), (vec!["one".into(), "- [ ] two".into()], at("one", 0)));
    let alone = list(&["one"]);
    assert_eq!(after(&alone, super::joined(&alone, &item_of("i"), "one", &mut ids())).0, ["one"]);
}

#[test]
fn blocks_and_items_move_by_one_place_and_to_a_place() {
    let three = texts(&[("text", "a"), ("text", "b"), ("text", "c")]);
    let by_one = |id: &str, shift| moved(&three, &text_of(id), shift).map(|edit| after(&three, Some(edit)).0.concat());
    assert_eq!(by_one("b", Shift::Back).as_deref(), Some("bac"));
    assert_eq!(by_one("b", Shift::On).as_deref(), Some("acb"));
    assert_eq!((by_one("a", Shift::Back), by_one("c", Shift::On)), (None, None));
    let before = |id: &str, before| placed_before(&three, id, before).map(|edit| after(&three, Some(edit)).0.concat());
    assert_eq!(before("c", Some("a")).as_deref(), Some("cab"));
    assert_eq!(before("a", None).as_deref(), Some("bca"));
    assert_eq!((before("a", Some("a")), before("a", Some("b")), before("c", None)), (None, None, None));
    let items = list(&["one", "two"]);
    assert_eq!(after(&items, moved(&items, &item_of("j"), Shift::Back)).0, ["- [ ] two", "- [ ] one"]);
}

#[test]
fn a_block_is_put_between_blocks_with_equal_or_unusable_keys() {
    for order in ["a1", "no key!", ""] {
        let block = |text: &str| json!({ "type": "text", "text": text, "order": order });
        let shown = document(json!({ "a": block("a"), "b": block("b"), "c": block("c") }));
        let ops = inserted(&shown, Some("a"), vec![("n".into(), json!({ "type": "text", "text": "n" }))]).unwrap();
        assert_eq!(lines(&shown.apply(&ops).unwrap().document).concat(), "anbc", "{order:?}");
    }
    let ops = inserted(&Document::default(), None, vec![("n".into(), json!({ "type": "text", "text": "n" }))]).unwrap();
    assert_eq!(lines(&Document::default().apply(&ops).unwrap().document), ["n"]);
}

#[test]
fn an_item_is_ticked_and_ticked_off() {
    let one = list(&["x"]);
    let done = one.apply(&tick(&one, &item_of("i")).unwrap().ops).unwrap().document;
    assert_eq!(lines(&done), ["- [x] x"]);
    assert_eq!(after(&done, tick(&done, &item_of("i"))).0, ["- [ ] x"]);
    assert_eq!(tick(&one, &text_of("i")), None);
}

#[test]
fn indentation_has_two_ends() {
    let mut shown = texts(&[("text", "a")]);
    assert_eq!(indented(&shown, &text_of("a"), Shift::Back), None);
    for _ in 0..CANVAS_INDENT_MAX {
        let edit = indented(&shown, &text_of("a"), Shift::On).unwrap();
        shown = shown.apply(&edit.ops).unwrap().document;
    }
    assert_eq!(indented(&shown, &text_of("a"), Shift::On), None);
    assert_eq!(outline::blocks(&shown)[0].indent, CANVAS_INDENT_MAX);
}

#[test]
fn a_block_keeps_its_text_when_its_type_changes() {
    let one = texts(&[("text", "x\ny")]);
    for (kind, expected) in [
        (Kind::Heading, "## x y"),
        (Kind::Code, "```|x|y|```"),
        (Kind::Checklist, "- [ ] x|- [ ] y"),
        (Kind::Table, "| x ||| --- ||| y |"),
    ] {
        let changed = retyped(&one, "a", kind, None, &mut ids());
        assert_eq!(after(&one, changed).0.join("|"), expected);
    }
    assert_eq!(retyped(&one, "a", Kind::Text, None, &mut ids()), None);
    let table = retyped(&one, "a", Kind::Table, Some(""), &mut ids()).unwrap();
    let table = one.apply(&table.ops).unwrap().document;
    assert_eq!(spots(&table, "a").len(), 6, "two columns with two rows");
    let back = retyped(&list(&["p", "q"]), "l", Kind::Text, None, &mut ids());
    assert_eq!(after(&list(&["p", "q"]), back).0, ["p", "q"]);
}

#[test]
fn rows_and_columns_come_and_go() {
    let one = texts(&[("text", "h\tk\n1\t2")]);
    let table = one.apply(&retyped(&one, "a", Kind::Table, None, &mut ids()).unwrap().ops).unwrap().document;
    let cells = spots(&table, "a");
    let Spot::Cell(_, row, column) = cells[3].clone() else { panic!("{cells:?}") };
    assert_eq!(column_name(&table, "a", &column), "k");
    let mut more = (1..).map(|n| format!("m{n}"));
    let mut new_id = || more.next().unwrap();
    let wide = after(&table, column_added(&table, "a", Some(&column), &mut new_id).ok());
    assert_eq!(wide.0, ["| h | k |  |", "| --- | --- | --- |", "| 1 | 2 |  |"]);
    let enter = split(&table, &cells[3], ("2", ""), &mut new_id);
    assert_eq!(after(&table, enter).0.last().unwrap(), "|  |  |", "Enter in the last row adds one");
    assert_eq!(split(&table, &cells[1], ("k", ""), &mut new_id).unwrap().focus.unwrap().spot, cells[3]);
    assert_eq!(after(&table, row_removed(&table, "a", &row)).0, ["| h | k |", "| --- | --- |"]);
    let narrow = table.apply(&column_removed(&table, "a", &column).unwrap().ops).unwrap().document;
    assert_eq!(lines(&narrow)[0], "| h |");
    let Spot::Column(_, only) = spots(&narrow, "a")[0].clone() else { panic!("no column") };
    assert_eq!(column_removed(&narrow, "a", &only), None);
}

#[test]
fn a_cell_is_written_whatever_the_row_has() {
    let shown = document(json!({ "t": { "type": "table", "order": "a0",
        "columns": { "c": { "name": "N", "order": "a0" } },
        "rows": { "r": { "order": "a0" }, "s": { "cells": { "c": 2 }, "order": "a1" } } } }));
    for (row, expected) in [("r", "| x |"), ("s", "| x |")] {
        let ops = Spot::Cell("t".into(), row.into(), "c".into()).typed(&shown, "x");
        assert!(lines(&shown.apply(&ops).unwrap().document).contains(&expected.to_owned()), "{row}");
    }
}

#[test]
fn a_spot_is_found_by_its_path() {
    let spots = [text_of("a/b"), item_of("i"), Spot::Column("t".into(), "c".into())];
    for spot in spots.into_iter().chain([Spot::Cell("t".into(), "r".into(), "~".into())]) {
        assert_eq!(Spot::of(&spot.path()), Some(spot));
    }
    for path in ["", "/blocks", "/blocks/a", "/blocks/a/order", "/other/a/text"] {
        assert_eq!(Spot::of(&crate::canvas::Path::parse(path).unwrap()), None, "{path}");
    }
}

#[test]
fn the_cursor_finds_the_texts_beside_it() {
    let table = |at: &str| {
        json!({ "type": "table", "order": at,
            "columns": { "c": { "name": "C", "order": "a0" }, "d": { "name": "D", "order": "a1" } },
            "rows": { "r": { "cells": { "c": 1, "d": 2 }, "order": "a0" } } })
    };
    let text = |order: &str| json!({ "type": "text", "text": "x", "order": order });
    let drawing = json!({ "type": "drawing", "order": "a1" });
    let shown = document(json!({ "a": text("a0"), "o": drawing, "t": table("a2"), "z": text("a3") }));
    let cell = |column: &str| Spot::Cell("t".into(), "r".into(), column.into());
    let head = |column: &str| Spot::Column("t".into(), column.into());
    for (from, way, expected) in [
        (text_of("a"), Way::Down, Some(head("c"))),
        (head("c"), Way::Back, Some(text_of("a"))),
        (head("d"), Way::Down, Some(cell("d"))),
        (cell("d"), Way::Up, Some(head("d"))),
        (head("d"), Way::On, Some(cell("c"))),
        (cell("c"), Way::Down, Some(text_of("z"))),
        (text_of("z"), Way::Up, Some(cell("d"))),
        (text_of("z"), Way::On, None),
        (text_of("gone"), Way::On, None),
    ] {
        assert_eq!(beside(&shown, &from, way), expected, "{from:?} {way:?}");
    }
}

#[test]
fn pasted_markdown_and_tables_become_blocks() {
    let pasted = "# Plan\n\nFirst line\nsecond\n\n- [ ] open\n  - [x] done\n\n| A | B\\|C |\n|---|:-:|\n| 1 | 2 |\n\
                  ```rs\nfn x() {}\n\n```\n- a\n- b\n";
    let item = |text: &str, is_done, indent| CheckItem { id: String::new(), text: text.into(), is_done, indent };
    let row = |cells: [&str; 2]| cells.map(str::to_owned).to_vec();
    let expected = vec![
        Content::Heading("Plan".into()),
        Content::Text("First line\nsecond".into()),
        Content::Checklist(vec![item("open", false, 0), item("done", true, 1)]),
        Content::Table(row(["A", "B|C"]), vec![row(["1", "2"])]),
        Content::Code("rs".into(), "fn x() {}\n".into()),
        Content::Text("- a\n- b".into()),
    ];
    assert_eq!(contents(pasted), Some(expected));
    let sheet = Content::Table(row(["n", "v"]), vec![row(["a", ""])]);
    assert_eq!(contents("n\tv\r\na\t\r\n"), Some(vec![sheet]));
    for plain in ["", "one line", "two\nlines", "\tindented\n\tcode", "a\tb\nc", "#no heading", "- a\n- b"] {
        assert_eq!(contents(plain), None, "{plain:?}");
    }
    let many = contents(&"x\n\n".repeat(400)).unwrap();
    assert_eq!(many.len(), CANVAS_PASTE_BLOCKS_MAX);
    let Some(Content::Text(rest)) = many.last() else { panic!("{many:?}") };
    assert_eq!(rest.matches('x').count(), 400 - CANVAS_PASTE_BLOCKS_MAX + 1);
    for (begin, again, rest) in
        [("", "# a\n\n- [x] b\n", "- [x] b\n"), ("", "p\nq\n# a\n", "# a\n"), ("# z\n", "p\nq\n# a\n", "p\nq\n# a\n")]
    {
        let pasted = [begin, &again.repeat(40)].concat();
        let kept = [rest, &again.repeat(15)].concat();
        let last = Content::Text(kept.trim_end().to_owned());
        assert_eq!(contents(&pasted).unwrap().last(), Some(&last), "{pasted:?}");
    }
}

#[test]
fn a_paste_is_one_change_at_the_cursor() {
    let two = texts(&[("text", "one two"), ("text", "")]);
    let found = contents("# Head\n\ntext").unwrap();
    let paste = |id: &str, before: &str, behind: &str| {
        after(&two, pasted(&two, &text_of(id), (before, behind), &found, &mut ids()).ok())
    };
    assert_eq!(
        paste("a", "one ", "two"),
        (vec!["one".into(), "## Head".into(), "text".into(), "two".into()], at("text", 4))
    );
    assert_eq!(paste("b", "", "").0, ["one two", "## Head", "text"]);
    let edit = pasted(&two, &text_of("b"), ("", ""), &found, &mut ids()).unwrap();
    assert_eq!(edit.ops.iter().filter(|op| matches!(op, Operation::Remove { .. })).count(), 1);
    assert_eq!(rows_of(vec![Vec::new()]), None);
}
