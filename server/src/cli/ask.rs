//! `shiftbook ask --session ID FILE`: asks people in the middle of a session, for scripts.

use super::common::{Failure, print_line};
use clap::builder::NonEmptyStringValueParser;
use client::Client;
use domain::{gate::canonical_digest, id::SessionId, limit::DOCUMENT_BYTES_MAX};
use serde_json::{
    Value,
    value::{RawValue, to_raw_value},
};
use std::{collections::BTreeMap, io::Read, path::PathBuf};
use wire::feedback_request::AskFeedback;

/// Options of `ask`.
#[derive(Debug, clap::Args)]
pub struct AskArgs {
    /// The request, as YAML or JSON: `message`, and `fields`, `requestedSchema` or `viewId`; `-` reads it from stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Session that asks
    #[arg(long, env = "SHIFTBOOK_SESSION_ID", value_name = "ID")]
    session: SessionId,
    /// Attempt of the claim
    #[arg(long, env = "SHIFTBOOK_ATTEMPT", value_name = "NUMBER")]
    attempt: u32,
    /// Address of the server
    #[arg(long, env = "SHIFTBOOK_URL", default_value = "http://127.0.0.1:4210", value_parser = NonEmptyStringValueParser::new())]
    url: String,
    /// API token of a worker; set it in the environment
    #[arg(long, env = "SHIFTBOOK_TOKEN", hide_env_values = true, value_parser = NonEmptyStringValueParser::new())]
    token: Option<String>,
}

/// Runs the command. Prints the answer of the API as one line of JSON.
pub async fn run(args: AskArgs) -> Result<(), Failure> {
    let Some(token) = &args.token else {
        return Err(Failure::Misused("set SHIFTBOOK_TOKEN to the token of a worker".into()));
    };
    let ask = request(&read(&args.file)?, args.attempt).map_err(Failure::Misused)?;
    let client = Client::new(&args.url, token).map_err(|error| Failure::Misused(error.to_string()))?;
    let asked = client.ask_feedback(args.session, &ask).await;
    let asked = asked.map_err(|error| Failure::Failed(error.to_string()))?;
    print_line(&serde_json::to_string(&asked).map_err(|error| Failure::Failed(error.to_string()))?)
}

fn read(file: &PathBuf) -> Result<String, Failure> {
    let mut text = String::new();
    let most = DOCUMENT_BYTES_MAX as u64 + 1;
    let read = if file.as_os_str() == "-" {
        std::io::stdin().take(most).read_to_string(&mut text)
    } else {
        std::fs::File::open(file).and_then(|open| open.take(most).read_to_string(&mut text))
    };
    read.map_err(Failure::io(format!("cannot read {}", file.display())))?;
    Ok(text)
}

/// The request of a file. Without a key of its own, its content is the key, so that a script that asks the same again
/// makes no second request.
fn request(text: &str, attempt: u32) -> Result<AskFeedback, String> {
    if text.len() > DOCUMENT_BYTES_MAX {
        return Err(format!("the request has more than {DOCUMENT_BYTES_MAX} bytes"));
    }
    let wrong = |error: &dyn std::fmt::Display| format!("not a request: {error}");
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(_) => serde_saphyr::from_str(text).map_err(|error| wrong(&error))?,
    };
    let written = value.to_string();
    // JSON is passed on as it is written: the order of a schema's properties is the order of the form.
    let text = if serde_json::from_str::<Value>(text).is_ok() { text } else { &written };
    let mut body: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).map_err(|error| wrong(&error))?;
    let raw = |value: &Value| to_raw_value(value).map_err(|error| wrong(&error));
    let key = raw(&canonical_digest(&value).to_string().into())?;
    body.entry("idempotencyKey".into()).or_insert(key);
    body.insert("attempt".into(), raw(&attempt.into())?);
    let whole = to_raw_value(&body).map_err(|error| wrong(&error))?;
    serde_json::from_str(whole.get()).map_err(|error| wrong(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_from_yaml_and_from_json() {
        let yaml = "message: Where to?\nblocking: false\nfields:\n  - { key: a, label: A?, type: yes_no }\n";
        let json = r#"{"message":"Where to?","blocking":false,"fields":[{"key":"a","label":"A?","type":"yes_no"}]}"#;
        let (a, b) = (request(yaml, 2).unwrap(), request(json, 2).unwrap());
        assert_eq!((a.message.as_str(), a.blocking, a.attempt), ("Where to?", Some(false), 2));
        assert_eq!((&a.idempotency_key, a.idempotency_key.len()), (&b.idempotency_key, 64));
        assert!(request(r#"{"message":"x","colour":"red"}"#, 1).unwrap_err().contains("colour"));
    }
}
