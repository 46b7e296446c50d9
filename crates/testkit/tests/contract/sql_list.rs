//! Every SQL text of the store is in the list that `every_statement_prepares` uses.
//!
//! This test reads the source of the store: each text constant is a statement of the list under its own name, or is in
//! the reviewed list of constants that are not statements. It fails for a statement that is declared outside of
//! `statements!`, and for each statement of a module whose list `statements.rs` does not have.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// Text constants that are not statements, and why.
const NO_STATEMENTS: [(&str, &str); 30] = [
    ("auth::access_link::INVITATION", "a value"),
    ("auth::access_link::RESET", "a value"),
    ("engine::error::BOUND_TO_ANOTHER", "a part of an error's text"),
    ("engine::error::DISK_FULL", "an error code"),
    ("engine::error::NUL_IN_TEXT", "an error code"),
    ("engine::error::POOLER_ADVICE", "a part of an error's text"),
    ("engine::error::POSTGRES_FULL", "a flag"),
    ("engine::error::SERIALIZATION_FAILURE", "an error code"),
    ("engine::error::STARTUP_REFUSED", "a part of an error's text"),
    ("engine::span::SPAN_TARGET", "a name"),
    ("event::head::UPDATE_POSTGRES", "a part of event::head::APPEND_POSTGRES"),
    ("event::insert::INTO", "a part of the statements that insert events"),
    ("event::notice::ACCESS", "a line of a notification"),
    ("event::notice::CHANNEL", "a name"),
    ("event::notice::COUNTS", "the beginning of a line of a notification"),
    ("event::notice::PRESENCE", "the beginning of a line of a notification"),
    ("event::notice::PROGRESS", "the beginning of a line of a notification"),
    ("feedback::file::FILE", "a file name"),
    ("open::access::BEGIN_SNAPSHOT_SQLITE", "transaction control"),
    ("open::access::END_SNAPSHOT_SQLITE", "transaction control"),
    ("open::readers::SQLITE_FILE", "a file name"),
    ("retention::ERASED", "a value"),
    ("retention::INCOGNITO_ALONE", "a value"),
    ("search::entry::NO_WORD", "a word of the index"),
    ("session::claim::HELD", "a bug that is planted for the torture test"),
    ("session::matching::UNASSIGNED", "a value"),
    ("session::state::ELSEWHERE", "a value"),
    ("session::write::FORCE", "a bug that is planted for the torture test"),
    ("verify::values::OF_SESSION", "a part of verify::values::of_events"),
    ("writer::sqlite::BEGIN", "transaction control"),
];

/// SQL outside of constants: the file, a part of the line, and why.
const MADE_ELSEWHERE: [(&str, &str, &str); 6] = [
    ("engine/conn.rs", "BEGIN{mode};", "names whoever acts; every transaction on PostgreSQL runs it"),
    ("engine/file.rs", "VACUUM INTO", "names a file; the tests of backups run it"),
    ("engine/sqlite.rs", "DROP INDEX IF EXISTS", "a bug that is planted for the torture test"),
    ("event/insert.rs", "INSERT {INTO} SELECT * FROM UNNEST", "makes event::insert::INSERT_POSTGRES"),
    (
        "event/partition.rs",
        "CREATE TABLE IF NOT EXISTS",
        "names a month; every server on PostgreSQL runs it at its start",
    ),
    ("verify/values.rs", "SELECT {}, {} FROM {}", "makes verify::values"),
];

const NOT_LISTED: &str =
    "declare it in `statements!` and its module's SQL in statements.rs, or name it in NO_STATEMENTS";
const NAMED_TWICE: &str = "it is a listed statement, so NO_STATEMENTS must not name it";

/// First words of statements.
const VERBS: [&str; 16] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "WITH", "CREATE", "DROP", "ALTER", "BEGIN", "PRAGMA", "VACUUM", "SET",
    "GRANT", "LOCK", "LISTEN", "TRUNCATE",
];

/// Transaction control. It names no columns.
const CONTROL: [&str; 3] = ["\"BEGIN IMMEDIATE\"", "\"COMMIT", "\"BEGIN\""];

fn sources() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../store/src");
    let mut folders = vec![root.clone()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    let named = |file: PathBuf| {
        let name = file.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
        let text = fs::read_to_string(&file).unwrap();
        let shipped = text.split("#[cfg(test)]\nmod tests").next().unwrap().to_owned();
        (name, shipped)
    };
    files.into_iter().map(named).collect()
}

