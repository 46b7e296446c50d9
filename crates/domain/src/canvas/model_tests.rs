//! The state of an editor against a simple model of it. A person writes, undoes, loses answers and loads the page again
//! while someone else changes another part. No one else changes what they write, so they see exactly what they wrote,
//! at every moment.

use super::{
    Answer, Client, Committed, Document, Patch, Received, UndoRefusal,
    tests::{Server, document},
};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::VecDeque;

const ME: &str = "ann";
const OTHER: &str = "ben";

/// An editor with its server, and the model: what its person wrote.
struct Editor {
    server: Server,
    client: Client,
    /// The answer that is under way.
    answer: Option<(String, Answer)>,
    /// Number of pages so far, for the ids of their clients.
    pages: usize,
    /// Number of changes of both, so that each writes something of its own.
    made: usize,
    /// What the person has written, wherever it is by now.
    mine: Value,
    /// The changes that wait, in order.
    waiting: VecDeque<Waiting>,
    /// What the person's part was before each change that can be undone.
    undo: Vec<Value>,
    /// What it was before each undo.
    redo: Vec<Value>,
}

/// A change that waits for an answer.
#[derive(Clone, Copy, PartialEq)]
enum Waiting {
    Edit,
    Undo,
    Redo,
    /// Made before the page was loaded again.
    Restored,
}

impl Editor {
    fn new() -> Self {
        let mine = json!({ "text": "start", "items": {} });
        let first = document(&json!({ "mine": mine, "theirs": 0 }));
        Self {
            server: Server::new(&first),
            client: Client::new("page-0", first, 1),
            answer: None,
            pages: 0,
            made: 0,
            mine,
            waiting: VecDeque::new(),
            undo: Vec::new(),
            redo: Vec::new(),
        }
    }

    fn act(&mut self, (what, place): (u8, u8)) {
        self.made += 1;
        let (token, item) = (self.made, format!("/mine/items/i{}", place % 3));
        match what % 14 {
            0 | 1 => {
                let text = format!("{} w{token}", self.mine["text"].as_str().unwrap());
                self.edit(json!({ "op": "replace", "path": "/mine/text", "value": text }));
            }
            2 => self.edit(json!({ "op": "add", "path": item, "value": { "text": format!("w{token}") } })),
            3 => self.edit(json!({ "op": "replace", "path": item + "/text", "value": format!("w{token}") })),
            4 => self.edit(json!({ "op": "remove", "path": item })),
            5 => self.step(true),
            6 => self.step(false),
            7 | 8 => self.send(),
            9 => self.deliver(),
            10 => self.other_changes(),
            11 => self.fetch(),
            12 => self.load_again(),
            _ if place.is_multiple_of(2) => self.answer = None,
            _ => self.read_again(),
        }
    }

    fn edit(&mut self, operation: Value) {
        let ops = Patch::read_ops(&[operation]).unwrap();
        let expected = document(&json!({ "mine": self.mine })).apply(&ops);
        let waiting = self.client.waiting();
        match (self.client.edit(ops), expected) {
            (Ok(()), Ok(applied)) => {
                self.mine = applied.document.value()["mine"].clone();
                self.redo.clear();
                if self.client.waiting() > waiting {
                    self.waiting.push_back(Waiting::Edit);
                }
            }
            (found, expected) => assert_eq!(found.is_ok(), expected.is_ok()),
        }
    }

    fn step(&mut self, is_undo: bool) {
        let steps = if is_undo { &mut self.undo } else { &mut self.redo };
        let expected = match self.waiting.is_empty() {
            true => steps.pop().ok_or(UndoRefusal::Nothing),
            false => Err(UndoRefusal::Waits),
        };
        let found = if is_undo { self.client.undo() } else { self.client.redo() };
        assert_eq!(found.err(), expected.as_ref().err().copied());
        if let Ok(before) = expected {
            self.mine = before;
            self.waiting.push_back(if is_undo { Waiting::Undo } else { Waiting::Redo });
        }
    }

    /// Sends the next change, or the one that is under way again. An answer that was under way is lost.
    fn send(&mut self) {
        let is_under_way = self.client.again().is_some();
        let next = self.client.next_patch();
        assert!(next.is_none() || !is_under_way, "one patch at a time");
        if let Some(patch) = next.or_else(|| self.client.again()) {
            let answer = self.server.take(ME, &patch);
            assert!(matches!(answer, Answer::Committed(_)), "no one contradicts: {patch:?} {answer:?}");
            self.answer = Some((patch.op_id, answer));
        }
    }

