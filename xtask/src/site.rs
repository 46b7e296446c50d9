//! Builds the browser's part of the site, which the server embeds: `target/site/pkg/` with hashed names, each file with
//! its brotli and gzip forms, and `target/site/manifest.json`, which maps plain names to hashed ones. The site of
//! `cargo xtask run` has the same files below `target/first-site/`.

mod budget;
mod split;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, anyhow, bail};
use lightningcss::bundler::{Bundler, FileProvider};
use lightningcss::stylesheet::{MinifyOptions, ParserOptions, PrinterOptions};
use sha2::{Digest, Sha256};

use crate::lint::fail_on_warnings;
use crate::process::run;
use crate::progress::{announced, quiet, say};
use crate::wasm_target::{self, Compiler, TARGET};
use crate::workspace::{files_below, root, target};

/// The version of `wasm-bindgen-cli-support` that xtask is built with. Both halves of a binding must agree exactly.
const BINDGEN: &str = "0.2.130";
/// Sources of the site. A crate that ships to the browser belongs here.
const INPUTS: [&str; 10] = [
    "app",
    "frontend",
    "crates/wire",
    "crates/domain",
    "style",
    "xtask/src/site.rs",
    "xtask/src/site",
    "Cargo.toml",
    "Cargo.lock",
    ".cargo",
];
const HASH_DIGITS: usize = 8;
/// The script that fetches the lazy parts of the frontend.
const PARTS_LOADER: &str = "frontend/src/parts.js";
/// The script of forms that people answer. Their pages load no other.
const FORM_SCRIPT: &str = "frontend/src/form.js";
/// The script of trees of results. Only pages with such a tree load it, and pages on which one can arrive.
const TREE_SCRIPT: &str = "frontend/src/tree.js";
/// The script of the slider of a canvas's versions. Only that page loads it.
const SCRUB_SCRIPT: &str = "frontend/src/scrub.js";
/// Plain names and hashed ones.
const MANIFEST: &str = "manifest.json";
/// The files of each lazy function, for the budgets. Pages do not need it: the script has the same.
const PARTS_LIST: &str = "parts.json";

/// Plain name → hashed name; `css`, `js` and `wasm` are the three every page needs.
type Manifest = BTreeMap<String, String>;

/// How a site is built: the one that ships is small, the one of the first run is compiled soon.
#[derive(Clone, Copy)]
pub struct Quality {
    /// Below the target directory.
    folder: &'static str,
    stamp: &'static str,
    profile: &'static str,
    /// 0 to 11.
    brotli: u32,
    /// Whether the crates of this workspace are linted while they are compiled.
    is_linted: bool,
}

/// What the server has inside.
pub const SHIPPED: Quality =
    Quality { folder: "site", stamp: "site.fingerprint", profile: "wasm-release", brotli: 11, is_linted: false };
/// The same, as `cargo xtask test` builds it.
pub const LINTED: Quality = Quality { is_linted: true, ..SHIPPED };
/// What the server of `cargo xtask run` reads.
pub const FIRST: Quality = Quality {
    folder: "first-site",
    stamp: "first-site.fingerprint",
    profile: "wasm-first",
    brotli: 2,
    is_linted: false,
};

impl Quality {
    /// The folder in which the server finds the site.
    pub fn folder(self) -> PathBuf {
        target(self.folder)
    }
}

/// Builds a site unless its sources are unchanged.
pub fn build(quality: Quality) -> Result<()> {
    check_bindgen_version()?;
    let compiler = wasm_target::ensure()?;
    let fingerprint = fingerprint(&compiler.version()?)?;
    let stamp = target(quality.stamp);
    if fs::read_to_string(&stamp).ok().as_ref() == Some(&fingerprint) && quality.folder().join(MANIFEST).is_file() {
        say("==> site: unchanged");
        return Ok(());
    }
    announced("compile the frontend to WebAssembly", || run(&mut frontend(&compiler, quality, &[])))?;
    let mut site = Site::default();
    quiet("split the WebAssembly and generate the JavaScript bindings", || site.add_frontend(quality.profile))?;
    quiet("bundle the styles", || site.add_styles())?;
    quiet("compress and write the site", || site.write(quality))?;
    fs::write(stamp, fingerprint)?;
    Ok(())
}

