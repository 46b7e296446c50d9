//! The download sizes that the site may have, compressed with brotli as browsers get it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::progress::say;

const KIB: u64 = 1024;

/// The budgets. A spec holds a browser's first visits to the same ones (`end2end/tests/download-size.spec.ts`).
const BUDGETS: &str = include_str!("budget.json");

/// A size of the budgets, in bytes.
fn bytes(budgets: &Value, name: &str) -> Result<u64> {
    let kib = budgets.get(name).and_then(Value::as_u64);
    Ok(kib.with_context(|| format!("budget.json has no number {name}"))? * KIB)
}

/// The texts or objects of a list.
fn list<'a>(value: &'a Value, name: &str) -> Result<&'a Vec<Value>> {
    value.get(name).and_then(Value::as_array).with_context(|| format!("budget.json has no list {name}"))
}

/// A text of an object or a list.
fn text(value: Option<&Value>) -> Result<&str> {
    value.and_then(Value::as_str).context("budget.json has no text for a path or a lazy function")
}

/// Logical names of what every page loads.
const EVERYWHERE: [&str; 3] = ["css", "js", "wasm"];

/// The site's files.
pub struct Files<'a> {
    pub manifest: &'a BTreeMap<String, String>,
    /// Lazy function → its files.
    pub parts: &'a BTreeMap<String, Vec<String>>,
    pub folder: &'a Path,
}

impl Files<'_> {
    /// Prints every size and fails if one is over its budget.
    pub fn check(&self) -> Result<()> {
        let budgets: Value = serde_json::from_str(BUDGETS)?;
        let (core_max, part_max) = (bytes(&budgets, "coreKib")?, bytes(&budgets, "partKib")?);
        let mut over = Vec::new();
        let mut figure = |what: &str, size: u64, most: u64| {
            let line = format!("{what}: {:.1} KiB, budget {} KiB", kib(size), most / KIB);
            say(&format!("    {line}"));
            if size > most {
                over.push(line);
            }
        };
        figure("WASM of every page", self.size(self.named("wasm")?)?, core_max);
        for file in self.parts.values().flatten().collect::<BTreeSet<_>>() {
            // The name of a part is what its file begins with.
            let part = file.split('.').next().unwrap_or_default();
            let own = budgets["largePartsKib"][part].as_u64().map(|kib| kib * KIB);
            figure(file, self.size(file)?, own.unwrap_or(part_max));
        }
        for page in list(&budgets, "pages")? {
            let mut files = BTreeSet::new();
            for name in EVERYWHERE {
                files.insert(self.named(name)?);
            }
            // A first visit: HTML, CSS, script, core, and the files of the page's lazy functions.
            for function in list(page, "lazy")? {
                let function = text(Some(function))?;
                let needs = self.parts.get(function);
                files.extend(needs.with_context(|| format!("the site has no lazy function {function}"))?);
            }
            let sizes = files.into_iter().map(|file| self.size(file)).collect::<Result<Vec<_>>>()?;
            let path = text(page.get("path"))?;
            // The HTML of a busy workspace, gzipped as the server sends it, rounded up.
            let html = bytes(page, "htmlKib")?;
            figure(&format!("first visit to {path}"), html + sizes.iter().sum::<u64>(), bytes(page, "kib")?);
        }
        if !over.is_empty() {
            bail!("too large: {}", over.join("; "));
        }
        Ok(())
    }

    fn named(&self, name: &str) -> Result<&String> {
        self.manifest.get(name).with_context(|| format!("the manifest of the site names no {name} file"))
    }

    fn size(&self, file: &str) -> Result<u64> {
        let path = self.folder.join(format!("{file}.br"));
        Ok(fs::metadata(&path).with_context(|| format!("there is no {}", path.display()))?.len())
    }
}

#[expect(clippy::cast_precision_loss, reason = "a size for people to read")]
fn kib(bytes: u64) -> f64 {
    bytes as f64 / KIB as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A site whose files have these sizes in KiB.
    fn check(core: u64, strip: u64, shared: u64) -> Result<()> {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, size: u64| {
            let bytes = vec![0; usize::try_from(size * KIB).unwrap()];
            fs::write(dir.path().join(format!("{name}.br")), bytes).unwrap();
            name.to_owned()
        };
        let manifest =
            [("css", 10), ("js", 10), ("wasm", core)].map(|(name, size)| (name.to_owned(), file(name, size)));
        let (strip, shared, inbox) = (file("strip", strip), file("shared", shared), file("inbox", 15));
        let parts = [
            ("work_queue_strip".to_owned(), vec![strip, shared.clone()]),
            ("live_inbox".to_owned(), vec![inbox, shared]),
        ];
        Files { manifest: &manifest.into(), parts: &parts.into(), folder: dir.path() }.check()
    }

    #[test]
    fn the_core_each_part_and_each_page_have_a_budget() {
        check(100, 10, 5).unwrap();
        let error = |core, strip, shared| check(core, strip, shared).unwrap_err().to_string();
        assert!(error(113, 1, 1).contains("WASM of every page: 113.0 KiB, budget 112 KiB"));
        assert!(error(20, 1, 71).contains("shared: 71.0 KiB, budget 70 KiB"));
        assert!(error(100, 35, 5).contains("first visit to /today: 168.0 KiB, budget 158 KiB"));
        assert!(error(112, 1, 70).contains("first visit to /inbox: 229.0 KiB, budget 228 KiB"));
    }

    #[test]
    fn a_lazy_function_without_files_is_named() {
        let dir = tempfile::tempdir().unwrap();
        let manifest = EVERYWHERE.map(|name| (name.to_owned(), "file".to_owned()));
        fs::write(dir.path().join("file.br"), "").unwrap();
        let files = Files { manifest: &manifest.into(), parts: &BTreeMap::new(), folder: dir.path() };
        assert!(files.check().unwrap_err().to_string().contains("no lazy function work_queue_strip"));
    }
}
