//! Rows of agents with tools: system prompts, calls, answers to calls, and calls that reviewers changed.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;

use common::{edit, mark, record};
use datalake::{
    Feedback, FeedbackRecord, InteractionRecord, Message, Role, Source,
    export::{self, FileFormat, Format, Inputs, Manifest, Options},
};
use domain::message::ToolCall;
use serde_json::{Value, json};
use std::{fs, path::Path};

fn tool(name: &str, description: &str) -> Value {
    let parameters = json!({ "type": "object", "properties": { "to": { "type": "string" } } });
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": parameters } })
}

fn call(id: &str, name: &str, arguments: &Value) -> ToolCall {
    ToolCall::new(id, name, arguments.as_object().unwrap().clone())
}

/// Returns a captured call of a tool with the conversation before it.
fn proposed(id: &str, seconds: i64, to: &str) -> InteractionRecord {
    let looked = call(&format!("look-{id}"), "find", &json!({ "name": "Ann" }));
    let mut record =
        record(id, seconds, "Greet Ann.", &json!({ "toolName": "send", "toolInput": { "to": to } }).to_string());
    record.prompt.insert(0, Message::new(Role::System, "You write mail."));
    record.prompt.extend([Message::calling(vec![looked.clone()]), Message::answering(&looked, "ann@a.test")]);
    record.tools = Some(vec![tool("find", "Finds people."), tool("send", "Sends mail.")]);
    record.tool_call_id = Some(format!("send-{id}"));
    record
}

fn exported(
    records: Vec<InteractionRecord>,
    feedback: Vec<FeedbackRecord>,
    options: &Options,
    folder: &Path,
) -> (Manifest, String) {
    let inputs = Inputs {
        interactions: Box::new(records.into_iter().map(Ok)),
        feedback: Box::new(feedback.into_iter().map(Ok)),
        rating: Box::new(|_| Ok(None)),
    };
    let manifest = export::export(inputs, options, folder, &mut |_| true).unwrap().manifest;
    let text = fs::read_to_string(folder.join(format!("{}.jsonl", options.format.as_str()))).unwrap_or_default();
    (manifest, text)
}