/// Returns the names of text constants, and the lines outside of constants and macros that start a statement.
fn read(file: &str, text: &str) -> (Vec<String>, Vec<String>) {
    let module = file.trim_end_matches(".rs").trim_end_matches("/mod").replace('/', "::");
    let (mut constants, mut elsewhere) = (Vec::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let item = line.trim_start();
        let indent = &line[..line.len() - item.len()];
        if item.starts_with("//") {
            continue;
        }
        if item.starts_with("macro_rules!") {
            let end = format!("{indent}}}");
            lines.find(|line| *line == end).unwrap_or_else(|| panic!("{file}: no end of {item}"));
            continue;
        }
        let declared = ["pub(crate) ", "pub(super) ", "pub "].iter().find_map(|v| item.strip_prefix(v)).unwrap_or(item);
        let Some(rest) = ["const ", "static "].iter().find_map(|word| declared.strip_prefix(word)) else {
            if begins_statement(item) {
                elsewhere.push(item.to_owned());
            }
            continue;
        };
        let (name, kind) = rest.split_once(':').unwrap_or((rest, ""));
        let is_text =
            ["&str", "&'static str", "LazyLock<", "String"].iter().any(|of| kind.trim_start().starts_with(of));
        if is_text && kind.contains('=') {
            constants.push(format!("{module}::{name}"));
        }
        if kind.contains('=') && !line.ends_with(';') {
            lines.find(|line| line.ends_with(';')).unwrap_or_else(|| panic!("{file}: no end of {item}"));
        }
    }
    (constants, elsewhere)
}

fn begins_statement(line: &str) -> bool {
    line.split('"').skip(1).step_by(2).any(|literal| {
        let word = literal.trim_start().split(|c: char| !c.is_ascii_uppercase()).next().unwrap_or_default();
        VERBS.contains(&word)
    }) && !CONTROL.iter().any(|control| line.contains(control))
}

#[test]
fn every_text_constant_of_the_store_is_a_listed_statement() {
    let listed: BTreeSet<_> =
        [true, false].into_iter().flat_map(store::statements).map(|(name, _)| name.to_owned()).collect();
    let mut found = BTreeSet::new();
    let mut forgotten = Vec::new();
    let mut made = BTreeSet::new();
    for (file, text) in sources() {
        let (constants, elsewhere) = read(&file, &text);
        for name in constants {
            let is_none = NO_STATEMENTS.iter().any(|(known, _)| *known == name);
            if listed.contains(&name) == is_none {
                forgotten.push(format!("{name}: {}", if is_none { NAMED_TWICE } else { NOT_LISTED }));
            }
            found.insert(name);
        }
        for line in elsewhere {
            match MADE_ELSEWHERE.iter().find(|(of, part, _)| *of == file && line.contains(part)) {
                Some((of, part, _)) => drop(made.insert((*of, *part))),
                None => forgotten.push(format!("{file}: make a named constant of {line}")),
            }
        }
    }
    assert!(forgotten.is_empty(), "{forgotten:#?}");
    assert!(found.len() > 300, "the source is not read as it is written: {} constants", found.len());
    assert_eq!(made.len(), MADE_ELSEWHERE.len(), "MADE_ELSEWHERE names what is gone");
    let gone: Vec<_> = NO_STATEMENTS.iter().map(|(name, _)| *name).filter(|name| !found.contains(*name)).collect();
    assert!(gone.is_empty(), "NO_STATEMENTS names what is gone: {gone:?}");
}

#[test]
fn a_forgotten_statement_is_found_however_it_is_written() {
    let text = "\
const A: &str = \"SELECT 1\";
// const NOT: &str = \"SELECT 1\";
pub(crate) const B: &str =
    x_select!(\"id = $1\");
macro_rules! x_select {
    ($which:literal) => { concat!(\"SELECT \", $which) };
}
statements! {
    // const NEITHER: &str = \"SELECT 1\";
    const D: &str = concat!(
        \"SELECT 1\",
        \" FROM d\"
    );
    /// One row.
    pub(super) const E_SQLITE: &str =
        \"SELECT 1\";
}
static C: LazyLock<String> = LazyLock::new(|| format!(\"{A}\"));
fn f() {
    let sql = format!(\"DELETE FROM {table}\");
    c.control(\"COMMIT\");
}
";
    let (constants, elsewhere) = read("x/y.rs", text);
    assert_eq!(constants, ["x::y::A", "x::y::B", "x::y::D", "x::y::E_SQLITE", "x::y::C"]);
    assert_eq!(elsewhere, ["let sql = format!(\"DELETE FROM {table}\");"]);
}
