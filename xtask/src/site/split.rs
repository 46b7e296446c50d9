//! Splits the frontend at its lazy functions: a core that every page loads, and parts that the core fetches when it
//! calls one of those functions. The splitter writes a script that fetches them. It is joined to the script of
//! wasm-bindgen, because each of the two imports the other, and their names could not both carry a hash.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};

/// Name under which the core imports the functions that fetch a part. No file has it.
const LINK_MODULE: &str = "./parts.js";
/// First line of the splitter's script; the joined script has this function itself.
const GLUE_IMPORT: &str = "import { initSync } from \"./main.js\";";
/// A shared part up to this size is held by the part of each lazy function that needs it, as a custom section with its
/// name: a request of its own would take longer.
const HELD_BYTES_MAX: usize = 4 * 1024;
/// How the splitter's script instantiates a part while it is fetched, and how the joined script does it.
const INSTANTIATION: (&str, &str) = ("WebAssembly.instantiateStreaming(src, imports)", "instantiatePart(src, imports)");
/// Length of a WASM file's magic number and version.
const WASM_HEADER_BYTES: usize = 8;
/// Beginning of the names of parts that several lazy functions need.
const SHARED: &str = "shared_";
const CUSTOM_SECTION: u8 = 0;

/// The frontend in parts.
pub struct Split {
    /// The module that every page loads, as the splitter leaves it to wasm-bindgen.
    pub core: PathBuf,
    pub parts: Vec<Part>,
    /// The parts that a lazy function needs: `live_inbox` → `live_inbox`, `shared_7`.
    pub needs: BTreeMap<String, Vec<String>>,
    /// The splitter's script.
    link: String,
}

/// What is fetched later.
pub struct Part {
    /// Its name without hash and extension.
    pub name: String,
    /// What the splitter calls it.
    stem: String,
    pub content: Vec<u8>,
}

impl Part {
    /// Whether it is in the files of the parts that need it, and has none itself.
    pub fn is_held(&self) -> bool {
        self.is_shared() && self.content.len() <= HELD_BYTES_MAX
    }

    fn is_shared(&self) -> bool {
        self.name.starts_with(SHARED)
    }
}

/// Splits `input`, which must carry its relocations, into files below `out`.
pub fn split(input: &Path, out: &Path) -> Result<Split> {
    let wasm = fs::read(input).with_context(|| format!("cannot read {}", input.display()))?;
    let core = out.join("core.wasm");
    let mut options = wasm_split_cli_support::Options::new(&wasm);
    options.output_dir = out;
    options.main_out_path = &core;
    options.link_name = LINK_MODULE;
    let outcome =
        wasm_split_cli_support::transform(options).map_err(|error| anyhow!("the WASM cannot be split: {error:#}"))?;

    let mut parts = Vec::new();
    for path in outcome.split_modules {
        let stem = path.file_stem().context("a part has no name")?.to_string_lossy().into_owned();
        let content = without_custom_sections(&fs::read(&path)?).with_context(|| path.display().to_string())?;
        parts.push(Part { name: part_name(&stem), stem, content });
    }
    parts.sort_by(|a, b| a.name.cmp(&b.name));
    let mut needs = BTreeMap::new();
    for (function, stems) in outcome.prefetch_map {
        let name = function_name(&function);
        // The part of the function itself comes first: the script looks there for the parts that it holds.
        let mut names: Vec<_> = stems.iter().map(|stem| part_name(stem)).collect();
        names.sort_by_key(|part| *part != name);
        hold(&mut parts, &name, &names)?;
        if needs.insert(name.clone(), names).is_some() {
            bail!("two lazy functions are called {name}: give them different names");
        }
    }
    Ok(Split { core, parts, needs, link: fs::read_to_string(out.join(LINK_MODULE))? })
}

/// Adds the small ones of these parts to the part of a lazy function.
fn hold(parts: &mut [Part], function: &str, needs: &[String]) -> Result<()> {
    let held = parts.iter().filter(|part| part.is_held() && needs.contains(&part.name));
    let sections: Vec<u8> = held.flat_map(|part| custom_section(&part.name, &part.content)).collect();
    let own = parts.iter_mut().find(|part| part.name == function);
    own.with_context(|| format!("the lazy function {function} has no part"))?.content.extend(sections);
    Ok(())
}

