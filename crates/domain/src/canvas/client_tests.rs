//! A client while its author types on, and while the author only suggests changes.

use super::{
    Answer, Client, Committed, Notice, Overwritten, Patch, Path, Received, UndoRefusal,
    tests::{Server, committed, document},
};
use crate::limit::CANVAS_OPS_MAX;
use serde_json::{Value, json};

/// A client with a text that was sent, and with a longer one typed since.
fn typing(sent: &str, typed: &str) -> (Client, Patch) {
    let mut ann = Client::new("ann", document(&json!({"a": "one two three"})), 1);
    let replace = |text: &str| Patch::read_ops(&[json!({"op": "replace", "path": "/a", "value": text})]).unwrap();
    ann.edit(replace(sent)).unwrap();
    let patch = ann.next_patch().unwrap();
    ann.edit(replace(typed)).unwrap();
    (ann, patch)
}

#[test]
fn a_text_that_is_typed_on_is_joined_with_what_others_wrote_into_it() {
    let (mut ann, sent) = typing("one two three four", "one two three four five");
    let bens = committed(2, json!({"op": "replace", "path": "/a", "value": "zero one two three"}));
    assert_eq!(ann.receive(&bens), Received::Taken(Vec::new()));
    assert_eq!(ann.document().value()["a"], "one two three four five", "a text that waits hides those of others");
    let joined = json!({"op": "replace", "path": "/a", "value": "zero one two three four"});
    let joined = Committed { previous: 2, op_id: sent.op_id, by: "ann".into(), ..committed(3, joined) };
    assert_eq!(ann.receive(&joined), Received::Taken(Vec::new()));
    assert_eq!(ann.document().value()["a"], "zero one two three four five");
    let next = ann.next_patch().unwrap();
    assert_eq!(next.base, 3, "its author has seen what it was joined with");
}

#[test]
fn a_text_that_is_typed_on_is_joined_with_a_document_that_has_its_beginning_already() {
    let (mut ann, sent) = typing("one two three four", "one two three four five");
    // The answer was lost, and the page has read the document again since.
    ann.reset(document(&json!({"a": "zero one two three four"})), 3);
    let joined = json!({"op": "replace", "path": "/a", "value": "zero one two three four"});
    let joined = Committed { previous: 2, op_id: sent.op_id, by: "ann".into(), ..committed(3, joined) };
    assert_eq!(ann.receive(&joined), Received::Taken(Vec::new()));
    assert_eq!(ann.document().value()["a"], "zero one two three four five");
    assert_eq!(ann.next_patch().unwrap().base, 3, "its author sees the words of the other one");
}

#[test]
fn a_change_that_a_newly_read_document_has_is_undone_unless_someone_changed_its_value() {
    let replace = |text: &str| json!({"op": "replace", "path": "/a", "value": text});
    let own = |op_id: String, ops| Committed { previous: 2, op_id, by: "ann".into(), ..committed(3, ops) };
    for (applied, is_known) in [("one two three four", true), ("zero one two three four", false)] {
        let mut ann = Client::new("ann", document(&json!({"a": "one", "b": 0})), 1);
        ann.edit(Patch::read_ops(&[replace("one two three")]).unwrap()).unwrap();
        let first = ann.next_patch().unwrap();
        let first = Committed { op_id: first.op_id, by: "ann".into(), ..committed(2, replace("one two three")) };
        assert_eq!(ann.receive(&first), Received::Taken(Vec::new()));
        ann.edit(Patch::read_ops(&[replace("one two three four")]).unwrap()).unwrap();
        let sent = ann.next_patch().unwrap();
        // The answer was lost, and the page has read the document twice since.
        for version in [3, 4] {
            ann.reset(document(&json!({"a": applied, "b": version})), version);
        }
        assert_eq!(ann.receive(&own(sent.op_id, replace(applied))), Received::Taken(Vec::new()));
        if !is_known {
            assert_eq!(ann.undo(), Err(UndoRefusal::Nothing), "an older change is not undone in its place");
            continue;
        }
        ann.undo().unwrap();
        assert_eq!(ann.document().value(), &json!({"a": "one two three", "b": 4}));
        let undo = ann.next_patch().unwrap();
        assert_eq!((undo.base, json!(undo.ops)[0]["op"].as_str()), (4, Some("test")), "guarded by what it wrote");
    }
}