fn rows(format: Format, records: Vec<InteractionRecord>, feedback: Vec<FeedbackRecord>) -> Vec<Value> {
    let folder = tempfile::tempdir().unwrap();
    let (_, text) = exported(records, feedback, &Options::new(format, FileFormat::Jsonl), folder.path());
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn called(id: &str, to: &str) -> Value {
    let call = json!({ "id": id, "type": "function", "function": { "name": "send", "arguments": { "to": to } } });
    json!([{ "role": "assistant", "content": "", "tool_calls": [call] }])
}

fn judged() -> (Vec<InteractionRecord>, Vec<FeedbackRecord>) {
    let records =
        vec![proposed("good", 0, "ann@a.test"), proposed("bad", 1, "bob@a.test"), proposed("edited", 2, "eve@a.test")];
    let edited = json!({ "toolName": "send", "toolInput": { "to": "ann@b.test" } }).to_string();
    let feedback = vec![
        mark("good", 9, Feedback::Positive, Source::Reviewer),
        mark("bad", 9, Feedback::Negative, Source::Reviewer),
        edit("edited", 9, &edited),
    ];
    (records, feedback)
}

#[test]
fn an_approved_call_is_a_positive_a_denied_one_a_negative_and_an_edited_one_is_both() {
    let (records, feedback) = judged();
    let kto = rows(Format::Kto, records.clone(), feedback.clone());
    let found: Vec<_> = kto.iter().map(|row| (row["completion"].clone(), row["label"] == true)).collect();
    let expected = [
        (called("send-good", "ann@a.test"), true),
        (called("send-bad", "bob@a.test"), false),
        (called("send-edited", "ann@b.test"), true),
        (called("send-edited", "eve@a.test"), false),
    ];
    assert_eq!(found, expected);

    let dpo = rows(Format::Dpo, records.clone(), feedback.clone());
    let found: Vec<_> = dpo.iter().map(|row| (row["chosen"].clone(), row["rejected"].clone())).collect();
    // The first two have the same prompt, although the ids of its calls differ.
    let compared = (called("send-good", "ann@a.test"), called("send-bad", "bob@a.test"));
    assert_eq!(found, [compared, (called("send-edited", "ann@b.test"), called("send-edited", "eve@a.test"))]);

    let sft = rows(Format::Sft, records, feedback);
    let last: Vec<_> = sft.iter().map(|row| row["messages"].as_array().unwrap().last().unwrap().clone()).collect();
    assert_eq!(last, [called("send-good", "ann@a.test")[0].clone(), called("send-edited", "ann@b.test")[0].clone()]);
}

#[test]
fn a_row_has_the_system_prompt_the_steps_and_the_tools_where_they_are_known() {
    let (records, feedback) = judged();
    let row = rows(Format::Kto, records, feedback).remove(0);
    let look = json!({ "id": "look-good", "type": "function", "function": { "name": "find", "arguments": { "name": "Ann" } } });
    let prompt = json!([
        { "role": "system", "content": "You write mail." },
        { "role": "user", "content": "Greet Ann." },
        { "role": "assistant", "content": "", "tool_calls": [look] },
        { "role": "tool", "content": "ann@a.test", "tool_call_id": "look-good", "name": "find" },
    ]);
    assert_eq!(row["prompt"], prompt);
    assert_eq!(row["tools"], json!([tool("find", "Finds people."), tool("send", "Sends mail.")]));
    // Unknown tools and no tools are different.
    let without = |tools: Option<Vec<Value>>| InteractionRecord { tools, ..record("a", 0, "Hi", "Hello") };
    let good = || vec![mark("a", 9, Feedback::Positive, Source::Manual)];
    assert_eq!(rows(Format::Sft, vec![without(None)], good())[0]["tools"], Value::Null);
    assert_eq!(rows(Format::Sft, vec![without(Some(Vec::new()))], good())[0]["tools"], json!([]));
}

#[test]
fn agents_with_other_tools_or_instructions_make_no_pair() {
    let (records, feedback) = judged();
    let pair = || vec![records[0].clone(), records[1].clone()];
    assert_eq!(rows(Format::Dpo, pair(), feedback.clone()).len(), 1);
    let mut other_tools = pair();
    other_tools[1].tools = None;
    assert_eq!(rows(Format::Dpo, other_tools, feedback.clone()).len(), 0);
    let mut other_system = pair();
    other_system[1].prompt[0].content = "You write letters.".to_owned();
    assert_eq!(rows(Format::Dpo, other_system, feedback).len(), 0);
}

#[test]
fn both_kinds_of_files_have_the_columns_of_the_manifest() {
    let (records, feedback) = judged();
    for format in Format::ALL {
        let columns: Vec<&str> = format.columns().iter().map(|(name, _)| *name).collect();
        for row in rows(format, records.clone(), feedback.clone()) {
            let mut names: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
            names.sort_unstable();
            let mut expected = columns.clone();
            expected.sort_unstable();
            assert_eq!(names, expected);
        }
        let folder = tempfile::tempdir().unwrap();
        let options = Options::new(format, FileFormat::Parquet);
        let (manifest, _) = exported(records.clone(), feedback.clone(), &options, folder.path());
        let described: Vec<_> = manifest.columns.iter().map(|column| column.name).collect();
        assert_eq!(described, columns);
    }
}

#[test]
fn secrets_leave_system_prompts_arguments_answers_of_tools_and_schemas() {
    let token = format!("{}_{}", "ghp", "A1b2C3d4E5f6A1b2C3d4E5f6A1b2C3d4E5f6");
    let key = format!("-----BEGIN {0} KEY-----\nMIIEpAIBAAKCAQEA7\n-----END {0} KEY-----", "RSA PRIVATE");
    let mut records = vec![proposed("a", 0, "ann@a.test")];
    let record = &mut records[0];
    record.prompt[0].content = format!("Use {token} to sign in.");
    let arguments = json!({
        "password": "hunter22x", "nested": { "list": [token, { "db_password": "tr0ub4dor" }] }, "pem": key, "pin": 12,
        "text": "nothing secret", "flag": true,
    });
    let looked = call("look", "find", &arguments);
    record.prompt[2] = Message::calling(vec![looked.clone()]);
    record.prompt[3] = Message::answering(&looked, format!("token is {token}"));
    record.response =
        json!({ "toolName": "send", "toolInput": { "api_key": "s3cr3tvalue99", "to": "ann" } }).to_string();
    record.tools = Some(vec![tool("send", &format!("Sends. Example token: {token}"))]);
    let feedback = vec![mark("a", 9, Feedback::Positive, Source::Reviewer)];
    for format in [Format::Sft, Format::Kto] {
        let folder = tempfile::tempdir().unwrap();
        let options = Options::new(format, FileFormat::Jsonl);
        let (manifest, text) = exported(records.clone(), feedback.clone(), &options, folder.path());
        assert_eq!(manifest.counts.rows, 1);
        for secret in [token.as_str(), "hunter22x", "tr0ub4dor", "MIIEpAIBAAKCAQEA7", "s3cr3tvalue99"] {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
        let row: Value = serde_json::from_str(&text).unwrap();
        let messages = if format == Format::Sft { &row["messages"] } else { &row["prompt"] };
        let arguments = &messages[2]["tool_calls"][0]["function"]["arguments"];
        assert_eq!((&arguments["text"], &arguments["flag"]), (&json!("nothing secret"), &json!(true)));
        assert_eq!((&arguments["pin"], &row["tools"][0]["function"]["name"]), (&json!(12), &json!("send")));
    }
}
