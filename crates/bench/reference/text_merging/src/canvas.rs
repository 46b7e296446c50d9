//! The merging of canvases: the server decides about patches in the order of their arrival.

use crate::run::{Wire, World};
use domain::{
    canvas::{Answer, Client, Committed, Document, Head, Notice, Operation, Patch, Received, decide, is_snapshot_due},
    event::kind::CanvasPatch,
};
use serde_json::{Value, json};
use std::ops::Range;
use text_merging::{canvas, replaced, text_of};

/// As long as the names that the server gives.
const PEOPLE: [&str; 2] = ["user:0199b1c2-6a51-7d30-8f7e-0d7a5f3c1a01", "user:0199b1c2-6a51-7d30-8f7e-0d7a5f3c1a02"];

/// What the server sends to a person, in order.
enum Message {
    Answer(String, Answer),
    Stream(Committed),
}

/// Two clients and a server without a database.
pub struct Canvases {
    clients: [Client; 2],
    log: Vec<Committed>,
    documents: Vec<(u64, Document)>,
    to_server: [Wire<Patch>; 2],
    to_client: [Wire<Message>; 2],
    notices: [Vec<String>; 2],
    latency_ms: u64,
    wire_bytes: usize,
    log_bytes: usize,
    /// Patches and their bytes since the last snapshot.
    since_snapshot: [u64; 2],
}

impl World for Canvases {
    fn new(paragraph: &str, latency_ms: u64) -> Self {
        let first = canvas(paragraph);
        Self {
            clients: ["k3v9x1q7ab", "p8d2m5t0cd"].map(|id| Client::new(id, first.clone(), 1)),
            log: Vec::new(),
            documents: vec![(1, first)],
            to_server: [Wire::new(), Wire::new()],
            to_client: [Wire::new(), Wire::new()],
            notices: [Vec::new(), Vec::new()],
            latency_ms,
            wire_bytes: 0,
            log_bytes: 0,
            since_snapshot: [0, 0],
        }
    }

    fn text(&self, who: usize) -> String {
        text_of(self.clients[who].document())
    }

    fn change(&mut self, who: usize, removed: Range<usize>, typed: &str) {
        let chars: Vec<char> = self.text(who).chars().collect();
        let text: String = chars[..removed.start]
            .iter()
            .copied()
            .chain(typed.chars())
            .chain(chars[removed.end..].iter().copied())
            .collect();
        self.clients[who].edit(replaced(&text)).expect("the block is there");
    }

    fn flush(&mut self, who: usize, now_ms: u64) {
        if let Some(patch) = self.clients[who].next_patch() {
            let body = json!({ "opId": patch.op_id, "base": patch.base, "ops": patch.ops, "strict": patch.is_strict });
            self.wire_bytes += body.to_string().len();
            self.to_server[who].send(now_ms + self.latency_ms, patch);
        }
    }

    fn deliver(&mut self, now_ms: u64) {
        for who in 0..2 {
            while let Some(message) = self.to_client[who].arrived(now_ms) {
                let received = match message {
                    Message::Stream(committed) => self.clients[who].receive(&committed),
                    Message::Answer(op_id, answer) => self.clients[who].answer(&op_id, answer),
                };
                match received {
                    Received::Taken(notices) => self.notices[who].extend(notices.iter().map(words_of)),
                    Received::Known => {}
                    Received::Gap(_) | Received::Differs => unreachable!("nothing is lost on the way"),
                }
                self.flush(who, now_ms);
            }
        }
        for who in 0..2 {
            while let Some(patch) = self.to_server[who].arrived(now_ms) {
                self.decide(who, &patch, now_ms);
            }
        }
    }

    fn texts(&self) -> Vec<String> {
        vec![self.text(0), self.text(1), text_of(&self.head().1)]
    }

    fn notices(&self, who: usize) -> &[String] {
        &self.notices[who]
    }

    fn bytes(&self) -> [usize; 3] {
        [self.wire_bytes, self.log_bytes, self.head().1.text().len()]
    }
}

impl Canvases {
    fn head(&self) -> &(u64, Document) {
        self.documents.last().expect("it has a first version")
    }

    /// Decides about a patch, and sends the answer to its author and the patch to both.
    fn decide(&mut self, who: usize, patch: &Patch, now_ms: u64) {
        let (version, document) = self.head();
        let since: Vec<_> = self.log.iter().filter(|one| one.sequence > patch.base).cloned().collect();
        let before = self.documents.iter().rev().find(|(at, _)| *at <= patch.base).map(|(_, document)| document);
        let decided = decide(Head { document, version: *version, before }, PEOPLE[who], patch, &since);
        let (version, at_ms) = (*version, now_ms + self.latency_ms);
        let answer = match decided {
            Err(rejected) => {
                let because = json!({ "reason": rejected.reason, "path": rejected.path, "kept": rejected.kept });
                self.wire_bytes += json!({ "rejected": because, "head": version }).to_string().len();
                Answer::Rejected(rejected)
            }
            Ok(accepted) => {
                let committed = Committed {
                    sequence: version + 1,
                    previous: version,
                    op_id: patch.op_id.clone(),
                    by: PEOPLE[who].to_owned(),
                    ops: accepted.ops,
                    overwrote: accepted.overwrote,
                };
                self.record(&committed, patch.base, accepted.document);
                for wire in &mut self.to_client {
                    wire.send(at_ms, Message::Stream(committed.clone()));
                }
                Answer::Committed(committed)
            }
        };
        self.to_client[who].send(at_ms, Message::Answer(patch.op_id.clone(), answer));
    }

    /// Writes a patch to the log, and counts what is stored and sent.
    fn record(&mut self, committed: &Committed, base: u64, document: Document) {
        let Committed { sequence, previous, op_id, by, ops, overwrote } = committed.clone();
        let answer = json!({ "sequence": sequence, "previous": previous, "opId": op_id, "by": by, "ops": ops,
            "overwrote": overwrote });
        let data = CanvasPatch { op_id, base, previous, ops, overwrote, suggested_by: None };
        let event = json!([{ "type": "data-canvas-patch", "data": data }]).to_string().len();
        self.wire_bytes += 2 * event + json!({ "committed": answer, "head": sequence }).to_string().len();
        self.log_bytes += event;
        self.since_snapshot = [self.since_snapshot[0] + 1, self.since_snapshot[1] + event as u64];
        if is_snapshot_due(self.since_snapshot[0], self.since_snapshot[1]) {
            self.log_bytes += document.text().len();
            self.since_snapshot = [0, 0];
        }
        self.documents.push((sequence, document));
        self.log.push(committed.clone());
    }
}

/// The words of the author that a notice shows.
fn words_of(notice: &Notice) -> String {
    match notice {
        Notice::Rejected { ops, .. } => ops.iter().filter_map(typed).collect(),
        Notice::Overwritten { mine, .. } => mine.as_ref().and_then(Value::as_str).unwrap_or_default().to_owned(),
    }
}

/// The text that an operation writes.
fn typed(operation: &Operation) -> Option<&str> {
    match operation {
        Operation::Add { value, .. } | Operation::Replace { value, .. } => value.as_str(),
        Operation::Remove { .. } | Operation::Test { .. } => None,
    }
}