#[test]
fn changes_after_a_reload_are_of_the_client_of_those_that_wait() {
    let (first, sent) = typing("one two", "one");
    let mut again = Client::new("other", document(&json!({"a": "one two three"})), 4);
    again.restore(first.waiting_patches().collect());
    again.edit(Patch::read_ops(&[json!({"op": "replace", "path": "/a", "value": "1"})]).unwrap()).unwrap();
    let ids: Vec<_> = again.waiting_patches().map(|patch| patch.op_id).collect();
    assert_eq!(
        (ids.as_slice(), sent.op_id.as_str()),
        (["ann:1", "ann:2", "ann:other-1"].map(str::to_owned).as_slice(), "ann:1")
    );
    assert_eq!(again.id(), "ann");
    let mut alone = Client::new("other", document(&json!({})), 4);
    alone.restore(Vec::new());
    assert_eq!(alone.id(), "other", "nothing waited");
}

#[test]
fn an_unsent_text_is_joined_at_once_unless_both_changed_the_same_words() {
    let replace = |text: &str| json!({"op": "replace", "path": "/a", "value": text});
    for (bens, expected) in [("ONE two three", "ONE two 3"), ("one two drei", "one two 3")] {
        let mut ann = Client::new("ann", document(&json!({"a": "one two three"})), 1);
        ann.edit(Patch::read_ops(&[replace("one two 3")]).unwrap()).unwrap();
        assert_eq!(ann.receive(&committed(2, replace(bens))), Received::Taken(Vec::new()));
        assert_eq!(ann.document().value()["a"], expected);
        let base = ann.next_patch().unwrap().base;
        assert_eq!(base, if expected == "ONE two 3" { 2 } else { 1 });
    }
}

#[test]
fn a_change_is_based_on_the_text_that_its_author_sees_while_a_change_elsewhere_waits() {
    let replace =
        |path: &str, text: &str| Patch::read_ops(&[json!({"op": "replace", "path": path, "value": text})]).unwrap();
    let first = document(&json!({"a": "one", "b": "one two three"}));
    // A word that is moved was there twice, and one that is removed came back.
    for (is_reset, typed) in [true, false].into_iter().flat_map(|one| [(one, "one two three zero"), (one, "one two 3")])
    {
        let mut server = Server::new(&first);
        let mut ann = Client::new("ann", first.clone(), 1);
        let mut ben = Client::new("ben", first.clone(), 1);
        ann.edit(replace("/a", "anns")).unwrap();
        let sent = ann.next_patch().unwrap();
        for ops in [replace("/a", "bens"), replace("/b", "zero one two three")] {
            ben.edit(ops).unwrap();
            let patch = ben.next_patch().unwrap();
            ben.answer(&patch.op_id, server.take("ben", &patch));
        }
        if is_reset {
            let (version, newest) = server.head();
            ann.reset(newest.clone(), version);
        } else {
            server.log.iter().for_each(|one| assert_eq!(ann.receive(one), Received::Taken(Vec::new())));
        }
        assert_eq!(ann.document().value(), &json!({"a": "anns", "b": "zero one two three"}));
        ann.edit(replace("/b", typed)).unwrap();
        ann.answer(&sent.op_id, server.take("ann", &sent));
        let next = ann.next_patch().unwrap();
        let Answer::Committed(committed) = server.take("ann", &next) else { panic!("rejected") };
        assert_eq!(committed.overwrote, Vec::new(), "its author has seen what it replaces");
        assert_eq!(server.head().1, &document(&json!({"a": "anns", "b": typed})));
    }
}

/// Two people with one text, on which one of them has a change that does not apply any more.
struct Two {
    server: Server,
    ann: Client,
    ben: Client,
}

impl Two {
    fn new() -> Self {
        let first = document(&json!({"b": {"text": "one"}}));
        Self {
            server: Server::new(&first),
            ann: Client::new("ann", first.clone(), 1),
            ben: Client::new("ben", first, 1),
        }
    }

    fn ann_edits(&mut self, ops: &[Value]) {
        self.ann.edit(Patch::read_ops(ops).unwrap()).unwrap();
    }

    fn ann_sends(&mut self) -> (String, Answer) {
        let patch = self.ann.next_patch().unwrap();
        let answer = self.server.take("ann", &patch);
        (patch.op_id, answer)
    }

