//! Properties of canvases as a whole: three clients over a bad connection, and patches of attackers.

use super::*;
use crate::limit::CANVAS_OPS_MAX;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};

/// A server without a database.
pub(super) struct Server {
    pub(super) log: Vec<Committed>,
    pub(super) documents: BTreeMap<u64, Document>,
    /// Base of each committed patch.
    bases: HashMap<u64, u64>,
}

impl Server {
    pub(super) fn new(document: &Document) -> Self {
        Self { log: Vec::new(), documents: BTreeMap::from([(1, document.clone())]), bases: HashMap::new() }
    }

    pub(super) fn head(&self) -> (u64, &Document) {
        let (version, document) = self.documents.last_key_value().unwrap();
        (*version, document)
    }

    pub(super) fn take(&mut self, by: &str, patch: &Patch) -> Answer {
        if let Some(known) = self.log.iter().find(|committed| committed.op_id == patch.op_id) {
            return Answer::Committed(known.clone());
        }
        patch.check().unwrap();
        let (version, document) = self.head();
        let since: Vec<_> = self.log.iter().filter(|one| one.sequence > patch.base).cloned().collect();
        let head = Head { document, version, before: self.documents.get(&patch.base) };
        let accepted = match decide(head, by, patch, &since) {
            Ok(accepted) => accepted,
            Err(rejected) => return Answer::Rejected(rejected),
        };
        // Other events of the session come between two patches.
        let sequence = version + 1 + version % 3;
        let committed = Committed {
            sequence,
            previous: version,
            op_id: patch.op_id.clone(),
            by: by.into(),
            ops: accepted.ops,
            overwrote: accepted.overwrote,
        };
        self.log.push(committed.clone());
        self.documents.insert(sequence, accepted.document);
        self.bases.insert(sequence, patch.base);
        Answer::Committed(committed)
    }
}

/// The message that is under way.
enum Message {
    Request(usize, Patch),
    Answer(usize, String, Answer),
    Stream(usize, Committed),
}

struct World {
    server: Server,
    clients: Vec<Client>,
    notices: Vec<Vec<Notice>>,
    wire: Vec<Message>,
    tokens: usize,
    /// Ids of changes that were made while no other of their client hid what others wrote there, with the version that
    /// the author saw.
    seen: HashMap<String, u64>,
}

const NAMES: [&str; 3] = ["ann", "ben", "cem"];

impl World {
    fn new() -> Self {
        let text = json!({"title": "one two three four", "list": [], "items": {"i0": {"text": "a b c d"}}}).to_string();
        let document = Document::read(&text).unwrap();
        Self {
            server: Server::new(&document),
            clients: NAMES.map(|name| Client::new(name, document.clone(), 1)).into(),
            notices: vec![Vec::new(); NAMES.len()],
            wire: Vec::new(),
            tokens: 0,
            seen: HashMap::new(),
        }
    }

    fn act(&mut self, (who, what, place): (usize, u8, usize)) {
        let who = who % NAMES.len();
        match what % 13 {
            0..=4 => self.edit(who, what % 13, place),
            5 => _ = self.clients[who].undo(),
            6 => _ = self.clients[who].redo(),
            7 | 8 => {
                let patch = self.clients[who].next_patch().or_else(|| self.clients[who].again());
                self.wire.extend(patch.map(|patch| Message::Request(who, patch)));
            }
            9 | 10 if !self.wire.is_empty() => {
                let message = self.wire.swap_remove(place % self.wire.len());
                self.deliver(message);
            }
            // The message is lost.
            11 if !self.wire.is_empty() => drop(self.wire.swap_remove(place % self.wire.len())),
            // The newest document is read in place of the patches, which are read later.
            12 => {
                let (version, newest) = self.server.head();
                self.clients[who].reset(newest.clone(), version);
            }
            _ => self.fetch(who),
        }
    }

