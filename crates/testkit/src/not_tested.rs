//! Says which tests could not run on this machine.

use std::{fs::File, io::Write as _};

/// Environment variable: a file to which each test that could not run appends a line. `cargo xtask test` sets it and
/// prints the lines, because test runners show no output of tests that pass.
const FILE_VARIABLE: &str = "SHIFTBOOK_NOT_TESTED_FILE";

/// Says what is not tested on this machine, and why, in one line.
pub fn not_tested(what: &str) {
    let line = format!("{what}\n");
    eprint!("not tested: {line}");
    if let Some(path) = std::env::var_os(FILE_VARIABLE) {
        // One write, because other tests append at the same time.
        File::options().append(true).create(true).open(path).unwrap().write_all(line.as_bytes()).unwrap();
    }
}
