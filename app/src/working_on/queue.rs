//! Events that wait for the server, in IndexedDB. Only in the WASM build.
//!
//! Rows are numbered by the database as they come, so those of one tab are in its order. A row names its
//! owner (workspace and person): another person's sign-in in this browser neither sees nor sends it.

use crate::browser::dom;
use idb::{Database, DatabaseEvent, Error, Factory, IndexParams, KeyPath, ObjectStoreParams, Query, TransactionMode};
use std::cell::RefCell;
use wasm_bindgen::JsValue;

/// Most events that wait in one browser, whoever they belong to.
pub const QUEUED_MAX: u32 = 5_000;
/// Most entities remembered as seen; beyond it memory starts anew and an entity may be named twice.
const SEEN_MAX: u32 = 5_000;

const DATABASE: &str = "shiftbook";
const WAITING: &str = "waiting";
const REFUSED: &str = "refused";
const SEEN: &str = "seen";
const BY_OWNER: &str = "by_owner";

/// An event that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its place.
    pub number: f64,
    /// The session it belongs to.
    pub session_id: String,
    /// The tab it was made in.
    pub tab: String,
    /// The event, as the API takes it.
    pub json: String,
}

/// What became of an event that was to be kept.
#[derive(Debug, Clone, PartialEq)]
pub enum Kept {
    /// It waits in this row.
    Waiting(Row),
    /// The entity was seen in this session before.
    Seen,
    /// There is no room.
    Full,
}

thread_local! {
    static OPENED: RefCell<Option<std::rc::Rc<Database>>> = const { RefCell::new(None) };
}

async fn database() -> Result<std::rc::Rc<Database>, Error> {
    if let Some(database) = OPENED.with_borrow(Clone::clone) {
        return Ok(database);
    }
    let mut request = Factory::new()?.open(DATABASE, Some(1))?;
    request.on_upgrade_needed(|event| {
        let _ = event.database().and_then(|database| create(&database));
    });
    let mut database = request.await?;
    // A newer version of the product in another tab must not wait for this one.
    database.on_version_change(|_| {
        if let Some(database) = OPENED.take() {
            database.close();
            // It holds the closure that runs right now.
            std::mem::forget(database);
        }
    });
    let database = std::rc::Rc::new(database);
    OPENED.set(Some(database.clone()));
    Ok(database)
}

fn create(database: &Database) -> Result<(), Error> {
    for (name, numbers) in [(WAITING, true), (REFUSED, false)] {
        let mut params = ObjectStoreParams::new();
        params.key_path(Some(KeyPath::new_single("number"))).auto_increment(numbers);
        let store = database.create_object_store(name, params)?;
        store.create_index(BY_OWNER, KeyPath::new_single("owner"), Some(IndexParams::new()))?;
    }
    database.create_object_store(SEEN, ObjectStoreParams::new())?;
    Ok(())
}

fn object(owner: &str, row: &Row) -> JsValue {
    let object = dom::object(&[("owner", owner), ("session", &row.session_id), ("tab", &row.tab), ("json", &row.json)]);
    if row.number > 0.0 {
        let _ = js_sys::Reflect::set(&object, &"number".into(), &row.number.into());
    }
    object
}

fn row(object: &JsValue) -> Option<Row> {
    Some(Row {
        number: dom::number(object, "number")?,
        session_id: dom::text(object, "session")?,
        tab: dom::text(object, "tab")?,
        json: dom::text(object, "json")?,
    })
}

fn of(owner: &str) -> Option<Query> {
    Some(Query::Key(owner.into()))
}

/// Keeps an event: it is on disk when this returns. `seen` names what may be recorded once in its session.
pub async fn keep(owner: &str, mut row: Row, seen: Option<&str>) -> Result<Kept, Error> {
    let transaction = database().await?.transaction(&[WAITING, SEEN], TransactionMode::ReadWrite)?;
    let waiting = transaction.object_store(WAITING)?;
    if waiting.count(None)?.await? >= QUEUED_MAX {
        return Ok(Kept::Full);
    }
    if let Some(entity) = seen {
        let store = transaction.object_store(SEEN)?;
        let key = JsValue::from_str(&[&row.session_id, " ", entity].concat());
        if store.get(key.clone())?.await?.is_some() {
            return Ok(Kept::Seen);
        }
        if store.count(None)?.await? >= SEEN_MAX {
            store.clear()?.await?;
        }
        store.put(&JsValue::TRUE, Some(&key))?.await?;
    }
    let number = waiting.add(&object(owner, &row), None)?.await?;
    transaction.commit()?.await?;
    row.number = number.as_f64().unwrap_or_default();
    Ok(Kept::Waiting(row))
}

/// How many of this owner's events wait.
pub async fn count(owner: &str) -> Result<u32, Error> {
    let transaction = database().await?.transaction(&[WAITING], TransactionMode::ReadOnly)?;
    transaction.object_store(WAITING)?.index(BY_OWNER)?.count(of(owner))?.await
}

/// The first of this owner's events, in order.
pub async fn first(owner: &str, rows_max: u32) -> Result<Vec<Row>, Error> {
    let transaction = database().await?.transaction(&[WAITING], TransactionMode::ReadOnly)?;
    let found = transaction.object_store(WAITING)?.index(BY_OWNER)?.get_all(of(owner), Some(rows_max))?.await?;
    Ok(found.iter().filter_map(row).collect())
}

/// Forgets events that the server has.
pub async fn recorded(rows: &[Row]) -> Result<(), Error> {
    let transaction = database().await?.transaction(&[WAITING], TransactionMode::ReadWrite)?;
    let waiting = transaction.object_store(WAITING)?;
    for row in rows {
        waiting.delete(JsValue::from_f64(row.number))?;
    }
    transaction.commit()?.await?;
    Ok(())
}

/// Sets an event aside that the server will never take.
pub async fn refuse(owner: &str, row: &Row) -> Result<(), Error> {
    let transaction = database().await?.transaction(&[WAITING, REFUSED], TransactionMode::ReadWrite)?;
    transaction.object_store(REFUSED)?.put(&object(owner, row), None)?;
    transaction.object_store(WAITING)?.delete(JsValue::from_f64(row.number))?;
    transaction.commit()?.await?;
    Ok(())
}

/// What was set aside of this owner's.
pub async fn refused(owner: &str) -> Result<Vec<Row>, Error> {
    let transaction = database().await?.transaction(&[REFUSED], TransactionMode::ReadOnly)?;
    let found = transaction.object_store(REFUSED)?.index(BY_OWNER)?.get_all(of(owner), None)?.await?;
    Ok(found.iter().filter_map(row).collect())
}

/// Forgets what was set aside, because the person has read that it was.
pub async fn forget_refused(rows: &[Row]) -> Result<(), Error> {
    let transaction = database().await?.transaction(&[REFUSED], TransactionMode::ReadWrite)?;
    let store = transaction.object_store(REFUSED)?;
    for row in rows {
        store.delete(JsValue::from_f64(row.number))?;
    }
    transaction.commit()?.await?;
    Ok(())
}