    fn edit(&mut self, who: usize, what: u8, place: usize) {
        self.tokens += 1;
        let token = format!("t{}-{}", self.tokens, NAMES[who]);
        let item = format!("/items/i{}", place % 3);
        let shown = self.clients[who].document().value().clone();
        let with_token = |path: &str| {
            let mut words: Vec<&str> = shown.pointer(path)?.as_str()?.split(' ').collect();
            // The first word is moved to the end.
            words.rotate_left(usize::from(place.is_multiple_of(7)));
            words.insert(place % (words.len() + 1), &token);
            if words.len() > 8 {
                words.remove(place % words.len());
            }
            Some(json!([{"op": "replace", "path": path, "value": words.join(" ")}]))
        };
        let ops = match what {
            0 => with_token("/title"),
            1 => with_token(&format!("{item}/text")),
            2 => Some(json!([{"op": "add", "path": item, "value": {"text": token}}])),
            3 if place.is_multiple_of(2) => Some(json!([{"op": "remove", "path": item}])),
            3 => Some(json!([{"op": "replace", "path": item, "value": {"text": token}}])),
            _ => Some(json!([{"op": "replace", "path": "/list", "value": [token]}])),
        };
        if let Some(ops) = ops {
            let (client, ops) = (&mut self.clients[who], Patch::read_ops(ops.as_array().unwrap()).unwrap());
            let is_hidden = client.waiting_patches().any(|one| related::are_related(&one.ops, &ops));
            // A change that does not apply to the shown document is none.
            if client.edit(ops).is_ok() && !is_hidden {
                let made = client.waiting_patches().last().unwrap();
                self.seen.insert(made.op_id, client.version());
            }
        }
    }

    fn deliver(&mut self, message: Message) {
        match message {
            Message::Request(who, patch) => {
                let before = self.server.log.len();
                let answer = self.server.take(NAMES[who], &patch);
                for committed in &self.server.log[before..] {
                    self.wire.extend((0..NAMES.len()).map(|who| Message::Stream(who, committed.clone())));
                }
                // A request may arrive twice.
                if patch.op_id.len() % 2 == 0 {
                    self.wire.push(Message::Request(who, patch.clone()));
                    self.wire.truncate(64);
                }
                self.wire.push(Message::Answer(who, patch.op_id, answer));
            }
            Message::Answer(who, op_id, answer) => {
                let received = self.clients[who].answer(&op_id, answer);
                self.note(who, received);
            }
            Message::Stream(who, committed) => {
                let received = self.clients[who].receive(&committed);
                self.note(who, received);
            }
        }
    }

    fn note(&mut self, who: usize, received: Received) {
        match received {
            Received::Taken(notices) => self.notices[who].extend(notices),
            Received::Known => {}
            Received::Gap(_) => self.fetch(who),
            Received::Differs => panic!("the client differs from the server"),
        }
    }

