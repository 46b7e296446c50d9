//! Lists the migrations as Rust constants, so that the binary holds their texts.
//!
//! `sqlx::migrate!` does the same. It is a procedural macro that compiles both drivers, and SQLite's C source with
//! them, a second time for the compiler.
//! a second time for the compiler.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

/// Constant and folder below `migrations`.
const FOLDERS: [(&str, &str); 3] =
    [("SQLITE", "sqlite"), ("POSTGRES", "postgres"), ("SQLITE_FEEDBACK", "sqlite_feedback")];

fn main() -> Result<(), Box<dyn Error>> {
    let migrations = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../migrations").canonicalize()?;
    println!("cargo::rerun-if-changed={}", migrations.display());
    let mut code = String::new();
    for (constant, folder) in FOLDERS {
        writeln!(code, "const {constant}: &[(i64, &str, &str)] = &[")?;
        for (version, name, path) in files(&migrations.join(folder))? {
            writeln!(code, "    ({version}, {name:?}, include_str!({path:?})),")?;
        }
        writeln!(code, "];")?;
    }
    fs::write(Path::new(&env::var("OUT_DIR")?).join("migrations.rs"), code)?;
    Ok(())
}

/// Version, name and path of a migration.
type Migration = (i64, String, String);

/// Every `NNNN_name.sql` of a folder, in the order of versions.
fn files(folder: &Path) -> Result<Vec<Migration>, Box<dyn Error>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let (version, name) = stem.split_once('_').ok_or_else(|| format!("{}: not NNNN_name.sql", path.display()))?;
        found.push((version.parse()?, name.replace('_', " "), path.display().to_string()));
    }
    found.sort();
    Ok(found)
}
