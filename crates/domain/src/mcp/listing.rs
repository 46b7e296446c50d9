//! The tools that a server listed, and what changed since it was asked before.

use super::{schema::adopted, text};
use crate::{
    gate::canonical_digest,
    limit::{DESCRIPTION_CHARS_MAX, MCP_LISTING_BYTES_MAX, MCP_TOOLS_MAX, NAME_CHARS_MAX},
    names::names,
    tool::{self, Kind, McpCall, is_mcp_tool_name},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::{collections::BTreeSet, fmt};

/// Longest part of the name of a refused tool that is shown, characters.
const REFUSED_NAME_CHARS_MAX: usize = 60;

/// A tool as the server sent it.
#[derive(Debug, Clone, PartialEq)]
pub struct OfferedTool {
    /// The name by which the server calls it.
    pub name: String,
    /// Name for people, if the server has one.
    pub title: Option<String>,
    /// Its description, if the server has one.
    pub description: Option<String>,
    /// JSON Schema of the input.
    pub input_schema: Value,
    /// JSON Schema of the structured result, if there is one.
    pub output_schema: Option<Value>,
}

/// How a tool differs from the one that the server listed before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// It was not listed before.
    New,
    /// Texts or schemas differ.
    Changed,
    /// Texts and schemas do not differ.
    Same,
}

names!(Change { New = "new", Changed = "changed", Same = "same" });

/// A tool that can be imported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedTool {
    /// The name by which the server calls it.
    pub name: String,
    /// Name for people, at most 200 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its description, at most 10,000 characters; may be empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// JSON Schema 2020-12 of the input.
    pub input_schema: Value,
    /// JSON Schema 2020-12 of the structured result, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// SHA-256 of all of this, in hexadecimal digits.
    pub digest: String,
    /// How it differs from the one that was listed before.
    pub change: Change,
}

/// A tool that cannot be imported.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RefusedTool {
    /// The beginning of its name, without characters that change how others are shown.
    pub name: String,
    /// Why it cannot be imported.
    pub reason: String,
}

/// The list of a server.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Listing {
    /// The tools that can be imported, in the order of the server.
    pub tools: Vec<ListedTool>,
    /// The tools that cannot.
    pub refused: Vec<RefusedTool>,
    /// Names of tools that were listed before and are not any more.
    pub gone: Vec<String>,
    /// Whether the server has more tools than are kept here.
    pub cut: bool,
}

impl Listing {
    /// Takes what a server sent: at most [`MCP_TOOLS_MAX`] tools with [`MCP_LISTING_BYTES_MAX`] in all. `is_cut` says
    /// that the server was not asked for more.
    pub fn of(offered: Vec<OfferedTool>, is_cut: bool, before: Option<&Self>) -> Self {
        let mut listing = Self { cut: is_cut || offered.len() > MCP_TOOLS_MAX, ..Self::default() };
        let mut bytes = 0;
        let mut names = BTreeSet::new();
        for one in offered.into_iter().take(MCP_TOOLS_MAX) {
            let name = one.name.clone();
            let taken =
                if names.insert(name.clone()) { listed(one, before) } else { Err("is listed twice".to_owned()) };
            match taken {
                Ok(tool) => {
                    bytes += serde_json::to_string(&tool).map_or(0, |json| json.len());
                    if bytes > MCP_LISTING_BYTES_MAX {
                        listing.cut = true;
                        break;
                    }
                    listing.tools.push(tool);
                }
                Err(reason) => {
                    let name = text::line(&name, REFUSED_NAME_CHARS_MAX).unwrap_or_else(|| "(no name)".to_owned());
                    listing.refused.push(RefusedTool { name, reason });
                }
            }
        }
        let had = before.into_iter().flat_map(|before| &before.tools).map(|tool| &tool.name);
        // A list that was cut does not show which tools are gone.
        listing.gone = had.filter(|name| !listing.cut && !names.contains(*name)).cloned().collect();
        listing
    }

    /// The tool with this name, if it can be imported.
    pub fn find(&self, name: &str) -> Option<&ListedTool> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}

fn listed(offered: OfferedTool, before: Option<&Listing>) -> Result<ListedTool, String> {
    if !is_mcp_tool_name(&offered.name) {
        return Err("its name is not 1 to 128 of the ASCII letters, digits, `_`, `-`, `.` and `/`".to_owned());
    }
    if offered.input_schema.get("type").and_then(Value::as_str) != Some("object") {
        return Err("its input schema is not that of an object".to_owned());
    }
    let input_schema = adopted(offered.input_schema).map_err(|why| format!("its input schema {why}"))?;
    let output_schema =
        offered.output_schema.map(adopted).transpose().map_err(|why| format!("its output schema {why}"))?;
    let title = offered.title.and_then(|title| text::line(&title, NAME_CHARS_MAX));
    let description = offered.description.map(|about| text::lines(&about, DESCRIPTION_CHARS_MAX)).unwrap_or_default();
    let all = json!([offered.name, title, description, input_schema, output_schema]);
    let digest = canonical_digest(&all).to_string();
    let change = match before.and_then(|before| before.find(&offered.name)) {
        None => Change::New,
        Some(known) if known.digest == digest => Change::Same,
        Some(_) => Change::Changed,
    };
    Ok(ListedTool { name: offered.name, title, description, input_schema, output_schema, digest, change })
}

