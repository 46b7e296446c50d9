//! The ways to merge the texts of two people, each as small as a browser would need it. The WebAssembly module of each
//! feature is the weight that it adds, with that of `module-empty`.

use domain::canvas::{Document, Operation, Path};
use serde_json::json;

/// Where the text is in the canvas.
const TEXT: &str = "/blocks/b/text";

/// The canvas with one block of this text.
pub fn canvas(text: &str) -> Document {
    let document = json!({ "blocks": { "b": { "type": "text", "text": text, "order": "a0" } } });
    Document::read(&document.to_string()).unwrap_or_default()
}

/// The text of the block.
pub fn text_of(document: &Document) -> String {
    document.value().pointer(TEXT).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
}

/// The operation that replaces the text of the block, as an editor sends it.
pub fn replaced(text: &str) -> Vec<Operation> {
    let path = Path::parse(TEXT).unwrap_or_default();
    vec![Operation::Replace { path, value: json!(text) }]
}

/// Neither of them: what every module has.
#[cfg(feature = "module-empty")]
#[unsafe(no_mangle)]
pub extern "C" fn empty_weight(length: u32) -> u32 {
    "x".repeat(length as usize).chars().rev().collect::<String>().len() as u32
}

/// Makes a change and says how long the text is: what keeps the client of canvases in the module.
#[cfg(feature = "module-canvas")]
#[unsafe(no_mangle)]
pub extern "C" fn canvas_weight(length: u32) -> u32 {
    use domain::canvas::{Answer, Client, Committed};
    let mut client = Client::new("a", canvas(&"x".repeat(length as usize)), 1);
    let _ = client.edit(replaced("y"));
    let base = client.next_patch().map_or(0, |patch| patch.base);
    let (op_id, ops) = ("b:1".to_owned(), replaced("z"));
    let committed = Committed { sequence: 2, previous: 1, op_id, by: "b".to_owned(), ops, overwrote: Vec::new() };
    let _ = client.receive(&committed);
    let _ = client.answer("a:1", Answer::Committed(committed));
    let _ = client.undo();
    base as u32 + text_of(client.document()).len() as u32
}

/// The same with yrs.
#[cfg(feature = "module-yrs")]
#[unsafe(no_mangle)]
pub extern "C" fn yrs_weight(length: u32) -> u32 {
    use yrs::{
        Doc, GetString as _, ReadTxn as _, StateVector, Text as _, Transact as _, Update, updates::decoder::Decode as _,
    };
    let (one, other) = (Doc::with_client_id(1), Doc::with_client_id(2));
    let (text, copy) = (one.get_or_insert_text("t"), other.get_or_insert_text("t"));
    text.insert(&mut one.transact_mut(), 0, &"x".repeat(length as usize));
    text.remove_range(&mut one.transact_mut(), 0, 1);
    let update = one.transact().encode_diff_v1(&StateVector::default());
    if let Ok(update) = Update::decode_v1(&update) {
        let _ = other.transact_mut().apply_update(update);
    }
    copy.get_string(&other.transact()).len() as u32
}

/// The same with Loro.
#[cfg(feature = "module-loro")]
#[unsafe(no_mangle)]
pub extern "C" fn loro_weight(length: u32) -> u32 {
    use loro::{ExportMode, LoroDoc, VersionVector};
    let (one, other) = (LoroDoc::new(), LoroDoc::new());
    let (text, copy) = (one.get_text("t"), other.get_text("t"));
    let _ = text.insert(0, &"x".repeat(length as usize));
    let _ = text.delete(0, 1);
    if let Ok(update) = one.export(ExportMode::updates(&VersionVector::default())) {
        let _ = other.import(&update);
    }
    copy.to_string().len() as u32
}
