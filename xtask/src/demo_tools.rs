//! The tools of the demo workspace: a composite tool that counts in a file of this repository, by two calls of a small
//! service, and a tool of an MCP server of npm.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use crate::process::{Managed, pause};
use crate::progress::say;
use crate::served::{Client, text};
use crate::workspace::{command, find_program, root};

const SERVICE: &str = "examples/demo/file_service.py";
/// Port of the service. The addresses in the bundle name it.
const PORT: &str = "4290";
const BUNDLE: &str = "examples/demo/tools.json";
/// The MCP server of the demo: its name in the settings, a tool, its input, and a part of its result.
pub const EVERYTHING: (&str, &str, &str, &str) = ("everything", "echo", r#"{"message":"hello"}"#, "Echo: hello");
const REPORT: &str = "/api/tools/file-report/run";
const START_MAX: Duration = Duration::from_secs(10);
/// Seconds that a request waits for the end of the run.
const RUN_SECONDS: u32 = 20;

/// Starts the service that the tools call, and waits until it answers.
pub fn start_service(python: &Path, log: &Path) -> Result<Managed> {
    let log = std::fs::File::options().create(true).append(true).open(log)?;
    let mut service = command(python);
    service.args([SERVICE, PORT]).stdout(Stdio::null()).stderr(log);
    let mut service = Managed::service(&mut service)?;
    let started = Instant::now();
    while ureq::get(format!("http://127.0.0.1:{PORT}/lines?file=README.md")).call().is_err() {
        if let Some(status) = service.ended()? {
            bail!("{SERVICE} ended ({status})");
        }
        if started.elapsed() > START_MAX {
            bail!("{SERVICE} did not answer within {} s", START_MAX.as_secs());
        }
        pause(Duration::from_millis(50))?;
    }
    Ok(service)
}

/// Installs the tools, runs the composite one, and checks what it returns.
pub fn play(client: &Client) -> Result<()> {
    let bundle = std::fs::read_to_string(root().join(BUNDLE)).with_context(|| format!("cannot read {BUNDLE}"))?;
    client.post("/api/bundles", &serde_json::from_str(&bundle)?)?;
    let request = json!({ "input": { "file": "README.md" }, "waitSeconds": RUN_SECONDS });
    let run = client.post(REPORT, &request)?;
    let status = text(&run, "status")?;
    let lines = &run["result"]["lines"];
    if status != "completed" || lines.as_u64().is_none() {
        bail!("the tool file-report is {status} and not completed with a number of lines: {run}");
    }
    say(&format!("    the tool file-report counted {lines} lines and {} words of README.md", run["result"]["words"]));
    Ok(())
}

/// The program of the MCP server `everything` of npm, which the browser tests install; `None` if it is not there.
pub fn everything_command() -> Option<Vec<String>> {
    let program = root().join("end2end/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let node = find_program("node").filter(|_| program.is_file())?;
    Some(vec![node.display().to_string(), program.display().to_string(), "stdio".to_owned()])
}

/// Allows a program as an MCP server of a workspace in a settings file.
pub fn allow_mcp_server(settings: &Path, workspace: &str, name: &str, command: &[String]) -> Result<()> {
    let mut file = std::fs::File::options().append(true).open(settings)?;
    // A list of texts in JSON is one in TOML.
    writeln!(file, "\n[mcp.{name}]\nworkspace = \"{workspace}\"\ncommand = {}", json!(command))?;
    Ok(())
}

/// Adds an MCP server, imports one of its tools, and runs it. `expected` is a part of its result.
pub fn run_mcp_tool(client: &Client, (server, tool, input, expected): (&str, &str, &str, &str)) -> Result<()> {
    let transport = json!({ "kind": "stdio", "program": server });
    client.post("/api/mcp-servers", &json!({ "name": server, "slug": server, "transport": transport }))?;
    client.post(&format!("/api/mcp-servers/{server}/refresh"), &json!({}))?;
    client.post(&format!("/api/mcp-servers/{server}/import"), &json!({ "tools": [tool] }))?;
    let path = format!("/api/tools/{server}-{tool}");
    client.post(&format!("{path}/publish"), &json!({}))?;
    let input: Value = serde_json::from_str(input)?;
    let run = client.post(&format!("{path}/run"), &json!({ "input": input, "waitSeconds": RUN_SECONDS }))?;
    if text(&run, "status")? != "completed" || !run["result"].to_string().contains(expected) {
        bail!("the run of {tool} did not return {expected}: {run}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tools_of_the_demo_call_its_service() {
        assert!(root().join(SERVICE).is_file());
        let bundle: Value = serde_json::from_str(&std::fs::read_to_string(root().join(BUNDLE)).unwrap()).unwrap();
        let tools = bundle["tools"].as_array().unwrap();
        let calls: Vec<&str> = tools.iter().filter_map(|tool| tool["http"]["url"].as_str()).collect();
        assert_eq!(calls.len(), 2, "{calls:?}");
        assert!(calls.iter().all(|url| url.starts_with(&format!("http://127.0.0.1:{PORT}/"))), "{calls:?}");
    }
}