impl ListedTool {
    /// The parts of a tool of the workspace that calls this one. Other parts keep their values, or have their defaults
    /// in a new tool.
    pub fn to_tool(&self, server: &str) -> tool::Change {
        let name = self.title.clone().unwrap_or_else(|| self.name.clone());
        tool::Change {
            name: Some(name),
            description: Some(self.description.clone()),
            kind: Some(Kind::Mcp),
            mcp: Some(McpCall { server: server.to_owned(), tool: self.name.clone() }),
            input_schema: Some(self.input_schema.clone()),
            output_schema: Some(self.output_schema.clone()),
            ..tool::Change::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(name: &str) -> OfferedTool {
        OfferedTool {
            name: name.to_owned(),
            title: None,
            description: Some("Says it".to_owned()),
            input_schema: json!({ "type": "object" }),
            output_schema: None,
        }
    }

    fn changes(listing: &Listing) -> Vec<(&str, &str)> {
        listing.tools.iter().map(|tool| (tool.name.as_str(), tool.change.as_str())).collect()
    }

    #[test]
    fn a_listing_says_what_is_new_changed_and_gone() {
        let first = Listing::of(vec![offered("echo"), offered("add"), offered("old")], false, None);
        assert_eq!(changes(&first), [("echo", "new"), ("add", "new"), ("old", "new")]);
        let other = OfferedTool { description: Some("Adds".to_owned()), ..offered("add") };
        let second = Listing::of(vec![offered("echo"), other.clone(), offered("time")], false, Some(&first));
        assert_eq!(changes(&second), [("echo", "same"), ("add", "changed"), ("time", "new")]);
        assert_eq!(second.gone, ["old"]);
        let third = Listing::of(vec![offered("echo")], true, Some(&second));
        assert!(third.cut && third.gone.is_empty());
        let stored: Listing = serde_json::from_value(serde_json::to_value(&second).unwrap()).unwrap();
        assert_eq!(stored, second);
    }

    #[test]
    fn a_hostile_tool_is_refused_and_the_others_are_listed() {
        let bomb = (0..200).fold(json!({}), |inner, _| json!({ "not": inner }));
        let bad = vec![
            offered("\u{1b}[31mred"),
            offered("<img src=x>"),
            offered(""),
            offered("echo"),
            offered("echo"),
            OfferedTool { input_schema: json!({ "type": "object", "not": bomb }), ..offered("deep") },
            OfferedTool { input_schema: json!([]), ..offered("list") },
            OfferedTool { title: Some("\u{1b}[2J\u{202e}Fine".to_owned()), ..offered("fine") },
        ];
        let listing = Listing::of(bad, false, None);
        assert_eq!(changes(&listing), [("echo", "new"), ("fine", "new")]);
        assert_eq!(listing.tools[1].title.as_deref(), Some("Fine"));
        let refused: Vec<_> = listing.refused.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(refused, ["red", "<img src=x>", "(no name)", "echo", "deep", "list"]);
    }

    #[test]
    fn a_listing_has_a_limit_of_tools_and_of_bytes() {
        let many = (0..=MCP_TOOLS_MAX).map(|n| offered(&format!("t{n}"))).collect();
        let listing = Listing::of(many, false, None);
        assert!(listing.cut && listing.tools.len() == MCP_TOOLS_MAX);
        let large = |n: usize| OfferedTool {
            input_schema: json!({ "type": "object", "title": "x".repeat(100_000) }),
            ..offered(&format!("t{n}"))
        };
        let listing = Listing::of((0..40).map(large).collect(), false, None);
        assert!(listing.cut && listing.tools.len() < 40);
        assert!(serde_json::to_string(&listing.tools).unwrap().len() <= MCP_LISTING_BYTES_MAX + 1_000);
    }

    #[test]
    fn a_listed_tool_becomes_a_tool_of_the_workspace() {
        let listing = Listing::of(vec![offered("echo")], false, None);
        let definition = listing.tools[0].to_tool("everything").define().unwrap();
        assert_eq!((definition.name.as_str(), definition.kind()), ("echo", Kind::Mcp));
        assert!(tool::check_definition(&definition).is_empty());
    }
}