    /// Reads the patches that a client lacks.
    fn fetch(&mut self, who: usize) {
        let read_to = self.clients[who].read_to();
        for committed in self.server.log.clone().into_iter().filter(|one| one.sequence > read_to) {
            match self.clients[who].receive(&committed) {
                Received::Taken(notices) => self.notices[who].extend(notices),
                Received::Known => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The connection is good again.
    fn settle(&mut self) {
        self.wire.clear();
        for (who, name) in NAMES.into_iter().enumerate() {
            self.fetch(who);
            while let Some(patch) = self.clients[who].next_patch().or_else(|| self.clients[who].again()) {
                let answer = self.server.take(name, &patch);
                let received = self.clients[who].answer(&patch.op_id, answer);
                self.note(who, received);
            }
        }
        (0..NAMES.len()).for_each(|who| self.fetch(who));
    }

    /// A patch replaces nothing as unseen that its author saw, and joins no word with itself.
    fn check_seen(&self) {
        for committed in &self.server.log {
            let seen = self.seen.get(&committed.op_id).copied().unwrap_or_default();
            assert!(committed.overwrote.iter().all(|one| one.sequence > seen), "{seen} was seen: {committed:?}");
            let document = self.server.documents[&committed.sequence].value();
            assert!(!is_doubled(document), "{committed:?} has a word twice: {document}");
        }
    }

    /// When a patch removes words that its author had not seen, whoever brought them into the document gets a notice.
    fn check_told(&self) {
        for committed in &self.server.log {
            let words = |version: &u64| words_of(self.server.documents[version].value());
            let after = words(&committed.sequence);
            let base = words(&self.server.bases[&committed.sequence]);
            for lost in words(&committed.previous).difference(&after).filter(|word| !base.contains(*word)) {
                let brings =
                    |one: &&Committed| words(&one.sequence).contains(lost) && !words(&one.previous).contains(lost);
                let earlier = self.server.log.iter().filter(|one| one.sequence <= committed.previous);
                let author = &earlier.rev().find(brings).unwrap().by;
                let is_told = committed.overwrote.iter().any(|one| one.by == *author);
                assert!(*author == committed.by || is_told, "{lost} vanished by {committed:?}");
            }
        }
        for (who, name) in NAMES.iter().enumerate() {
            let named = self.server.log.iter().flat_map(|one| &one.overwrote).filter(|one| one.by == *name).count();
            let notified = self.notices[who].iter().filter(|one| matches!(one, Notice::Overwritten { .. })).count();
            assert_eq!(named, notified, "{name}");
        }
    }
}

/// Whether a text has a word of a client twice.
fn is_doubled(value: &Value) -> bool {
    match value {
        Value::String(text) => text.split(' ').filter(|word| word.contains('-')).count() > words_of(value).len(),
        Value::Array(items) => items.iter().any(is_doubled),
        Value::Object(members) => members.values().any(is_doubled),
        _ => false,
    }
}

fn words_of(value: &Value) -> std::collections::BTreeSet<String> {
    match value {
        Value::String(text) => text.split(' ').filter(|word| word.contains('-')).map(ToOwned::to_owned).collect(),
        Value::Array(items) => items.iter().flat_map(words_of).collect(),
        Value::Object(members) => members.values().flat_map(words_of).collect(),
        _ => std::collections::BTreeSet::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn three_clients_end_with_the_document_that_the_log_folds_to(
        acts in proptest::collection::vec((0..3_usize, any::<u8>(), 0..1_000_usize), 1..200)
    ) {
        let mut world = World::new();
        acts.into_iter().for_each(|act| world.act(act));
        world.settle();
        let (version, document) = world.server.head();
        let first = world.server.documents[&1].clone();
        let mut folded = first;
        world.server.log.iter().for_each(|one| folded.fold(&one.ops).unwrap());
        prop_assert_eq!(&folded, document);
        for client in &world.clients {
            prop_assert_eq!(client.waiting(), 0);
            prop_assert_eq!((client.version(), client.read_to()), (version, version));
            prop_assert_eq!(client.document(), document);
            prop_assert_eq!(client.confirmed().text(), document.text());
        }
        world.check_seen();
        world.check_told();
    }

    #[test]
    fn hostile_operations_are_refused_or_applied_within_the_limits(
        ops in proptest::collection::vec(hostile(), 1..40), is_strict in any::<bool>()
    ) {
        let document = Document::read(r#"{"a":{"b":[1,{"c":2}]},"d":"x"}"#).unwrap();
        let ops: Vec<Operation> = ops.iter().filter_map(|op| Operation::read(op).ok()).take(CANVAS_OPS_MAX).collect();
        let patch = Patch { op_id: "x".into(), base: 1, ops, is_strict };
        let head = Head { document: &document, version: 1, before: None };
        if let Ok(accepted) = decide(head, "eve", &patch, &[]) {
            prop_assert_eq!(accepted.document.check(), Ok(()));
            prop_assert!(!accepted.document.text().contains("__proto__"));
            prop_assert_eq!(accepted.document.apply(&accepted.inverse).unwrap().document, document);
        }
    }
}

fn hostile() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        Just("a"),
        Just("b"),
        Just("d"),
        Just("0"),
        Just("1"),
        Just("-"),
        Just("01"),
        Just("1e9"),
        Just("4294967296"),
        Just("18446744073709551616"),
        Just("__proto__"),
        Just("constructor"),
        Just("~0"),
        Just("~"),
        Just(""),
        Just("ä")
    ];
    let path = proptest::collection::vec(key, 0..6)
        .prop_map(|keys| keys.iter().fold(String::new(), |path, key| format!("{path}/{key}")));
    let value = prop_oneof![
        Just(json!(null)),
        Just(json!({"a": {"__proto__": {}}})),
        Just(json!({"prototype": 1})),
        Just(json!({"b": [{"c": 1}]})),
        Just(json!([[[[1]]]])),
        Just((0..40).fold(json!(1), |value, _| json!([value]))),
        Just(json!("x".repeat(3_000))),
        Just(json!(1.0)),
    ];
    let op = prop_oneof![Just("add"), Just("replace"), Just("remove"), Just("test"), Just("move"), Just("copy")];
    (op, path, value).prop_map(|(op, path, value)| match op {
        "remove" => json!({"op": op, "path": path}),
        "move" | "copy" => json!({"op": op, "path": path, "from": ""}),
        _ => json!({"op": op, "path": path, "value": value}),
    })
}

pub(super) fn document(value: &Value) -> Document {
    Document::read(&value.to_string()).unwrap()
}

fn patch(base: u64, op: Value) -> Patch {
    Patch { op_id: "p".into(), base, ops: Patch::read_ops(&[op]).unwrap(), is_strict: false }
}

pub(super) fn committed(sequence: u64, op: Value) -> Committed {
    let Patch { op_id, ops, .. } = patch(0, op);
    Committed { sequence, previous: sequence - 1, op_id, by: "ben".into(), ops, overwrote: Vec::new() }
}

#[test]
fn each_conflict_is_rejected_with_its_name_and_what_stays() {
    let replaced = |path: &str| json!({"op": "replace", "path": path, "value": 9});
    let removed = |path: &str| json!({"op": "remove", "path": path});
    let added = |path: &str| json!({"op": "add", "path": path, "value": 9});
    let head = json!({"a": {"x": 9, "y": {"z": 1}}, "list": [1, 2], "new": 9});
    for (since, mine, reason) in [
        (removed("/b"), replaced("/b/x"), Reason::TargetGone),
        (removed("/b"), replaced("/b"), Reason::TargetGone),
        (removed("/b"), added("/b/x"), Reason::TargetGone),
        (replaced("/a"), replaced("/a/x"), Reason::TargetGone),
        (replaced("/a/x"), removed("/a"), Reason::SubtreeChanged),
        (replaced("/a/x"), replaced("/a"), Reason::SubtreeChanged),
        (replaced("/a/y"), removed("/a/y"), Reason::SubtreeChanged),
        (added("/new"), added("/new"), Reason::Exists),
        (added("/new"), json!({"op": "replace", "path": "/nothing", "value": 1}), Reason::NotFound),
        (replaced("/a/x"), replaced("/list/0"), Reason::NeedsStrict),
        (replaced("/a/x"), added("/list/-"), Reason::NeedsStrict),
        (replaced("/a/x"), json!({"op": "replace", "path": "", "value": {}}), Reason::NeedsStrict),
    ] {
        let document = document(&head);
        let found = Head { document: &document, version: 2, before: None };
        let title = format!("{since} {mine}");
        let rejected = decide(found, "ann", &patch(1, mine.clone()), &[committed(2, since)]).unwrap_err();
        assert_eq!(rejected.reason, reason, "{title}");
        if matches!(reason, Reason::TargetGone | Reason::SubtreeChanged | Reason::Exists) {
            assert_eq!(rejected.because.unwrap().sequence, 2, "{title}");
        }
    }
}

#[test]
fn one_leaf_takes_the_last_change_and_names_what_it_replaced() {
    let since = [committed(2, json!({"op": "replace", "path": "/a", "value": 2}))];
    let (before, now) = (document(&json!({"a": 1, "t": "x"})), document(&json!({"a": 2, "t": "x"})));
    let head = Head { document: &now, version: 2, before: Some(&before) };
    let mine = patch(1, json!({"op": "replace", "path": "/a", "value": 3}));
    let accepted = decide(head, "ann", &mine, &since).unwrap();
    assert_eq!(accepted.document, document(&json!({"a": 3, "t": "x"})));
    assert_eq!(accepted.overwrote.iter().map(|one| (one.sequence, one.by.as_str())).collect::<Vec<_>>(), [(2, "ben")]);
    let test = decide(head, "ann", &patch(1, json!({"op": "test", "path": "/a", "value": 1})), &since).unwrap_err();
    assert_eq!((test.reason, test.kept, test.because.unwrap().by), (Reason::TestFailed, Some(json!(2)), "ben".into()));
    let strict = Patch { is_strict: true, ..mine };
    assert_eq!(decide(head, "ann", &strict, &since).unwrap_err().reason, Reason::Stale);
}

#[test]
fn two_changes_of_one_text_are_joined_by_word() {
    let text = |text: &str| json!({"op": "replace", "path": "/t", "value": text});
    let (before, now) = (document(&json!({"t": "one two three"})), document(&json!({"t": "1 two three"})));
    let head = Head { document: &now, version: 2, before: Some(&before) };
    let accepted = decide(head, "ann", &patch(1, text("one two 3")), &[committed(2, text("1 two three"))]).unwrap();
    assert_eq!(accepted.document, document(&json!({"t": "1 two 3"})));
    assert_eq!((accepted.overwrote.len(), json!(accepted.ops)), (0, json!([text("1 two 3")])));
}

#[test]
fn an_undo_after_a_change_of_another_person_is_rejected_and_says_whose() {
    let first = document(&json!({"a": 1}));
    let mut server = Server::new(&first);
    let (mut ann, mut ben) = (Client::new("ann", first.clone(), 1), Client::new("ben", first, 1));
    let replace = |value: u8| patch(1, json!({"op": "replace", "path": "/a", "value": value})).ops;
    let mut exchange = |client: &mut Client, name: &str| {
        let patch = client.next_patch().unwrap();
        let answer = server.take(name, &patch);
        client.answer(&patch.op_id, answer);
        server.log.last().unwrap().clone()
    };
    ann.edit(replace(2)).unwrap();
    let change = exchange(&mut ann, "ann");
    ann.undo().unwrap();
    exchange(&mut ann, "ann");
    assert_eq!(ann.document(), &document(&json!({"a": 1})));
    ann.redo().unwrap();
    exchange(&mut ann, "ann");
    assert_eq!(ann.document(), &document(&json!({"a": 2})));
    assert_eq!(ben.receive(&change), Received::Taken(Vec::new()));
    ann.undo().unwrap();
    assert_eq!(ann.undo(), Err(UndoRefusal::Waits));
    ben.edit(replace(3)).unwrap();
    exchange(&mut ben, "ben");
    let undo = ann.next_patch().unwrap();
    let Answer::Rejected(rejected) = server.take("ann", &undo) else { panic!("accepted") };
    assert_eq!((rejected.reason, rejected.kept.clone()), (Reason::TestFailed, Some(json!(3))));
    assert_eq!(rejected.because.as_ref().map(|one| one.by.as_str()), Some("ben"));
    assert!(
        matches!(ann.answer(&undo.op_id, Answer::Rejected(rejected)), Received::Taken(notified) if notified.len() == 1)
    );
}

#[test]
fn changes_of_one_value_that_wait_are_sent_as_one() {
    let mut client = Client::new("ann", document(&json!({"a": "", "b": 1})), 1);
    for text in ["t", "te", "tex", "text"] {
        client.edit(patch(1, json!({"op": "replace", "path": "/a", "value": text})).ops).unwrap_or_else(|_| panic!());
    }
    let sent = client.next_patch().unwrap();
    assert_eq!(json!(sent.ops), json!([{"op": "replace", "path": "/a", "value": "text"}]));
    assert_eq!((client.waiting(), client.next_patch(), client.again()), (1, None, Some(sent)));
    client.edit(patch(1, json!({"op": "replace", "path": "/a", "value": "texts"})).ops).unwrap();
    assert_eq!(client.waiting(), 2);
}

#[test]
fn changes_that_wait_survive_a_reload_and_are_sent_under_their_ids() {
    let first = document(&json!({"a": 1, "b": 1}));
    let mut server = Server::new(&first);
    let replace = |path: &str, value: u8| patch(1, json!({"op": "replace", "path": path, "value": value})).ops;
    let mut before = Client::new("ann", first.clone(), 1);
    before.edit(replace("/a", 2)).unwrap();
    let sent = before.next_patch().unwrap();
    let Answer::Committed(committed) = server.take("ann", &sent) else { panic!("rejected") };
    // The answer is lost, and a change of another value comes while another change waits.
    before.edit(replace("/b", 2)).unwrap();
    let mut ben = Client::new("ben", first.clone(), 1);
    ben.edit(replace("/b", 9)).unwrap();
    server.take("ben", &ben.next_patch().unwrap());
    let kept: Vec<_> = before.waiting_patches().collect();
    assert_eq!((kept.len(), &kept[0]), (2, &sent), "what was sent keeps its base");

    let (version, newest) = server.head();
    let mut after = Client::new("ann-2", newest.clone(), version);
    after.restore(kept);
    assert_eq!(after.document(), &document(&json!({"a": 2, "b": 2})), "nothing that was typed is lost");
    after.edit(replace("/b", 3)).unwrap();
    assert_eq!(after.waiting(), 3, "a change that may have been sent takes nothing in");
    let again = after.next_patch().unwrap();
    assert_eq!((&again, server.take("ann", &again)), (&sent, Answer::Committed(committed.clone())));
    after.answer(&again.op_id, Answer::Committed(committed));
    for _ in 0..2 {
        let patch = after.next_patch().unwrap();
        let answer = server.take("ann", &patch);
        after.answer(&patch.op_id, answer);
    }
    assert_eq!((after.waiting(), server.head().1.clone()), (0, document(&json!({"a": 2, "b": 3}))));
    assert_eq!(after.document(), server.head().1);
}