/// Fails if the compiler or clippy warned during the build of [`LINTED`]; cargo repeats the messages.
pub fn lint() -> Result<()> {
    fail_on_warnings(&mut frontend(&wasm_target::ensure()?, LINTED, &["--message-format", "json"]))
}

/// The call of cargo that compiles the frontend.
fn frontend(compiler: &Compiler, quality: Quality, options: &[&str]) -> Command {
    let mut build = if quality.is_linted { compiler.linting_cargo() } else { compiler.cargo() };
    build.args(["rustc", "--package", "frontend", "--lib", "--target", TARGET, "--profile", quality.profile]);
    // The relocations tell the splitter which function refers to which.
    build.args(options).args(["--", "-Clink-args=--emit-relocs"]);
    build
}

/// Checks the download sizes.
pub fn check_budget() -> Result<()> {
    let files = budget::Files {
        manifest: &read_manifest()?,
        parts: &serde_json::from_str(&read_list(PARTS_LIST)?)?,
        folder: &SHIPPED.folder().join("pkg"),
    };
    files.check()
}

fn read_manifest() -> Result<Manifest> {
    Ok(serde_json::from_str(&read_list(MANIFEST)?)?)
}

fn read_list(name: &str) -> Result<String> {
    fs::read_to_string(SHIPPED.folder().join(name)).context("there is no site yet")
}

fn check_bindgen_version() -> Result<()> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).context("there is no Cargo.lock")?;
    match locked_version(&lock, "wasm-bindgen") {
        Some(version) if version == BINDGEN => Ok(()),
        version => bail!(
            "Cargo.lock has wasm-bindgen {}, but xtask generates bindings for {BINDGEN}: pin both to one version in \
             Cargo.toml and xtask/src/site.rs",
            version.as_deref().unwrap_or("in no version"),
        ),
    }
}

fn locked_version(lock: &str, package: &str) -> Option<String> {
    let lock: toml::Table = lock.parse().ok()?;
    let entry = lock
        .get("package")?
        .as_array()?
        .iter()
        .find(|entry| entry.get("name").and_then(toml::Value::as_str) == Some(package))?;
    Some(entry.get("version")?.as_str()?.to_owned())
}