impl Split {
    /// One script out of three: that of wasm-bindgen, the splitter's, and `loader`, which does the fetching. `served`
    /// maps names of parts to files beside the script; a part that it does not have is held by others.
    pub fn join(&self, glue: &str, loader: &str, served: &BTreeMap<String, String>) -> Result<String> {
        let (glue, imports) = without_link_imports(glue);
        let link = self.link.replacen(GLUE_IMPORT, "", 1);
        if link.len() == self.link.len() {
            return Err(changed("begin with its import"));
        }
        let (mut link, loaders) = with_own_loader(&link)?;
        for part in &self.parts {
            let fetch = match served.get(&part.name) {
                Some(file) if part.is_shared() => format!("compilePart(\"{file}\")"),
                Some(_) => format!("openPart(\"{}\")", part.name),
                None => format!("heldPart(\"{}\")", part.name),
            };
            let generated = format!("fetch(new URL(\"./{}.wasm\", import.meta.url))", part.stem);
            if !link.contains(&generated) {
                return Err(changed(&format!("fetch {}", part.stem)));
            }
            link = link.replace(&generated, &fetch);
        }
        let (streamed, compiled) = INSTANTIATION;
        if link.matches(streamed).count() != self.parts.len() {
            return Err(changed("instantiate each part"));
        }
        link = link.replace(streamed, compiled);
        let files = serde_json::to_string(&self.files(served))?;
        let imports: String = imports.iter().map(|import| format!("const {import} = partLoaders;\n")).collect();
        let loaders = format!("const partLoaders = {{ {} }};\n", loaders.join(", "));
        Ok([&glue, "\nconst partFiles = ", &files, ";\n", loader, &link, &loaders, &imports].concat())
    }

    /// The files that each lazy function needs, relative to the script.
    pub fn files(&self, served: &BTreeMap<String, String>) -> BTreeMap<String, Vec<String>> {
        let files = |needs: &Vec<String>| needs.iter().filter_map(|part| served.get(part).cloned()).collect();
        self.needs.iter().map(|(function, needs)| (function.clone(), files(needs))).collect()
    }
}

fn changed(what: &str) -> anyhow::Error {
    anyhow!("the script of wasm_split_cli_support does not {what}: has its output changed?")
}

/// The script of wasm-bindgen without its imports of the splitter's, and the names that they gave it.
fn without_link_imports(glue: &str) -> (String, Vec<String>) {
    let ending = format!(" from \"{LINK_MODULE}\"");
    let mut names = Vec::new();
    let mut rest = String::with_capacity(glue.len());
    for line in glue.lines() {
        let name = line.strip_prefix("import * as ").and_then(|line| line.trim_end_matches(';').strip_suffix(&ending));
        match name {
            Some(name) => names.push(name.to_owned()),
            None => rest.extend([line, "\n"]),
        }
    }
    (rest, names)
}

/// The splitter's script with calls of `lazyPart` where it defines the function that loads a part, and the names of
/// those functions.
fn with_own_loader(link: &str) -> Result<(String, Vec<String>)> {
    const PREFIX: &str = "__wasm_split_load_";
    let mut names = Vec::new();
    let mut own = String::with_capacity(link.len());
    for line in link.lines() {
        match line.strip_prefix("export const ").and_then(|line| line.split_once(" = wrapAsyncCb(")) {
            Some((name, rest)) => {
                let function = name.strip_prefix(PREFIX).ok_or_else(|| changed("name its functions by their parts"))?;
                own.push_str(&format!("const {name} = lazyPart(\"{}\", {rest}\n", function_name(function)));
                names.push(name.to_owned());
            }
            None => own.extend([line, "\n"]),
        }
    }
    Ok((own, names))
}

/// `split_live_inbox_loader_1015` → `live_inbox`, `chunk_7` → `shared_7`
fn part_name(stem: &str) -> String {
    match stem.strip_prefix("chunk_") {
        Some(number) => format!("{SHARED}{number}"),
        None => function_name(stem.strip_prefix("split_").unwrap_or(stem)),
    }
}

/// The name of a lazy function without the number that Leptos adds, and without the ending for the islands.
fn function_name(module: &str) -> String {
    let name = match module.rsplit_once('_') {
        Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => module,
    };
    name.strip_suffix("_loader").unwrap_or(name).to_owned()
}

/// A WASM file without names, producers and other sections that no browser needs. wasm-bindgen does this for the core.
fn without_custom_sections(wasm: &[u8]) -> Result<Vec<u8>> {
    let mut kept = wasm.get(..WASM_HEADER_BYTES).context("the file is too short for a WASM file")?.to_vec();
    let mut rest = wasm.get(WASM_HEADER_BYTES..).unwrap_or_default();
    while let Some((&id, after_id)) = rest.split_first() {
        let (length, header) = leb128(after_id).context("a section has no length")?;
        let end = 1 + header + length;
        let section = rest.get(..end).context("a section is longer than the file")?;
        if id != CUSTOM_SECTION {
            kept.extend_from_slice(section);
        }
        rest = rest.get(end..).unwrap_or_default();
    }
    Ok(kept)
}

/// A section that browsers skip, and that scripts can read by its name.
fn custom_section(name: &str, content: &[u8]) -> Vec<u8> {
    let mut body = unsigned_leb128(name.len());
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(content);
    let mut section = vec![CUSTOM_SECTION];
    section.extend(unsigned_leb128(body.len()));
    section.extend(body);
    section
}

/// A number in WASM's variable length.
fn unsigned_leb128(mut number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return bytes;
        }
        bytes.push(low | 0x80);
    }
}

