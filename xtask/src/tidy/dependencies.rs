//! Rules over the manifests: which crate may use which, and that `domain` and `wire` stay without a runtime. The second
//! is also checked in the dependencies that cargo resolved.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Finding;

const OURS: [&str; 19] = [
    "app",
    "bench",
    "client",
    "datalake",
    "domain",
    "embedding",
    "frontend",
    "ledger",
    "outbound",
    "private",
    "ranker",
    "redact",
    "runner",
    "server",
    "store",
    "testkit",
    "torture",
    "wire",
    "xtask",
];
/// Crates that also build for the browser: no runtime, storage, HTTP server or user interface.
const PURE: [&str; 2] = ["domain", "wire"];
const NOT_IN_PURE: [&str; 9] =
    ["tokio", "sqlx", "sqlx-core", "axum", "hyper", "tower-http", "leptos", "reqwest", "async-std"];
/// Crates that app uses on the server and must not bring to the browser.
const OPTIONAL_IN_APP: [&str; 1] = ["ledger"];

/// The crates that the product code of a crate may use. Tests may use more, above all `testkit`.
fn may_use(package: &str) -> Option<&'static [&'static str]> {
    Some(match package {
        "domain" | "outbound" | "private" | "ranker" | "redact" | "xtask" => &[],
        "wire" => &["domain"],
        "embedding" => &["outbound"],
        "store" => &["domain", "private"],
        "datalake" => &["domain", "private", "redact"],
        "client" => &["domain", "wire"],
        "ledger" => &["store", "domain", "embedding", "wire", "outbound", "ranker", "redact"],
        "runner" => &["ledger", "client", "outbound", "datalake", "private", "domain", "wire"],
        "app" => &["wire", "domain", "ledger"],
        "frontend" => &["app"],
        "server" => {
            &["app", "client", "ledger", "outbound", "private", "store", "runner", "datalake", "domain", "wire"]
        }
        "testkit" => {
            &["server", "app", "client", "ledger", "outbound", "store", "runner", "datalake", "domain", "wire"]
        }
        // Black boxes: they use only the network interface of the product, so that they do not share its mistakes.
        "bench" | "torture" => &["client", "domain", "wire"],
        _ => return None,
    })
}

/// Other products that the bench compares with; each is a workspace of its own.
const REFERENCES: &str = "crates/bench/reference/";

pub fn check(path: &str, text: &str) -> Vec<Finding> {
    let Ok(manifest) = text.parse::<toml::Table>() else {
        return vec![Finding::new(path, 1, "syntax", "this is not TOML")];
    };
    if path == "Cargo.toml" {
        return purposes(path, text, "[workspace.dependencies]");
    }
    if path.starts_with(REFERENCES) {
        return purposes(path, text, "[dependencies]");
    }
    let package = path.trim_end_matches("/Cargo.toml").rsplit('/').next().unwrap_or_default();
    let Some(allowed) = may_use(package) else {
        return vec![Finding::new(
            path,
            1,
            "crate-direction",
            format!("{package} has no entry in xtask/src/tidy/dependencies.rs"),
        )];
    };
    let mut findings = Vec::new();
    for (name, requirement) in product_dependencies(&manifest) {
        let line = line_of(text, &name);
        if OURS.contains(&name.as_str()) && !allowed.contains(&name.as_str()) {
            findings.push(Finding::new(path, line, "crate-direction", format!("{package} may not use {name}")));
        }
        let is_optional = requirement.get("optional").and_then(toml::Value::as_bool) == Some(true);
        if package == "app" && OPTIONAL_IN_APP.contains(&name.as_str()) && !is_optional {
            let what = format!("app uses {name} on the server only: make it optional, under the feature ssr");
            findings.push(Finding::new(path, line, "crate-direction", what));
        }
        if package == "app" && name.starts_with("sqlx") {
            findings.push(Finding::new(path, line, "crate-direction", "app never sees sqlx"));
        }
        if PURE.contains(&package) && NOT_IN_PURE.contains(&name.as_str()) {
            findings.push(Finding::new(path, line, "pure-crate", format!("{package} may not use {name}")));
        }
    }
    findings
}