    fn deliver(&mut self) {
        if let Some((op_id, Answer::Committed(committed))) = self.answer.take() {
            assert_eq!(op_id, committed.op_id);
            self.receive(&committed);
        }
    }

    fn receive(&mut self, committed: &Committed) {
        let (is_new, waiting) = (committed.sequence > self.client.version(), self.client.waiting());
        match self.client.answer(&committed.op_id, Answer::Committed(committed.clone())) {
            Received::Taken(notices) => assert_eq!(notices, [], "no one replaced anything"),
            Received::Known => {}
            Received::Gap(_) => return self.fetch(),
            Received::Differs => panic!("the client differs from the server"),
        }
        if self.client.waiting() == waiting {
            return;
        }
        let own = self.waiting.pop_front().unwrap();
        // A page that reads the document in place of what an earlier page made does not know what was before it.
        if !is_new && own == Waiting::Restored {
            self.undo.clear();
            self.redo.clear();
            return;
        }
        let is_undo = own == Waiting::Undo;
        // After a later edit there is nothing to make again.
        let is_replaced = is_undo && !self.waiting.is_empty();
        let before = self.server.documents[&committed.previous].value()["mine"].clone();
        let steps = if is_undo { &mut self.redo } else { &mut self.undo };
        steps.extend((!is_replaced).then_some(before));
    }

    /// Reads the patches that the client lacks.
    fn fetch(&mut self) {
        for committed in self.server.log.clone() {
            if committed.sequence > self.client.version() {
                self.receive(&committed);
            }
        }
    }

    fn other_changes(&mut self) {
        let ops = Patch::read_ops(&[json!({ "op": "replace", "path": "/theirs", "value": self.made })]).unwrap();
        let (base, op_id) = (self.server.head().0, format!("other:{}", self.made));
        let answer = self.server.take(OTHER, &Patch { op_id, base, ops, is_strict: false });
        assert!(matches!(answer, Answer::Committed(_)), "{answer:?}");
    }

    /// Loads the page again. It has what the browser kept, and the newest document.
    fn load_again(&mut self) {
        let kept = self.client.waiting_patches().collect();
        self.pages += 1;
        let (version, newest) = self.server.head();
        self.client = Client::new(&format!("page-{}", self.pages), newest.clone(), version);
        self.client.restore(kept);
        // A new page knows nothing of what could be undone. What waits is a change like others.
        self.answer = None;
        self.undo.clear();
        self.redo.clear();
        self.waiting.iter_mut().for_each(|waiting| *waiting = Waiting::Restored);
    }

    /// Reads the newest document in place of the patches.
    fn read_again(&mut self) {
        let (version, newest) = self.server.head();
        self.client.reset(newest.clone(), version);
    }

    /// The connection is good again: all that waits is sent and answered.
    fn settle(&mut self) {
        self.fetch();
        while self.client.waiting() > 0 {
            self.send();
            self.deliver();
        }
    }

    fn check(&self) {
        let (shown, confirmed) = (self.client.document().value(), self.client.confirmed());
        assert_eq!(shown["mine"], self.mine, "what they wrote is what they see");
        assert_eq!(shown["theirs"], confirmed.value()["theirs"]);
        assert_eq!(confirmed, &self.server.documents[&self.client.version()]);
        assert_eq!(self.client.waiting(), self.waiting.len());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_person_sees_what_they_wrote_through_lost_answers_undo_and_reloads(
        acts in proptest::collection::vec((any::<u8>(), any::<u8>()), 1..150)
    ) {
        let mut editor = Editor::new();
        for act in acts {
            editor.act(act);
            editor.check();
        }
        editor.settle();
        editor.check();
        let (version, newest) = editor.server.head();
        prop_assert_eq!((editor.client.version(), editor.client.document()), (version, newest));
        let mut folded: Document = editor.server.documents[&1].clone();
        editor.server.log.iter().for_each(|one| folded.fold(&one.ops).unwrap());
        prop_assert_eq!(&folded, newest);
    }
}