fn fingerprint(compiler: &str) -> Result<String> {
    let mut digest = Sha256::new();
    digest.update(compiler);
    for input in INPUTS {
        let input = root().join(input);
        let files = if input.is_dir() { files_below(&input)? } else { vec![input] };
        for file in files {
            let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            digest.update(file.as_os_str().as_encoded_bytes());
            digest.update(bytes.len().to_le_bytes());
            digest.update(bytes);
        }
    }
    Ok(hex(&digest.finalize()))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// `main.js` → `main.3fa9c1d2.js`
fn hashed_name(name: &str, content: &[u8]) -> String {
    let hash: String = hex(&Sha256::digest(content)).chars().take(HASH_DIGITS).collect();
    match name.rsplit_once('.') {
        Some((stem, extension)) => format!("{stem}.{hash}.{extension}"),
        None => format!("{name}.{hash}"),
    }
}

#[derive(Default)]
struct Site {
    manifest: Manifest,
    /// Lazy function → its files.
    parts: BTreeMap<String, Vec<String>>,
    files: BTreeMap<String, Vec<u8>>,
}

impl Site {
    /// Adds a file under its hashed name and returns that name.
    fn add(&mut self, logical: &str, name: &str, content: Vec<u8>) -> String {
        let hashed = hashed_name(name, &content);
        self.manifest.insert(logical.to_owned(), hashed.clone());
        self.files.insert(hashed.clone(), content);
        hashed
    }

    /// The WASM, its lazy parts, the module that loads them, and the snippets that crates bring along. Each refers to
    /// the next by name, so names are settled from the leaves up.
    fn add_frontend(&mut self, profile: &str) -> Result<()> {
        let generated = target("wasm/bindgen").join(profile);
        if generated.exists() {
            fs::remove_dir_all(&generated)?;
        }
        let compiled = target("wasm").join(TARGET).join(profile).join("frontend.wasm");
        let split = split::split(&compiled, &generated.join("split"))?;
        wasm_bindgen_cli_support::Bindgen::new()
            .input_path(&split.core)
            .out_name("shiftbook")
            .web(true)?
            .typescript(false)
            // `init()` without an argument finds the hashed file beside the script.
            .omit_default_module_path(false)
            .remove_name_section(true)
            .remove_producers_section(true)
            // The parts share the core's table of functions.
            .keep_lld_exports(true)
            .generate(&generated)?;

        let mut glue = fs::read_to_string(generated.join("shiftbook.js"))?;
        let wasm = self.add("wasm", "shiftbook_bg.wasm", fs::read(generated.join("shiftbook_bg.wasm"))?);
        glue = glue.replace("shiftbook_bg.wasm", &wasm);
        if !glue.contains(&wasm) {
            bail!("the generated JavaScript does not name its WASM file: has wasm-bindgen changed its output?");
        }
        let snippets = generated.join("snippets");
        if snippets.is_dir() {
            for file in files_below(&snippets)? {
                let path = file.strip_prefix(&generated)?.to_string_lossy().into_owned();
                let snippet = minified(&fs::read_to_string(&file)?)?;
                let hashed = self.add(&path, &path.replace('/', "-"), snippet.into_bytes());
                glue = glue.replace(&format!("./{path}"), &format!("./{hashed}"));
            }
        }
        let mut served = BTreeMap::new();
        for part in split.parts.iter().filter(|part| !part.is_held()) {
            let hashed = hashed_name(&format!("{}.wasm", part.name), &part.content);
            self.files.insert(hashed.clone(), part.content.clone());
            served.insert(part.name.clone(), hashed);
        }
        self.parts = split.files(&served);
        glue = split.join(&glue, &fs::read_to_string(root().join(PARTS_LOADER))?, &served)?;
        self.add("js", "shiftbook.js", minified(&glue)?.into_bytes());
        Ok(())
    }

    /// Files of `style/static/` under their own names, then the bundles of styles that may refer to them.
    fn add_styles(&mut self) -> Result<()> {
        let folder = root().join("style/static");
        let mut renamed = Vec::new();
        if folder.is_dir() {
            for file in files_below(&folder)? {
                let path = file.strip_prefix(&folder)?.to_string_lossy().into_owned();
                let hashed = self.add(&path, &path.replace('/', "-"), fs::read(&file)?);
                renamed.push((path, hashed));
            }
        }
        for (logical, name, entry) in [("css", "app.css", "main.css"), ("pages-css", "pages.css", "pages.css")] {
            let mut css = bundle_styles(&root().join("style").join(entry))?;
            for (path, hashed) in &renamed {
                css = css.replace(&format!("static/{path}"), hashed);
            }
            self.add(logical, name, css.into_bytes());
        }
        self.add("form-css", "form.css", bundle_styles(&root().join("style/form.css"))?.into_bytes());
        self.add("shared-css", "shared.css", bundle_styles(&root().join("style/shared.css"))?.into_bytes());
        self.add("run-css", "run.css", bundle_styles(&root().join("style/run.css"))?.into_bytes());
        let scripts = [
            ("form-js", "form.js", FORM_SCRIPT),
            ("tree-js", "tree.js", TREE_SCRIPT),
            ("scrub-js", "scrub.js", SCRUB_SCRIPT),
        ];
        for (logical, name, script) in scripts {
            self.add(logical, name, minified(&fs::read_to_string(root().join(script))?)?.into_bytes());
        }
        Ok(())
    }

    /// Writes what differs from what lies there and removes the rest: an unchanged site leaves the server's
    /// build alone.
    fn write(&self, quality: Quality) -> Result<()> {
        let site = quality.folder();
        let pkg = site.join("pkg");
        fs::create_dir_all(&pkg)?;
        let mut kept = Vec::new();
        for (name, content) in &self.files {
            let path = pkg.join(name);
            let brotli = pkg.join(format!("{name}.br"));
            let gzip = pkg.join(format!("{name}.gz"));
            // The name carries the hash of the content, so a complete trio under it is the right one.
            if !(path.is_file() && brotli.is_file() && gzip.is_file()) {
                fs::write(&brotli, brotli_of(content, quality.brotli)?)?;
                fs::write(&gzip, gzip_of(content)?)?;
                fs::write(&path, content)?;
            }
            kept.extend([path, brotli, gzip]);
        }
        let lists = [
            (MANIFEST, serde_json::to_string_pretty(&self.manifest)?),
            (PARTS_LIST, serde_json::to_string_pretty(&self.parts)?),
        ];
        for (name, text) in lists {
            let (path, text) = (site.join(name), text + "\n");
            if fs::read_to_string(&path).ok().as_ref() != Some(&text) {
                fs::write(&path, text)?;
            }
            kept.push(path);
        }
        remove_all_but(&site, &kept)
    }
}

/// A script without comments and needless white space. Names stay: the loader finds the islands by theirs.
fn minified(script: &str) -> Result<String> {
    let short = minifier::js::minify(script).map_err(|error| anyhow!("the script cannot be minified: {error}"))?;
    Ok(short.to_string())
}

fn remove_all_but(dir: &Path, kept: &[PathBuf]) -> Result<()> {
    for file in files_below(dir)? {
        if !kept.contains(&file) {
            fs::remove_file(file)?;
        }
    }
    Ok(())
}

fn bundle_styles(entry: &Path) -> Result<String> {
    let files = FileProvider::new();
    let mut bundler = Bundler::new(&files, None, ParserOptions::default());
    let mut sheet = bundler.bundle(entry).map_err(|error| anyhow!("{error}"))?;
    sheet.minify(MinifyOptions::default()).map_err(|error| anyhow!("{error}"))?;
    let printed = sheet.to_css(PrinterOptions { minify: true, ..PrinterOptions::default() });
    Ok(printed.map_err(|error| anyhow!("{error}"))?.code)
}

fn brotli_of(content: &[u8], quality: u32) -> Result<Vec<u8>> {
    const WINDOW_BITS: u32 = 22;
    let mut compressed = brotli::CompressorWriter::new(Vec::new(), 64 * 1024, quality, WINDOW_BITS);
    compressed.write_all(content)?;
    Ok(compressed.into_inner())
}

fn gzip_of(content: &[u8]) -> Result<Vec<u8>> {
    let mut compressed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    compressed.write_all(content)?;
    Ok(compressed.finish()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_before_the_extension_and_depends_on_the_content() {
        let one = hashed_name("app.css", b"a{}");
        assert!(one.starts_with("app.") && one.ends_with(".css") && one.len() == "app.12345678.css".len(), "{one}");
        assert_ne!(one, hashed_name("app.css", b"b{}"));
    }

    #[test]
    fn styles_are_bundled_with_their_imports_and_minified() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("main.css"), "@layer base;\n@import \"part.css\" layer(base);\n").unwrap();
        fs::write(dir.path().join("part.css"), "a {\n  color: oklch(50% 0.1 200);\n  & b { margin: 0 }\n}\n").unwrap();
        let css = bundle_styles(&dir.path().join("main.css")).unwrap();
        assert!(css.contains("@layer base{") && !css.contains("@import") && !css.contains('\n'), "{css}");
    }

    #[test]
    fn a_broken_style_sheet_is_an_error_that_names_the_file() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("main.css"), "@import \"missing.css\";\n").unwrap();
        let error = bundle_styles(&dir.path().join("main.css")).unwrap_err().to_string();
        assert!(error.contains("main.css") || error.contains("missing.css"), "{error}");
    }

    #[test]
    fn a_minified_script_keeps_its_names_and_its_texts() {
        let script = "/** About. */\nexport function wake_1(el) {\n    // why\n    return `a  ${el} // b`;\n}\n";
        assert_eq!(minified(script).unwrap(), "export function wake_1(el){return`a  ${el} // b`;}");
    }

    #[test]
    fn the_locked_version_is_the_package_of_exactly_that_name() {
        let lock = "[[package]]\nname = \"wasm-bindgen-macro\"\nversion = \"9.9.9\"\n\n\
                    [[package]]\nname = \"wasm-bindgen\"\nversion = \"0.2.130\"\n";
        assert_eq!(locked_version(lock, "wasm-bindgen").as_deref(), Some("0.2.130"));
        assert_eq!(locked_version(lock, "wasm"), None);
    }

    #[test]
    fn compressed_forms_can_be_read_back() {
        let content = "shiftbook ".repeat(1_000).into_bytes();
        let mut plain = Vec::new();
        brotli::BrotliDecompress(&mut brotli_of(&content, SHIPPED.brotli).unwrap().as_slice(), &mut plain).unwrap();
        assert_eq!(plain, content);
        let gzip = gzip_of(&content).unwrap();
        let mut plain = Vec::new();
        std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(gzip.as_slice()), &mut plain).unwrap();
        assert_eq!(plain, content);
    }
}