/// The crates that a manifest's product uses, by name.
pub fn ours_used(manifest: &toml::Table) -> Vec<String> {
    product_dependencies(manifest)
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| OURS.contains(&name.as_str()))
        .collect()
}

/// Normal and build dependencies, also those of single platforms. Development dependencies are for tests.
fn product_dependencies(manifest: &toml::Table) -> Vec<(String, toml::Value)> {
    let mut tables = vec![manifest];
    let platforms = manifest.get("target").and_then(toml::Value::as_table);
    tables.extend(platforms.into_iter().flat_map(toml::Table::values).filter_map(toml::Value::as_table));
    let kinds = ["dependencies", "build-dependencies"];
    let found = tables.iter().flat_map(|table| kinds.iter().filter_map(|kind| table.get(*kind)?.as_table()));
    found.flatten().map(|(name, requirement)| (name.clone(), requirement.clone())).collect()
}

fn line_of(text: &str, name: &str) -> usize {
    let is_entry = |line: &str| {
        let rest = line.trim_start().strip_prefix(name);
        rest.is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
    };
    text.lines().position(is_entry).map_or(1, |at| at + 1)
}

/// Checks that every external dependency of the workspace has a comment that says its purpose.
fn purposes(path: &str, text: &str, table: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut inside = false;
    let mut open_since: Option<(usize, String)> = None;
    for (at, line) in text.lines().enumerate() {
        if line.starts_with('[') {
            inside = line.trim() == table;
            continue;
        }
        if !inside || line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (started, entry) = match open_since.take() {
            Some((started, before)) => (started, format!("{before}\n{line}")),
            None => (at + 1, line.to_owned()),
        };
        if entry.matches(['[', '{']).count() > entry.matches([']', '}']).count() {
            open_since = Some((started, entry));
            continue;
        }
        let name = entry.split(['=', '.', ' ']).next().unwrap_or_default().to_owned();
        let is_ours = OURS.contains(&name.as_str());
        let comment = entry.rsplit_once(" # ").map_or("", |(_, comment)| comment.trim());
        if !is_ours && comment.is_empty() {
            findings.push(Finding::new(path, started, "purpose", format!("what is {name} for? say it behind it")));
        }
    }
    findings
}

