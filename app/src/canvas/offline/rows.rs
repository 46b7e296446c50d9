//! The database of waiting and rejected changes, and of typed texts. A row names its place: workspace, person and
//! canvas. Another person who signs in with this browser neither sees nor sends it.

use crate::browser::{
    database::{Failed, answer, commit, opened},
    dom,
};
use idb::{Database, Error, IndexParams, KeyPath, ObjectStoreParams, Query, Transaction, TransactionMode};
use std::rc::Rc;
use wasm_bindgen::JsValue;

const DATABASE: &str = "shiftbook-canvas";
const CHANGES: &str = "changes";
const TEXTS: &str = "texts";
const BY_PLACE: &str = "by_place";

/// A change in the database.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Id of the tab that sends it.
    pub tab: String,
    /// Its place in the order of this browser.
    pub number: f64,
    /// Id of the change.
    pub op_id: String,
    /// The patch as JSON.
    pub json: String,
    /// Why the server rejected it; empty while it waits.
    pub rejected: String,
}

/// A text that was typed and is in no change yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// Place of the text in the document, as a JSON Pointer.
    pub path: String,
    /// What is in its field.
    pub text: String,
}

async fn database() -> Result<Rc<Database>, Failed> {
    Ok(opened(DATABASE, 1, create).await?)
}

fn create(database: &Database) -> Result<(), Error> {
    for name in [CHANGES, TEXTS] {
        let mut params = ObjectStoreParams::new();
        params.key_path(Some(KeyPath::new_single("key")));
        let store = database.create_object_store(name, params)?;
        store.create_index(BY_PLACE, KeyPath::new_single("place"), Some(IndexParams::new()))?;
    }
    Ok(())
}

async fn begin(store: &str, mode: TransactionMode) -> Result<Transaction, Failed> {
    Ok(database().await?.transaction(&[store], mode)?)
}

fn key(place: &str, name: &str) -> String {
    [place, name].join("\n")
}

fn object(place: &str, row: &Row) -> JsValue {
    let members = [
        ("key", key(place, &row.op_id)),
        ("place", place.to_owned()),
        ("tab", row.tab.clone()),
        ("op_id", row.op_id.clone()),
        ("json", row.json.clone()),
        ("rejected", row.rejected.clone()),
    ];
    let members: Vec<(&str, &str)> = members.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let object = dom::object(&members);
    let _ = js_sys::Reflect::set(&object, &"number".into(), &row.number.into());
    object
}

fn row(object: &JsValue) -> Option<Row> {
    Some(Row {
        tab: dom::text(object, "tab")?,
        number: dom::number(object, "number")?,
        op_id: dom::text(object, "op_id")?,
        json: dom::text(object, "json")?,
        rejected: dom::text(object, "rejected")?,
    })
}

async fn of_place<T>(store: &str, place: &str, read: fn(&JsValue) -> Option<T>) -> Result<Vec<T>, Failed> {
    let transaction = begin(store, TransactionMode::ReadOnly).await?;
    let index = transaction.object_store(store)?.index(BY_PLACE)?;
    let found = answer(index.get_all(Some(Query::Key(place.into())), None)?).await?;
    Ok(js_sys::Array::from(&found).iter().filter_map(|object| read(&object)).collect())
}

/// All changes of a place, in order.
pub async fn all(place: &str) -> Result<Vec<Row>, Failed> {
    let mut rows: Vec<Row> = Vec::new();
    // They are few, and a sort is much code.
    for row in of_place(CHANGES, place, row).await? {
        rows.insert(rows.partition_point(|other| other.number <= row.number), row);
    }
    Ok(rows)
}

/// Writes changes and removes others, in one transaction.
pub async fn write(place: &str, put: &[Row], gone: &[String]) -> Result<(), Failed> {
    let transaction = begin(CHANGES, TransactionMode::ReadWrite).await?;
    let store = transaction.object_store(CHANGES)?;
    for row in put {
        store.put(&object(place, row), None)?;
    }
    for op_id in gone {
        store.delete(JsValue::from_str(&key(place, op_id)))?;
    }
    commit(transaction).await
}

fn typed(object: &JsValue) -> Option<Typed> {
    Some(Typed { path: dom::text(object, "path")?, text: dom::text(object, "text")? })
}

/// The typed texts of a place.
pub async fn texts(place: &str) -> Result<Vec<Typed>, Failed> {
    of_place(TEXTS, place, typed).await
}

/// Writes typed texts; `None` removes the text at a path.
pub async fn write_texts(place: &str, texts: &[(String, Option<String>)]) -> Result<(), Failed> {
    let transaction = begin(TEXTS, TransactionMode::ReadWrite).await?;
    let store = transaction.object_store(TEXTS)?;
    for (path, text) in texts {
        let key = key(place, path);
        match text {
            Some(text) => {
                let members = [("key", key.as_str()), ("place", place), ("path", path), ("text", text)];
                store.put(&dom::object(&members), None)?;
            }
            None => _ = store.delete(JsValue::from_str(&key))?,
        }
    }
    commit(transaction).await
}
