//! The others on a canvas as they are shown. The rules are those of the server: [`domain::canvas::Peers`].

use crate::canvas::json::{self, flag, list, number, text};
use domain::canvas::{Peers, Presence, Selection};
use serde_json::Value;

/// Number of colours that distinguish people.
const COLOURS: u32 = 8;

/// Reads a report of the server.
fn report(report: &Value) -> Option<Presence> {
    let end = |selection: &Value, name| number(selection, name).and_then(|at| u32::try_from(at).ok());
    let selection = |found: &Value| Some(Selection { start: end(found, "start")?, end: end(found, "end")? });
    Some(Presence {
        by: text(report, "by")?,
        name: text(report, "name")?,
        block: text(report, "block"),
        selection: report.get("selection").and_then(selection),
        is_here: !flag(report, "left")?,
    })
}

/// Someone else on the canvas.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Peer {
    /// The participant, as the actor of events.
    pub by: String,
    /// Their name.
    pub name: String,
    /// Up to two letters of the name, which the page shows as capitals.
    pub initials: String,
    /// One of the colours, from 0. Everyone sees a person in the same colour.
    pub colour: u32,
    /// Id of the block at which they are.
    pub block: Option<String>,
}

/// The others on a canvas.
pub struct Model {
    me: String,
    peers: Peers,
    /// Names of those who take part and of all who were there, by their actors.
    names: Vec<(String, String)>,
}

impl Model {
    /// No one else. `me` is the actor of this person, whose other tabs are not shown. `names` are the names of those
    /// who take part, by their actors, as JSON.
    pub fn new(me: &str, names: &str) -> Self {
        let names = match json::read(names) {
            Some(Value::Object(names)) => names
                .into_iter()
                .filter_map(|(by, name)| match name {
                    Value::String(name) => Some((by, name)),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        Self { me: me.to_owned(), peers: Peers::default(), names }
    }

    /// Takes a `presence` event of the stream. One that cannot be read is left out.
    pub fn receive(&mut self, json: &str, now_ms: i64) {
        if let Some(report) = json::read(json).as_ref().and_then(report) {
            self.take(report, now_ms);
        }
    }

    /// Takes the answer to a report of one's own. Returns whether the report was sent to the others.
    pub fn answer(&mut self, json: &str, now_ms: i64) -> bool {
        let Some(answer) = json::read(json) else { return false };
        let (Some(peers), Some(sent)) = (list(&answer, "peers", report), flag(&answer, "sent")) else { return false };
        for report in peers {
            // What the stream has brought since is newer, and the answer does not say when each report came.
            if self.peers.here(now_ms).all(|known| known.by != report.by) {
                self.take(report, now_ms);
            }
        }
        sent
    }

    fn take(&mut self, report: Presence, now_ms: i64) {
        if report.by != self.me {
            self.names.retain(|(by, _)| *by != report.by);
            self.names.push((report.by.clone(), report.name.clone()));
            self.peers.take(report, now_ms);
        }
    }

    /// The name of someone who takes part, is there or was there.
    pub fn name_of(&self, by: &str) -> Option<&str> {
        self.names.iter().find(|(other, _)| other == by).map(|(_, name)| name.as_str())
    }

    /// The others who are there, in the order of their ids.
    pub fn others(&mut self, now_ms: i64) -> Vec<Peer> {
        self.peers.forget(now_ms);
        self.peers.here(now_ms).map(peer).collect()
    }
}

fn peer(presence: &Presence) -> Peer {
    Peer {
        by: presence.by.clone(),
        name: presence.name.clone(),
        initials: initials(&presence.name),
        colour: colour(&presence.by),
        block: presence.block.clone(),
    }
}

/// The first letters of the first and the last word.
fn initials(name: &str) -> String {
    let mut words = name.split_whitespace().filter_map(|word| word.chars().next());
    let (first, last) = (words.next(), words.next_back());
    first.into_iter().chain(last).collect()
}

/// The colour of a person: a number that depends on the id alone (FNV-1a).
fn colour(by: &str) -> u32 {
    let hash = by.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    (hash >> 8) % COLOURS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(by: &str, block: &str) -> String {
        format!(
            r#"{{"by":"{by}","name":"Ada Byron","block":"{block}","selection":{{"start":1,"end":2}},"left":false}}"#
        )
    }

    fn blocks(model: &mut Model, now_ms: i64) -> Vec<(String, Option<String>)> {
        model.others(now_ms).into_iter().map(|one| (one.by, one.block)).collect()
    }

    #[test]
    fn others_are_shown_until_they_leave_or_say_nothing_for_30_s() {
        let mut model = Model::new("user:me", "");
        model.receive(&sent("user:a", "b1"), 0);
        model.receive(&sent("user:b", "b2"), 10_000);
        model.receive(&sent("user:me", "b3"), 10_000);
        model.receive("{}", 10_000);
        let at = |by: &str, block: &str| (by.to_owned(), Some(block.to_owned()));
        assert_eq!(blocks(&mut model, 10_000), [at("user:a", "b1"), at("user:b", "b2")], "without oneself");
        model.receive(&sent("user:a", "b4"), 20_000);
        assert_eq!(blocks(&mut model, 40_000), [at("user:a", "b4")]);
        model.receive(r#"{"by":"user:a","name":"Ada Byron","left":true}"#, 40_001);
        assert_eq!(blocks(&mut model, 40_001), []);
        assert_eq!((model.name_of("user:a"), model.name_of("user:me")), (Some("Ada Byron"), None), "also who has left");
    }

    #[test]
    fn an_answer_adds_those_whom_the_stream_has_not_named() {
        let mut model = Model::new("user:me", "{}");
        model.receive(&sent("user:a", "new"), 0);
        let peers = format!(r#"[{},{}]"#, sent("user:a", "old"), sent("user:b", "b1"));
        assert!(model.answer(&format!(r#"{{"peers":{peers},"sent":true}}"#), 1));
        let found: Vec<_> = blocks(&mut model, 1).into_iter().filter_map(|(_, block)| block).collect();
        assert_eq!(found, ["new", "b1"]);
        assert!(!model.answer(r#"{"peers":[],"sent":false}"#, 2) && !model.answer("<html>", 2));
    }

    #[test]
    fn those_who_take_part_have_names_before_they_are_there() {
        let mut model = Model::new("user:me", r#"{"token:t":"CRM sync (token)","user:a":"Ada"}"#);
        assert_eq!((model.name_of("token:t"), model.name_of("token:u")), (Some("CRM sync (token)"), None));
        assert_eq!(blocks(&mut model, 0), [], "no one is there yet");
        model.receive(&sent("user:a", "b1"), 0);
        assert_eq!(model.name_of("user:a"), Some("Ada Byron"), "a report is newer than the page");
    }

    #[test]
    fn a_person_has_letters_and_a_colour_of_their_own() {
        for (name, expected) in [("Ada Lovelace Byron", "AB"), ("ada", "a"), ("  ", ""), ("élodie ß", "éß")] {
            assert_eq!(initials(name), expected, "{name}");
        }
        let colours: std::collections::BTreeSet<u32> = (0..100).map(|n| colour(&format!("user:{n}"))).collect();
        assert_eq!(colours.len(), COLOURS as usize, "all are in use");
        assert_eq!(colour("user:1"), colour("user:1"));
    }
}