/// Finds forbidden crates among everything that the pure crates use, directly or not.
pub fn forbidden_below_pure_crates(metadata: &Value) -> Vec<Finding> {
    let list = |value: Option<&Value>| value.and_then(Value::as_array).cloned().unwrap_or_default();
    let text = |value: &Value, field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    let names: BTreeMap<String, String> =
        list(metadata.get("packages")).iter().map(|package| (text(package, "id"), text(package, "name"))).collect();
    let mut uses: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for node in list(metadata.pointer("/resolve/nodes")) {
        let used = list(node.get("deps")).into_iter().filter(|used| {
            let kinds = list(used.get("dep_kinds"));
            kinds.iter().any(|kind| kind.get("kind").is_none_or(Value::is_null))
        });
        uses.insert(text(&node, "id"), used.map(|used| text(&used, "pkg")).collect());
    }
    let mut findings = Vec::new();
    for package in PURE {
        let Some(start) = names.iter().find(|(_, name)| *name == package).map(|(id, _)| id) else { continue };
        let mut seen = BTreeSet::from([start.clone()]);
        let mut open = vec![start.clone()];
        while let Some(id) = open.pop() {
            let fresh = uses.get(&id).into_iter().flatten().filter(|next| seen.insert((*next).clone()));
            open.extend(fresh.cloned());
        }
        for name in seen.iter().filter_map(|id| names.get(id)).filter(|name| NOT_IN_PURE.contains(&name.as_str())) {
            let what = format!("{package} brings in {name} (see `cargo tree --package {package} --invert {name}`)");
            findings.push(Finding::new(&format!("crates/{package}/Cargo.toml"), 1, "pure-crate", what));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn finds(path: &str, text: &str, expected: &[(usize, &str)]) {
        let found = check(path, text);
        let found: Vec<(usize, &str)> = found.iter().map(|finding| (finding.line, finding.rule)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn crates_are_used_downwards_only() {
        finds("crates/store/Cargo.toml", "[dependencies]\ndomain.workspace = true\n", &[]);
        finds("crates/store/Cargo.toml", "[dependencies]\nledger.workspace = true\n", &[(2, "crate-direction")]);
        finds("crates/domain/Cargo.toml", "[dependencies]\nwire = { workspace = true }\n", &[(2, "crate-direction")]);
        finds("crates/other/Cargo.toml", "", &[(1, "crate-direction")]);
        let platform = "[target.'cfg(unix)'.dependencies]\nserver = { workspace = true }\n";
        finds("crates/ledger/Cargo.toml", platform, &[(2, "crate-direction")]);
    }

    #[test]
    fn what_is_compared_with_is_no_crate_of_ours_and_says_what_it_needs() {
        let text = "[dependencies]\ntokio = \"1\"\nuuid = \"1\" # ids\n";
        finds("crates/bench/reference/other/Cargo.toml", text, &[(2, "purpose")]);
        finds("crates/bench/other/Cargo.toml", "", &[(1, "crate-direction")]);
    }

    #[test]
    fn the_testkit_is_for_tests() {
        finds("crates/ledger/Cargo.toml", "[dev-dependencies]\ntestkit.workspace = true\n", &[]);
        finds("server/Cargo.toml", "[dependencies]\ntestkit.workspace = true\n", &[(2, "crate-direction")]);
    }

    #[test]
    fn app_uses_the_ledger_on_the_server_only() {
        finds("app/Cargo.toml", "[dependencies]\nledger = { workspace = true, optional = true }\n", &[]);
        finds("app/Cargo.toml", "[dependencies]\nledger = { workspace = true }\n", &[(2, "crate-direction")]);
        finds("app/Cargo.toml", "[dependencies]\nsqlx = { workspace = true }\n", &[(2, "crate-direction")]);
    }

    #[test]
    fn pure_crates_have_no_runtime() {
        finds("crates/wire/Cargo.toml", "[dependencies]\nserde = \"1\"\ntokio = \"1\"\n", &[(3, "pure-crate")]);
    }

    #[test]
    fn pure_crates_get_no_runtime_by_detours() {
        let metadata = |kind: Value| {
            json!({
                "packages": [
                    {"id": "d", "name": "domain"}, {"id": "w", "name": "wire"},
                    {"id": "x", "name": "helper"}, {"id": "t", "name": "tokio"}
                ],
                "resolve": {"nodes": [
                    {"id": "w", "deps": [{"pkg": "x", "dep_kinds": [{"kind": null}]}]},
                    {"id": "x", "deps": [{"pkg": "t", "dep_kinds": [{"kind": kind}]}]},
                    {"id": "d", "deps": []}, {"id": "t", "deps": []}
                ]}
            })
        };
        let found = forbidden_below_pure_crates(&metadata(Value::Null));
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].file.as_str(), found[0].rule), ("crates/wire/Cargo.toml", "pure-crate"));
        assert_eq!(forbidden_below_pure_crates(&metadata(json!("dev"))), []);
    }

    #[test]
    fn every_dependency_of_the_workspace_has_a_purpose() {
        let manifest = |line: &str| format!("[workspace.dependencies]\napp = {{ path = \"app\" }}\n{line}\n");
        finds("Cargo.toml", &manifest("serde = \"1\" # JSON"), &[]);
        finds("Cargo.toml", &manifest("serde = \"1\""), &[(3, "purpose")]);
        finds(
            "Cargo.toml",
            &manifest("serde = { version = \"1\", features = [\n  \"derive\",\n] }"),
            &[(3, "purpose")],
        );
        finds("Cargo.toml", &manifest("serde = { version = \"1\", features = [\n  \"derive\",\n] } # JSON"), &[]);
    }
}