/// An unsigned number of WASM's variable length, and the bytes that it takes.
fn leb128(bytes: &[u8]) -> Option<(usize, usize)> {
    const BYTES_MAX: usize = 5;
    let mut value = 0;
    for (at, byte) in bytes.iter().take(BYTES_MAX).enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Some((value, at + 1));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: &str = "import { initSync } from \"./main.js\";\n\
        function wrapAsyncCb(callee) {}\n\
        const __chunk_2 = makeLoad(() => {\n    const src = fetch(new URL(\"./chunk_2.wasm\", import.meta.url));\n    \
        return async (imports) => (WebAssembly.instantiateStreaming(src, imports));\n}\n, []);\n\
        export const __wasm_split_load_live_inbox_loader_77 = wrapAsyncCb(makeLoad(() => {\n    \
        const src = fetch(new URL(\"./split_live_inbox_loader_77.wasm\", import.meta.url));\n    \
        return async (imports) => (WebAssembly.instantiateStreaming(src, imports));\n}\n, [__chunk_2]));\n";

    fn split() -> Split {
        let part = |stem: &str| Part { name: part_name(stem), stem: stem.to_owned(), content: vec![1] };
        let needs = vec!["shared_2".to_owned(), "live_inbox".to_owned()];
        Split {
            core: PathBuf::new(),
            parts: vec![part("split_live_inbox_loader_77"), part("chunk_2")],
            needs: [("live_inbox".to_owned(), needs)].into(),
            link: LINK.to_owned(),
        }
    }

    #[test]
    fn names_lose_what_the_generators_added() {
        assert_eq!(part_name("split_live_inbox_loader_10150692239827543252"), "live_inbox");
        assert_eq!(part_name("split_palette_dialog_9"), "palette_dialog");
        assert_eq!(part_name("chunk_7"), "shared_7");
    }

    #[test]
    fn three_scripts_become_one_that_fetches_hashed_files_and_holds_the_small_ones() {
        let glue =
            "import * as import1 from \"./parts.js\"\nimport * as x from \"./other.js\"\nfunction initSync() {}\n";
        let served = [("live_inbox".to_owned(), "live_inbox.0a1b.wasm".to_owned())].into();
        let joined = split().join(glue, "const mine = 1;\n", &served).unwrap();
        for part in [
            "import * as x from \"./other.js\"",
            "const partFiles = {\"live_inbox\":[\"live_inbox.0a1b.wasm\"]};",
            "const mine = 1;",
            "const src = openPart(\"live_inbox\");",
            "const src = heldPart(\"shared_2\");",
            "(instantiatePart(src, imports))",
            "const __wasm_split_load_live_inbox_loader_77 = lazyPart(\"live_inbox\", makeLoad(() => {",
            "const partLoaders = { __wasm_split_load_live_inbox_loader_77 };",
            "const import1 = partLoaders;",
        ] {
            assert!(joined.contains(part), "{part}\n{joined}");
        }
        assert!(!joined.contains("./parts.js") && !joined.contains("./main.js"), "{joined}");
    }

    #[test]
    fn a_script_of_an_unknown_form_is_an_error() {
        let changes =
            [("import {", "import{"), ("./chunk_2.wasm", "./chunk_3.wasm"), ("Streaming(src, ", "Streaming(src,")];
        for (from, to) in changes {
            let split = Split { link: LINK.replace(from, to), ..split() };
            let error = split.join("", "", &BTreeMap::new()).unwrap_err().to_string();
            assert!(error.contains("has its output changed?"), "{error}");
        }
    }

    #[test]
    fn a_part_holds_the_small_parts_that_it_needs() {
        let part = |name: &str, content: Vec<u8>| Part { name: name.to_owned(), stem: name.to_owned(), content };
        let mut parts = vec![
            part("live_inbox", vec![9]),
            part("shared_1", vec![7; 200]),
            part("shared_2", vec![7; HELD_BYTES_MAX + 1]),
            part("shared_3", vec![7]),
        ];
        hold(&mut parts, "live_inbox", &["shared_1".to_owned(), "shared_2".to_owned()]).unwrap();
        let mut expected = vec![9, CUSTOM_SECTION, 0xd1, 0x01, 8];
        expected.extend(b"shared_1");
        expected.extend([7; 200]);
        assert_eq!(parts[0].content, expected);
        assert_eq!(leb128(&[0xd1, 0x01]), Some((209, 2)));
        assert!(hold(&mut parts, "live_day", &[]).is_err());
    }

    #[test]
    fn custom_sections_are_left_out_and_a_truncated_file_is_an_error() {
        let header = b"\0asm\x01\0\0\0";
        let code = [10, 2, 7, 8];
        let names = [CUSTOM_SECTION, 3, 1, b'n', 9];
        let wasm = [&header[..], &names, &code, &names].concat();
        assert_eq!(without_custom_sections(&wasm).unwrap(), [&header[..], &code].concat());
        assert!(without_custom_sections(&wasm[..wasm.len() - 1]).is_err());
        assert!(without_custom_sections(b"\0asm").is_err());
    }
}
