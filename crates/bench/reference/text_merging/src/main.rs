//! Two people write in one paragraph at the same time, each 200 ms away from the server: what they lose, by the merging
//! of canvases and by two CRDTs.
//!
//! `text-merging [ROUNDS] [LATENCY_MS] [SEED]` prints a table of that, one of bytes, and one of what each way weighs in
//! WebAssembly. The time is simulated, so a run takes seconds and repeats exactly. The modules are built by cargo for
//! `wasm32-unknown-unknown`, and compressed by Node as a server compresses them.
//!
//! The paragraph has 60 words in four sentences. A person types 20 words, 5 letters in a second, with pauses, and
//! the text is sent when the editor of canvases would send it. Every letter of a run is another one, so that each can
//! be found in the text at the end. For the bytes the same is typed again with letters of ASCII.
//!
//! In favour of the CRDTs: their updates are counted as bytes without the JSON in which a log has them, and without
//! the order, the author and the id that the log needs; no answer to an author is counted. Envelopes of HTTP and of
//! events are counted for none.

mod canvas;
mod crdt;
mod run;
mod script;
mod weight;

use canvas::Canvases;
use crdt::{Loro, Relay, Yrs};
use run::{Outcome, run};
use script::{Place, Script};

const PLACES: [(Place, &str); 4] = [
    (Place::DifferentWords, "different words"),
    (Place::SameWord, "the same word"),
    (Place::DeletedSentence, "in a sentence that the other one deletes"),
    (Place::OtherSentence, "while the other one deletes another sentence"),
];
const WAYS: [(&str, fn(&Script, u64) -> Outcome); 3] =
    [("canvas", run::<Canvases>), ("yrs", run::<Relay<Yrs>>), ("loro", run::<Relay<Loro>>)];

/// The outcome of all rounds. The bytes are those of ASCII letters.
fn measured(way: fn(&Script, u64) -> Outcome, place: Place, rounds: std::ops::Range<u64>, latency_ms: u64) -> Outcome {
    let mut sum = Outcome::default();
    for seed in rounds {
        let bytes = way(&Script::new(seed, place, true), latency_ms).bytes;
        sum.add(&Outcome { bytes, ..way(&Script::new(seed, place, false), latency_ms) });
    }
    sum
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<u64>().expect("numbers"));
    let rounds = arguments.next().unwrap_or(200);
    let latency_ms = arguments.next().unwrap_or(200);
    let seed = arguments.next().unwrap_or(1);
    println!("{rounds} rounds, {latency_ms} ms to the server, seeds from {seed}\n");
    println!(
        "| Place | Merging | Letters typed | Lost, with a notice | Lost, without | Doubled | Deleted and back, with a \
         notice | Deleted and back, without | Lost of the first text | Words broken | Notices | Runs that differ |"
    );
    println!("|{}", "---|".repeat(12));
    let mut bytes = Vec::new();
    for (place, where_) in PLACES {
        for (name, way) in WAYS {
            let sum = measured(way, place, seed..seed + rounds, latency_ms);
            println!(
                "| {where_} | {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
                sum.typed,
                sum.lost_with_notice,
                sum.lost_without_notice,
                sum.doubled,
                sum.back_with_notice,
                sum.back_without_notice,
                sum.first_text_lost,
                sum.broken,
                sum.notices,
                sum.differ
            );
            let per_letter = |bytes: usize| bytes as f64 / sum.typed.max(1) as f64;
            let [wire, log, document] = sum.bytes;
            let (wire, log, document) = (per_letter(wire), per_letter(log), document as f64 / rounds as f64);
            bytes.push(format!("| {where_} | {name} | {wire:.1} | {log:.1} | {document:.0} |"));
        }
    }
    println!(
        "\n| Place | Merging | Bytes on the wire for a letter | Bytes of the log for a letter | Document, bytes |"
    );
    println!("|{}", "---|".repeat(5));
    bytes.iter().for_each(|row| println!("{row}"));
    println!("\n| Module | WebAssembly, bytes | With brotli, bytes |");
    println!("|{}", "---|".repeat(3));
    for name in ["empty", "canvas", "yrs", "loro"] {
        let [bytes, compressed] = weight::weight(&format!("module-{name}"));
        println!("| {name} | {bytes} | {compressed} |");
    }
}
