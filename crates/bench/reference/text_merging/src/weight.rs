//! What each way weighs in WebAssembly.

use std::{env, fs, path::PathBuf, process::Command};

const TARGET: &str = "wasm32-unknown-unknown";
/// What compresses a file in Node: with brotli, at its default quality, which is the best.
const COMPRESS: &str = "const { readFileSync } = require('fs'); \
     console.log(require('zlib').brotliCompressSync(readFileSync(process.argv[1])).length)";

/// Builds the WebAssembly module with one of the ways. Returns its path; `None` if it cannot be built.
fn module_of(feature: &str) -> Option<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = ["build", "--quiet", "--locked", "--release", "--lib", "--target", TARGET, "--features", feature];
    let built = Command::new(cargo).args(words).current_dir(&root).status().ok()?;
    let folder = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), |folder| root.join(folder));
    built.success().then(|| folder.join(TARGET).join("release/text_merging.wasm"))
}

/// The bytes of the module of a feature, and of the same with brotli. What could not be measured is a dash.
pub fn weight(feature: &str) -> [String; 2] {
    let unknown = || "–".to_owned();
    let Some(module) = module_of(feature) else { return [unknown(), unknown()] };
    let bytes = fs::metadata(&module).map_or_else(|_| unknown(), |found| found.len().to_string());
    let compressed = Command::new("node").args(["-e", COMPRESS]).arg(&module).output();
    let compressed = compressed.ok().filter(|output| output.status.success());
    let compressed =
        compressed.map_or_else(unknown, |output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    [bytes, compressed]
}
