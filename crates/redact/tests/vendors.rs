//! Measures how well keys of known vendors are found: the places of `vendor_keys.txt` and `vendor_forms.txt`, each with
//! two invented values, and ordinary text that looks a little like them. `docs/feedback-data.md` quotes the figures.
//! The places of `unseen_keys.txt` are only measured.

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

/// What became of the values of places, and of ordinary lines.
struct Measured {
    places: usize,
    values: usize,
    /// Values of which something is left: their place, and the text that it became.
    missed: Vec<String>,
    lines: usize,
    /// Ordinary lines that change, and the text that each became.
    wrong: Vec<String>,
}

impl Measured {
    /// Fills and redacts the places of files twice each, and redacts the lines of ordinary text.
    fn of(files: &[&str], ordinary: &str) -> Measured {
        let lines = files.iter().flat_map(|file| file.lines());
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
        let ordinary: Vec<&str> = ordinary.lines().filter(|line| !line.is_empty()).collect();
        let changed = |text: &&&str| redacted(text) != ***text;
        let wrong = ordinary.iter().filter(changed).map(|text| format!("{text} -> {}", redacted(text))).collect();
        Measured { places: places.len(), values, missed, lines: ordinary.len(), wrong }
    }

    fn found(&self) -> usize {
        self.values - self.missed.len()
    }

    fn recall(&self) -> usize {
        1_000 * self.found() / self.values
    }

    fn precision(&self) -> usize {
        1_000 * self.found() / (self.found() + self.wrong.len()).max(1)
    }

    /// Returns the figures without texts.
    fn render(&self) -> String {
        let (recall, precision, found) = (self.recall(), self.precision(), self.found());
        let (values, wrong, lines) = (self.values, self.wrong.len(), self.lines);
        format!("recall {recall} ({found}/{values}), precision {precision}, {wrong} of {lines} ordinary lines")
    }
}

/// Ordinary text: prose, code, logs, identifiers and placeholders.
const ORDINARY: &str = include_str!("ordinary.txt");

#[test]
fn keys_of_known_vendors_are_found_and_ordinary_text_is_left() {
    let files = [include_str!("vendor_keys.txt"), include_str!("vendor_forms.txt")];
    let measured = Measured::of(&files, ORDINARY);
    let (missed, wrong) = (measured.missed.join("\n"), measured.wrong.join("\n"));
    println!("{}\nmissed:\n{missed}\nwrong:\n{wrong}", measured.render());
    let Measured { places, lines, .. } = measured;
    assert!(places >= PLACES_MIN && lines >= LINES_MIN, "{places} places, {lines} lines");
    assert!(measured.wrong.len() <= CHANGED_MAX, "{wrong}");
    assert!(measured.recall() >= RECALL_MIN, "{}: {missed}", measured.render());
    assert!(measured.precision() >= PRECISION_MIN, "{}: {wrong}", measured.render());
}

/// Places and look-alikes of an author who had not read the rules. The test prints figures and no texts, so that its
/// mistakes are not read.
#[test]
fn recent_keys_of_another_author_are_found_and_look_alikes_are_left() {
    let measured = Measured::of(&[include_str!("unseen_keys.txt")], include_str!("unseen_ordinary.txt"));
    let figures = measured.render();
    println!("{figures}");
    assert_eq!((measured.places, measured.lines), (60, 40), "places and ordinary lines");
    assert!(measured.recall() >= RECALL_MIN, "{figures}");
    assert!(measured.precision() >= PRECISION_MIN && measured.wrong.len() <= CHANGED_MAX, "{figures}");
}
