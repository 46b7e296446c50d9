//! Leaves pictures out of values that are too large for an event.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Shortest encoded picture that is left out, bytes.
const WORTH_LEAVING_OUT_BYTES: usize = 1024;

/// The value without the bytes of its pictures and other files in Base64. In their place are their media type, their
/// size in bytes and their SHA-256: as fields of the block of Anthropic's API and of MCP, as text of a `data:` URL.
pub fn without_pictures(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_pictures).collect(),
        Value::Object(fields) => block(fields).unwrap_or_else(|| {
            Value::Object(fields.iter().map(|(name, field)| (name.clone(), without_pictures(field))).collect())
        }),
        Value::String(text) => data_url(text).map_or_else(|| value.clone(), Value::String),
        _ => value.clone(),
    }
}

/// An object that holds a file: `{"type": "base64", "media_type": …, "data": …}` or `{"data": …, "mimeType": …}`.
fn block(fields: &Map<String, Value>) -> Option<Value> {
    let media_type = ["media_type", "mimeType", "mediaType"].into_iter().find(|name| fields.contains_key(*name))?;
    let (bytes, digest) = measured(fields.get("data")?.as_str()?)?;
    let mut kept = fields.clone();
    kept.remove("data");
    kept.insert(media_type.to_owned(), fields.get(media_type).cloned().unwrap_or_default());
    kept.extend([
        ("notRecorded".into(), json!(true)),
        ("bytes".into(), json!(bytes)),
        ("sha256".into(), json!(digest)),
    ]);
    Some(Value::Object(kept))
}

fn data_url(text: &str) -> Option<String> {
    let (media_type, data) = text.strip_prefix("data:")?.split_once(";base64,")?;
    let (bytes, digest) = measured(data)?;
    Some(format!("[{media_type}, {bytes} bytes, SHA-256 {digest}: not recorded]"))
}

/// Size and SHA-256 of an encoded file; `None` if it is small or not Base64.
fn measured(data: &str) -> Option<(usize, String)> {
    if data.len() < WORTH_LEAVING_OUT_BYTES {
        return None;
    }
    let bytes = STANDARD.decode(data).ok()?;
    let digest = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Some((bytes.len(), digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_in_base64_are_left_out_in_every_form_and_nothing_else() {
        let data = STANDARD.encode(vec![7; 3_000]);
        let digest = measured(&data).unwrap().1;
        let kept = without_pictures(&json!([
            { "type": "image", "source": { "type": "base64", "media_type": "image/png", "data": data } },
            { "type": "image", "data": data, "mimeType": "image/jpeg" },
            { "url": format!("data:image/webp;base64,{data}") },
            { "data": data, "note": "no file" },
            { "data": "AAAA", "mimeType": "image/png" },
        ]));
        let file = |media_type: &str, name: &str| json!({ name: media_type, "notRecorded": true, "bytes": 3_000, "sha256": digest });
        let mut first = file("image/png", "media_type");
        first["type"] = "base64".into();
        let mut second = file("image/jpeg", "mimeType");
        second["type"] = "image".into();
        assert_eq!(kept[0], json!({ "type": "image", "source": first }));
        assert_eq!(kept[1], second);
        assert_eq!(kept[2]["url"], format!("[image/webp, 3000 bytes, SHA-256 {digest}: not recorded]"));
        assert_eq!(kept[3], json!({ "data": data, "note": "no file" }));
        assert_eq!(kept[4], json!({ "data": "AAAA", "mimeType": "image/png" }));
    }
}
