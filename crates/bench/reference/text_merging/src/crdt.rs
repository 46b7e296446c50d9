//! The merging by a CRDT: an update goes to the other person by way of the server, which changes nothing in it.

use crate::run::{Wire, World};
use loro::{ExportMode, LoroDoc, LoroText, VersionVector};
use std::ops::Range;
use yrs::{
    ClientID, Doc, GetString as _, OffsetKind, Options, ReadTxn as _, StateVector, Text as _, TextRef, Transact as _,
    Update, updates::decoder::Decode as _,
};

/// The peer that writes the first text.
const ORIGIN: u64 = 99;
const TEXT: &str = "t";

/// One person's copy of a text. Positions are in characters.
pub trait Replica {
    /// An empty text, of the peer with this number.
    fn new(peer: u64) -> Self;
    /// Puts characters into the text.
    fn insert(&mut self, at: usize, typed: &str);
    /// Takes characters out of the text.
    fn remove(&mut self, range: Range<usize>);
    /// What others have not got of it.
    fn update(&mut self) -> Vec<u8>;
    /// Applies an update of another one, who has what is in it.
    fn apply(&mut self, update: &[u8]);
    /// What its person reads now.
    fn text(&self) -> String;
    /// The whole document, as it is stored.
    fn stored(&self) -> Vec<u8>;
}

/// Two replicas, the one of the server, and the log of updates.
pub struct Relay<R> {
    replicas: [R; 2],
    server: R,
    is_changed: [bool; 2],
    to_server: [Wire<Vec<u8>>; 2],
    to_client: [Wire<Vec<u8>>; 2],
    latency_ms: u64,
    wire_bytes: usize,
    log_bytes: usize,
}

impl<R: Replica> World for Relay<R> {
    fn new(paragraph: &str, latency_ms: u64) -> Self {
        let mut origin = R::new(ORIGIN);
        origin.insert(0, paragraph);
        let start = origin.update();
        let replica = |peer| {
            let mut replica = R::new(peer);
            replica.apply(&start);
            replica
        };
        Self {
            replicas: [replica(1), replica(2)],
            server: replica(ORIGIN + 1),
            is_changed: [false, false],
            to_server: [Wire::new(), Wire::new()],
            to_client: [Wire::new(), Wire::new()],
            latency_ms,
            wire_bytes: 0,
            log_bytes: 0,
        }
    }

    fn text(&self, who: usize) -> String {
        self.replicas[who].text()
    }

    fn change(&mut self, who: usize, removed: Range<usize>, typed: &str) {
        let at = removed.start;
        if !removed.is_empty() {
            self.replicas[who].remove(removed);
        }
        if !typed.is_empty() {
            self.replicas[who].insert(at, typed);
        }
        self.is_changed[who] = true;
    }

    fn flush(&mut self, who: usize, now_ms: u64) {
        if std::mem::take(&mut self.is_changed[who]) {
            let update = self.replicas[who].update();
            self.wire_bytes += update.len();
            self.to_server[who].send(now_ms + self.latency_ms, update);
        }
    }

    fn deliver(&mut self, now_ms: u64) {
        for who in 0..2 {
            while let Some(update) = self.to_client[who].arrived(now_ms) {
                self.replicas[who].apply(&update);
            }
        }
        for who in 0..2 {
            while let Some(update) = self.to_server[who].arrived(now_ms) {
                self.server.apply(&update);
                self.log_bytes += update.len();
                // Both follow the stream. Its author has it, so for the author it is counted and not applied.
                self.wire_bytes += 2 * update.len();
                self.to_client[1 - who].send(now_ms + self.latency_ms, update);
            }
        }
    }

    fn texts(&self) -> Vec<String> {
        vec![self.replicas[0].text(), self.replicas[1].text(), self.server.text()]
    }

    fn notices(&self, _: usize) -> &[String] {
        &[]
    }

    fn bytes(&self) -> [usize; 3] {
        [self.wire_bytes, self.log_bytes, self.server.stored().len()]
    }
}

/// A text of yrs.
pub struct Yrs {
    doc: Doc,
    text: TextRef,
    sent: StateVector,
}

impl Replica for Yrs {
    fn new(peer: u64) -> Self {
        // Every character of a script is one unit of UTF-16.
        let options = Options { offset_kind: OffsetKind::Utf16, ..Options::with_client_id(ClientID::new(peer)) };
        let doc = Doc::with_options(options);
        let text = doc.get_or_insert_text(TEXT);
        Self { doc, text, sent: StateVector::default() }
    }

    fn insert(&mut self, at: usize, typed: &str) {
        self.text.insert(&mut self.doc.transact_mut(), at as u32, typed);
    }

    fn remove(&mut self, range: Range<usize>) {
        self.text.remove_range(&mut self.doc.transact_mut(), range.start as u32, range.len() as u32);
    }

    fn update(&mut self) -> Vec<u8> {
        let update = self.doc.transact().encode_diff_v1(&self.sent);
        self.sent = self.doc.transact().state_vector();
        update
    }

    fn apply(&mut self, update: &[u8]) {
        let update = Update::decode_v1(update).expect("an update of this program");
        self.doc.transact_mut().apply_update(update).expect("an update of this program");
        let state = self.doc.transact().state_vector();
        for (client, clock) in state.iter().filter(|(client, _)| **client != self.doc.client_id()) {
            self.sent.set_max(*client, *clock);
        }
    }

    fn text(&self) -> String {
        self.text.get_string(&self.doc.transact())
    }

    fn stored(&self) -> Vec<u8> {
        self.doc.transact().encode_diff_v1(&StateVector::default())
    }
}

/// A text of Loro.
pub struct Loro {
    doc: LoroDoc,
    text: LoroText,
    sent: VersionVector,
}

impl Replica for Loro {
    fn new(peer: u64) -> Self {
        let doc = LoroDoc::new();
        doc.set_peer_id(peer).expect("the document is empty");
        let text = doc.get_text(TEXT);
        Self { doc, text, sent: VersionVector::default() }
    }

    fn insert(&mut self, at: usize, typed: &str) {
        self.text.insert(at, typed).expect("a position in the text");
    }

    fn remove(&mut self, range: Range<usize>) {
        self.text.delete(range.start, range.len()).expect("a range of the text");
    }

    fn update(&mut self) -> Vec<u8> {
        self.doc.commit();
        let update = self.doc.export(ExportMode::updates(&self.sent)).expect("a version of this document");
        self.sent = self.doc.oplog_vv();
        update
    }

    fn apply(&mut self, update: &[u8]) {
        self.doc.import(update).expect("an update of this program");
        let own = self.doc.peer_id();
        for (peer, end) in self.doc.oplog_vv().iter().filter(|(peer, _)| **peer != own) {
            self.sent.insert(*peer, *end);
        }
    }

    fn text(&self) -> String {
        self.text.to_string()
    }

    fn stored(&self) -> Vec<u8> {
        self.doc.export(ExportMode::Snapshot).expect("the newest version")
    }
}