    fn ben_edits(&mut self, ops: &[Value]) {
        let (version, newest) = self.server.head();
        self.ben.reset(newest.clone(), version);
        self.ben.edit(Patch::read_ops(ops).unwrap()).unwrap();
        let patch = self.ben.next_patch().unwrap();
        self.ben.answer(&patch.op_id, self.server.take("ben", &patch));
    }

    fn ann_reads(&mut self) {
        let version = self.ann.version();
        for one in self.server.log.iter().filter(|one| one.sequence > version) {
            assert_eq!(self.ann.receive(one), Received::Taken(Vec::new()));
        }
    }
}

/// What happens after ann has typed.
type Later = Box<dyn FnOnce(&mut Two)>;
/// Brings two people to where ann is about to type.
type Prepare<'a> = dyn Fn(&mut Two) -> Later + 'a;

#[test]
fn a_change_that_does_not_apply_hides_no_words_so_none_are_doubled() {
    let text = |text: &str| json!({"op": "replace", "path": "/b/text", "value": text});
    let add = |path: &str, value: Value| json!({"op": "add", "path": path, "value": value});
    let remove = |path: &str| json!({"op": "remove", "path": path});
    let [bens, typed] = ["one ben", "zero one ben"];
    let added_again = |two: &mut Two| -> Later {
        two.ann_edits(&[remove("/b")]);
        let sent = two.ann.next_patch().unwrap();
        two.ann_edits(&[add("/b", json!({"text": "new"}))]);
        two.ben_edits(&[text(bens)]);
        let answer = two.server.take("ann", &sent);
        two.ann.answer(&sent.op_id, answer);
        two.ann_reads();
        Box::new(|_| ())
    };
    let with_another_place = |two: &mut Two| -> Later {
        two.ann_edits(&[add("/c", json!("anns")), text("one ann")]);
        two.ben_edits(&[add("/c", json!("bens")), text(bens)]);
        two.ann_reads();
        Box::new(|_| ())
    };
    let with_a_place_that_is_free_again = |two: &mut Two| -> Later {
        drop(with_another_place(two));
        Box::new(move |two| two.ben_edits(&[remove("/c")]))
    };
    let undone = |two: &mut Two| {
        two.ann_edits(&[text("one two")]);
        two.ann_sends();
        two.ann_reads();
        two.ann.undo().unwrap();
    };
    let undone_too_late = |two: &mut Two| -> Later {
        undone(two);
        two.ben_edits(&[text(bens)]);
        two.ann_reads();
        Box::new(|_| ())
    };
    let undone_with_a_late_answer = |two: &mut Two| -> Later {
        undone(two);
        let (op_id, answer) = two.ann_sends();
        two.ben_edits(&[text(bens)]);
        let (version, newest) = two.server.head();
        two.ann.reset(newest.clone(), version);
        Box::new(move |two| _ = two.ann.answer(&op_id, answer))
    };
    let cases: [(&str, &Prepare<'_>); 5] = [
        ("added again", &added_again),
        ("with another place", &with_another_place),
        ("with a place that is free again", &with_a_place_that_is_free_again),
        ("undone too late", &undone_too_late),
        ("undone with a late answer", &undone_with_a_late_answer),
    ];
    for (case, prepare) in cases {
        let mut two = Two::new();
        let later = prepare(&mut two);
        assert_eq!(two.ann.document().value()["b"]["text"], bens, "{case}: she sees what ben wrote");
        two.ann_edits(&[text(typed)]);
        later(&mut two);
        two.ann_reads();
        while two.ann.waiting() > 0 {
            let (op_id, answer) = two.ann_sends();
            two.ann_reads();
            two.ann.answer(&op_id, answer);
        }
        assert_eq!(two.server.head().1.value()["b"]["text"], typed, "{case}");
        assert_eq!(two.server.log.last().unwrap().overwrote, Vec::new(), "{case}: she has seen what she replaces");
    }
}

#[test]
fn two_people_who_type_into_one_word_lose_no_letter_and_get_no_notice() {
    let first = document(&json!({"a": "one wd two"}));
    let mut server = Server::new(&first);
    let mut people = [Client::new("ann", first.clone(), 1), Client::new("ben", first, 1)];
    // Each letter comes behind the one that the same person typed before it.
    for typed in [["wA", "wX"], ["AB", "XY"], ["BC", "YZ"], ["", ""]] {
        let sent = people.each_mut().map(Client::next_patch);
        for (person, letters) in people.iter_mut().zip(typed).filter(|(_, letters)| !letters.is_empty()) {
            let shown = person.document().value()["a"].as_str().unwrap();
            let text = shown.replacen(&letters[..1], letters, 1);
            person.edit(Patch::read_ops(&[json!({"op": "replace", "path": "/a", "value": text})]).unwrap()).unwrap();
        }
        for (name, patch) in ["ann", "ben"].into_iter().zip(sent) {
            let Some(patch) = patch else { continue };
            let Answer::Committed(committed) = server.take(name, &patch) else { panic!("rejected") };
            for person in &mut people {
                assert_eq!(person.receive(&committed), Received::Taken(Vec::new()));
            }
        }
    }
    for document in [people[0].document(), people[1].document(), server.head().1] {
        assert_eq!(document.value()["a"], "one wXYZABCd two");
    }
}

#[test]
fn a_change_that_was_replaced_comes_back_with_its_value() {
    let mut ann = Client::new("ann", document(&json!({"a": "mine"})), 2);
    let path = Path::parse("/a").unwrap();
    let change = Overwritten { path, sequence: 2, op_id: "ann:1".into(), by: "ann".into() };
    let bens = committed(3, json!({"op": "replace", "path": "/a", "value": "bens"}));
    let bens = Committed { overwrote: vec![change.clone()], by: "ben".into(), ..bens };
    let told = Notice::Overwritten { change, mine: Some(json!("mine")), by: "ben".into() };
    assert_eq!(ann.receive(&bens), Received::Taken(vec![told]));
}

#[test]
fn a_change_of_an_earlier_page_that_someone_else_replaced_comes_back_too() {
    let path = Path::parse("/a").unwrap();
    let change = Overwritten { path, sequence: 2, op_id: "page-1:1".into(), by: "ann".into() };
    let replaced_by = |by: &str| {
        let patch = committed(3, json!({"op": "replace", "path": "/a", "value": "new"}));
        let patch = Committed { overwrote: vec![change.clone()], by: by.into(), ..patch };
        let ann = Client::new("page-2", document(&json!({"a": "mine"})), 2);
        ann.of_author("ann".into()).receive(&patch)
    };
    let notice = Notice::Overwritten { change: change.clone(), mine: Some(json!("mine")), by: "ben".into() };
    assert_eq!(replaced_by("ben"), Received::Taken(vec![notice]));
    assert_eq!(replaced_by("ann"), Received::Taken(Vec::new()), "in another tab");
}

#[test]
fn the_author_of_a_replaced_change_gets_a_notice_after_patches_were_skipped() {
    let replace = |path: &str, text: &str| json!({"op": "replace", "path": path, "value": text});
    let path = Path::parse("/a").unwrap();
    let change = Overwritten { path, sequence: 3, op_id: "ann:1".into(), by: "ann".into() };
    let bens = Committed { overwrote: vec![change.clone()], ..committed(4, replace("/a", "bens")) };
    let others = committed(5, replace("/b", "5"));
    let notice = Notice::Overwritten { change, mine: Some(json!("mine")), by: "ben".into() };
    let newest = document(&json!({"a": "bens", "b": "5"}));
    let client = || {
        let mut ann = Client::new("ann", document(&json!({"a": "old", "b": "0"})), 1);
        assert_eq!(ann.receive(&committed(2, replace("/b", "2"))), Received::Taken(Vec::new()));
        ann.reset(newest.clone(), 5);
        assert_eq!((ann.version(), ann.read_to()), (5, 2));
        ann
    };
    let mine = committed(3, replace("/a", "mine"));

    let mut ann = client();
    assert_eq!(ann.receive(&bens), Received::Known, "the patch before it is missing");
    assert_eq!(ann.receive(&mine), Received::Known);
    // A patch that is newer than the document is shown at once. Its notices come in its turn.
    assert_eq!(ann.receive(&committed(6, replace("/b", "6"))), Received::Taken(Vec::new()));
    assert_eq!(ann.receive(&bens), Received::Taken(vec![notice]));
    assert_eq!(ann.receive(&bens), Received::Known, "one notice");
    assert_eq!((ann.receive(&others), ann.read_to()), (Received::Known, 5));
    assert_eq!((ann.receive(&committed(6, replace("/b", "6"))), ann.read_to()), (Received::Known, 6));
    assert_eq!(ann.document(), &document(&json!({"a": "bens", "b": "6"})));

    let mut ann = client();
    ann.skip_unread();
    assert_eq!(ann.read_to(), 5);
    assert_eq!(ann.receive(&mine), Received::Known);
    assert_eq!(ann.receive(&bens), Received::Known, "what is given up has no notices");
}

#[test]
fn the_changes_of_a_suggestion_are_one_patch_and_can_be_taken_back_before() {
    let mut ann = Client::new("ann", document(&json!({"a": "x", "b": "y"})), 1);
    let replace = |path: &str, text: &str| json!({"op": "replace", "path": path, "value": text});
    for (path, text) in [("/a", "1"), ("/b", "2"), ("/a", "3"), ("/b", "no")] {
        ann.edit(Patch::read_ops(&[replace(path, text)]).unwrap()).unwrap();
    }
    assert!(ann.take_back());
    assert_eq!(ann.document().value(), &json!({"a": "3", "b": "2"}));
    let suggested = ann.take_suggestion().unwrap();
    assert_eq!(json!(suggested.ops), json!([replace("/a", "3"), replace("/b", "2")]));
    assert_eq!((ann.waiting(), ann.document().value()["a"].as_str()), (0, Some("x")));
    assert_eq!(ann.take_suggestion(), None);
    assert!(!ann.take_back());
}

#[test]
fn changes_with_different_bases_are_suggested_apart_so_that_no_word_is_doubled() {
    let first = document(&json!({"blocks": {"b1": {"heading": "one", "text": "one two three"}}}));
    let replace = |key: &str, text: &str| json!({"op": "replace", "path": format!("/blocks/b1/{key}"), "value": text});
    let ops = |key: &str, text: &str| Patch::read_ops(&[replace(key, text)]).unwrap();
    let mut server = Server::new(&first);
    let mut ann = Client::new("ann", first.clone(), 1);
    let mut ben = Client::new("ben", first, 1);
    ann.edit(ops("heading", "anns")).unwrap();
    for (key, text) in [("heading", "bens"), ("text", "zero one two three")] {
        ben.edit(ops(key, text)).unwrap();
        let patch = ben.next_patch().unwrap();
        ben.answer(&patch.op_id, server.take("ben", &patch));
    }
    for committed in &server.log {
        assert_eq!(ann.receive(committed), Received::Taken(Vec::new()));
    }
    // She moves the word that ben added, and writes on in the heading, which hides that of ben.
    ann.edit(ops("text", "one two three zero")).unwrap();
    ann.edit(ops("heading", "anns two")).unwrap();
    let version = ann.version();
    let suggested = [ann.take_suggestion().unwrap(), ann.take_suggestion().unwrap()];
    assert_eq!(ann.take_suggestion(), None);
    assert_eq!(json!(suggested[0].ops), json!([replace("heading", "anns two")]));
    assert_eq!(json!(suggested[1].ops), json!([replace("text", "one two three zero")]));
    assert_eq!((suggested[0].base, suggested[1].base), (1, version), "the version that she saw of each");
    for patch in &suggested {
        let Answer::Committed(committed) = server.take("ann", patch) else { panic!("rejected") };
        assert_eq!(committed.ops, patch.ops, "nothing is joined in");
    }
    let blocks = json!({"blocks": {"b1": {"heading": "anns two", "text": "one two three zero"}}});
    assert_eq!(server.head().1.value(), &blocks);
}

#[test]
fn a_patch_that_the_server_refuses_is_dropped_with_what_it_was() {
    let (mut ann, sent) = typing("one", "two");
    assert_eq!(ann.discard("other:1"), None);
    assert_eq!(ann.discard(&sent.op_id), Some(sent.ops));
    assert_eq!((ann.waiting(), ann.document().value()["a"].as_str()), (1, Some("two")));
}

#[test]
fn a_suggestion_holds_no_more_than_a_patch_may() {
    let mut ann = Client::new("ann", document(&json!({})), 1);
    for n in 0..CANVAS_OPS_MAX + 5 {
        ann.edit(Patch::read_ops(&[json!({"op": "add", "path": format!("/{n}"), "value": n})]).unwrap()).unwrap();
    }
    let suggested = ann.take_suggestion().unwrap();
    suggested.check().unwrap();
    assert_eq!((suggested.ops.len(), ann.waiting()), (CANVAS_OPS_MAX, 5));
}
