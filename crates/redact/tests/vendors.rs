//! Measures how well keys of known vendors are found: the places of `vendor_keys.txt` and `vendor_forms.txt`, each with
//! two invented values, and ordinary text that looks a little like them. `docs/feedback-data.md` quotes the figures.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use fastrand::Rng;
use redact::{Personal, Redactor};

/// Least recall (share of the values of which nothing is left) and precision (share of values among the replacements),
/// in thousandths.
const RECALL_MIN: usize = 970;
const PRECISION_MIN: usize = 970;
/// Least number of places and of ordinary lines.
const PLACES_MIN: usize = 600;
const LINES_MIN: usize = 300;
/// Most ordinary lines that change.
const CHANGED_MAX: usize = 2;
/// Values of each place.
const VALUES_OF_PLACE: usize = 2;
/// Shortest piece of a value that must not be left, characters.
const PIECE_CHARS: usize = 6;
const SEED: u64 = 39;

const LOWER: &str = "abcdefghijklmnopqrstuvwxyz";
const UPPER: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
const DIGITS: &str = "0123456789";

fn random(rng: &mut Rng, alphabets: &[&str], length: usize) -> String {
    let letters: Vec<char> = alphabets.iter().flat_map(|alphabet| alphabet.chars()).collect();
    (0..length).map(|_| letters[rng.usize(..letters.len())]).collect()
}

/// Returns random text for `{w12}` without its braces.
fn piece(rng: &mut Rng, form: &str) -> String {
    if form == "uuid" {
        let hex = |rng: &mut Rng, length| random(rng, &["0123456789abcdef"], length);
        let (a, b, c, d, e) = (hex(rng, 8), hex(rng, 4), hex(rng, 3), hex(rng, 3), hex(rng, 12));
        return format!("{a}-{b}-4{c}-a{d}-{e}");
    }
    let (alphabet, length) = form.split_at(1);
    let alphabets: &[&str] = match alphabet {
        "w" => &[LOWER, UPPER, DIGITS],
        "l" => &[LOWER, DIGITS],
        "u" => &[UPPER, DIGITS],
        "h" => &["0123456789abcdef"],
        "d" => &[DIGITS],
        "b" => &[LOWER, UPPER, DIGITS, "-_"],
        "x" => &[LOWER, UPPER, DIGITS, "+/"],
        other => panic!("no alphabet {other}"),
    };
    random(rng, alphabets, length.parse().unwrap())
}

/// Returns the text of a place, and the random pieces of its secret.
fn filled(rng: &mut Rng, place: &str) -> (String, Vec<String>) {
    let place = place.replace("\\n", "\n");
    let (before, rest) = place.split_once('«').unwrap();
    let (secret, after) = rest.split_once('»').unwrap();
    let (mut value, mut pieces) = (String::new(), Vec::new());
    let mut rest = secret;
    while let Some(at) = rest.find('{') {
        let end = rest.find('}').unwrap();
        value.push_str(&rest[..at]);
        let random = piece(rng, &rest[at + 1..end]);
        value.push_str(&random);
        pieces.push(random);
        rest = &rest[end + 1..];
    }
    value.push_str(rest);
    (format!("{before}{value}{after}"), pieces)
}

fn redacted(text: &str) -> String {
    Redactor::built_in(Personal::default()).unwrap().redact(text).unwrap().into_owned()
}

/// Whether a piece of the secret can still be read.
fn leaks(after: &str, pieces: &[String]) -> bool {
    pieces.iter().any(|piece| {
        let letters: Vec<char> = piece.chars().collect();
        letters.windows(PIECE_CHARS.min(letters.len())).any(|window| after.contains(&window.iter().collect::<String>()))
    })
}

/// Ordinary text: prose, code, logs, identifiers and placeholders.
const ORDINARY: &str = include_str!("ordinary.txt");

#[test]
fn keys_of_known_vendors_are_found_and_ordinary_text_is_left() {
    let files = [include_str!("vendor_keys.txt"), include_str!("vendor_forms.txt")];
    let lines = files.into_iter().flat_map(str::lines);
    let places: Vec<&str> = lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    let mut rng = Rng::with_seed(SEED);
    let (mut missed, mut values) = (Vec::new(), 0);
    for place in places.iter().flat_map(|place| [place; VALUES_OF_PLACE]) {
        let (text, pieces) = filled(&mut rng, place);
        let after = redacted(&text);
        values += 1;
        if leaks(&after, &pieces) {
            missed.push(format!("{place}\n  {after:?}"));
        }
    }
    let ordinary: Vec<&str> = ORDINARY.lines().filter(|line| !line.is_empty()).collect();
    let changed = |text: &&&str| redacted(text) != ***text;
    let wrong: Vec<String> =
        ordinary.iter().filter(changed).map(|text| format!("{text} -> {}", redacted(text))).collect();
    let found = values - missed.len();
    let (recall, precision) = (1_000 * found / values, 1_000 * found / (found + wrong.len()).max(1));
    let lines = ordinary.len();
    println!("recall {recall} ({found}/{values}), precision {precision}, {} of {lines} ordinary lines", wrong.len());
    println!("missed:\n{}\nwrong:\n{}", missed.join("\n"), wrong.join("\n"));
    assert!(places.len() >= PLACES_MIN && lines >= LINES_MIN, "{} places, {lines} lines", places.len());
    assert!(wrong.len() <= CHANGED_MAX, "{}", wrong.join("\n"));
    assert!(recall >= RECALL_MIN, "recall {recall}: {}", missed.join("\n"));
    assert!(precision >= PRECISION_MIN, "precision {precision}: {}", wrong.join("\n"));
}
