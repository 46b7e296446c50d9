//! Events that wait for the server, in IndexedDB. Only in the WASM build.
//!
//! Rows are numbered by the database as they come, so those of one tab are in its order. A row names its
//! owner (workspace and person): another person's sign-in in this browser neither sees nor sends it.

use crate::browser::dom;
use idb::{
    Database, DatabaseEvent, Error, Factory, IndexParams, KeyPath, ObjectStoreParams, Query, Transaction,
    TransactionMode,
};
use std::cell::RefCell;
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

/// Most events that wait in one browser, whoever they belong to.
pub const QUEUED_MAX: u32 = 5_000;
/// Most entities remembered as seen; beyond it memory starts anew and an entity may be named twice.
const SEEN_MAX: f64 = 5_000.0;

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

/// What became of events that were to be kept.
#[derive(Debug, Clone, PartialEq)]
pub enum Kept {
    /// They wait in these rows.
    Waiting(Vec<Row>),
    /// There is no room, and none of them is kept.
    Full,
}

/// All of an owner's events.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Those that wait, in order.
    pub waiting: Vec<Row>,
    /// Those that were set aside.
    pub refused: Vec<Row>,
}

/// The browser's database refused, or there is none.
#[derive(Debug, Clone, Copy)]
pub struct Failed;

impl From<Error> for Failed {
    fn from(_: Error) -> Self {
        Self
    }
}

thread_local! {
    static OPENED: RefCell<Option<std::rc::Rc<Database>>> = const { RefCell::new(None) };
}

async fn database() -> Result<std::rc::Rc<Database>, Failed> {
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

/// Waits for the event `good` of a request or a transaction; fails with the event `bad`. The promise's own functions
/// listen, so nothing of ours runs before the one that is waited for.
async fn heard(target: &JsValue, good: &str, bad: &str) -> Result<(), Failed> {
    let promise = js_sys::Promise::new(&mut |resolve, reject| {
        let _ = js_sys::Reflect::set(target, &good.into(), &resolve);
        let _ = js_sys::Reflect::set(target, &bad.into(), &reject);
    });
    JsFuture::from(promise).await.map(drop).map_err(|_| Failed)
}

/// Waits for the answer to a request. Those of a transaction are answered in order: with this one, all before it are.
async fn answer(request: impl Into<JsValue>) -> Result<JsValue, Failed> {
    let request = request.into();
    heard(&request, "onsuccess", "onerror").await?;
    Ok(result(&request))
}

/// What a request was answered.
fn result(request: &JsValue) -> JsValue {
    dom::member(request, "result")
}

fn rows(found: &JsValue) -> Vec<Row> {
    js_sys::Array::from(found).iter().filter_map(|object| row(&object)).collect()
}

/// Ends a transaction: what it wrote is kept when this returns, and nothing of it where it fails.
async fn commit(transaction: Transaction) -> Result<(), Failed> {
    heard(&transaction.commit()?.into(), "oncomplete", "onabort").await
}

async fn begin(stores: &[&str], mode: TransactionMode) -> Result<Transaction, Failed> {
    Ok(database().await?.transaction(stores, mode)?)
}

/// Keeps what one page made, all of it or nothing: `always`, and what is recorded `once` under a name. With `look` it
/// also says what there is then: the first page of a tab wants to know.
///
/// The main thread is what this costs, an event of the database at a time. So everything is asked for at once,
/// and two answers are listened to: the one that decides, and that it is kept.
pub async fn keep(
    owner: &str,
    always: Row,
    once: Option<(String, Row)>,
    look: bool,
) -> Result<(Kept, Option<Found>), Failed> {
    let stores = if look { &[WAITING, SEEN, REFUSED][..] } else { &[WAITING, SEEN] };
    let transaction = begin(stores, TransactionMode::ReadWrite).await?;
    let (waiting, memory) = (transaction.object_store(WAITING)?, transaction.object_store(SEEN)?);
    let add = |row: Row| Ok::<_, Failed>((JsValue::from(waiting.add(&object(owner, &row), None)?), row));
    let mut added = vec![add(always)?];
    let once = match once {
        None => None,
        Some((name, row)) => {
            let name = JsValue::from_str(&name);
            let (size, found) = (JsValue::from(memory.count(None)?), JsValue::from(memory.get(name.clone())?));
            Some((name, row, size, found))
        }
    };
    let mut count = answer(waiting.count(None)?).await?.as_f64().unwrap_or(f64::MAX);
    if let Some((name, row, size, found)) = once
        && result(&found).is_undefined()
    {
        if result(&size).as_f64() >= Some(SEEN_MAX) {
            memory.clear()?;
        }
        memory.put(&JsValue::TRUE, Some(&name))?;
        added.push(add(row)?);
        count += 1.0;
    }
    if count > f64::from(QUEUED_MAX) {
        transaction.abort()?;
        return Ok((Kept::Full, None));
    }
    let asked = if look { Some(ask_all(&transaction, owner)?) } else { None };
    commit(transaction).await?;
    let numbered =
        |(request, row): (JsValue, Row)| Row { number: result(&request).as_f64().unwrap_or_default(), ..row };
    Ok((Kept::Waiting(added.into_iter().map(numbered).collect()), asked.map(Found::of)))
}

/// Asks for all of this owner's events; the answers are there when the transaction is over.
fn ask_all(transaction: &Transaction, owner: &str) -> Result<[JsValue; 2], Failed> {
    let of_store = |name| Ok::<_, Failed>(transaction.object_store(name)?.index(BY_OWNER)?.get_all(of(owner), None)?);
    Ok([of_store(WAITING)?.into(), of_store(REFUSED)?.into()])
}

impl Found {
    fn of([waiting, refused]: [JsValue; 2]) -> Self {
        Self { waiting: rows(&result(&waiting)), refused: rows(&result(&refused)) }
    }
}

/// How many of this owner's events wait.
pub async fn count(owner: &str) -> Result<u32, Failed> {
    let transaction = begin(&[WAITING], TransactionMode::ReadOnly).await?;
    let count = answer(transaction.object_store(WAITING)?.index(BY_OWNER)?.count(of(owner))?).await?;
    Ok(count.as_f64().unwrap_or_default() as u32)
}

/// The first of this owner's events, in order.
pub async fn first(owner: &str, rows_max: u32) -> Result<Vec<Row>, Failed> {
    let transaction = begin(&[WAITING], TransactionMode::ReadOnly).await?;
    let found = answer(transaction.object_store(WAITING)?.index(BY_OWNER)?.get_all(of(owner), Some(rows_max))?).await?;
    Ok(rows(&found))
}

/// All of this owner's events.
pub async fn all(owner: &str) -> Result<Found, Failed> {
    let transaction = begin(&[WAITING, REFUSED], TransactionMode::ReadOnly).await?;
    let asked = ask_all(&transaction, owner)?;
    commit(transaction).await?;
    Ok(Found::of(asked))
}

/// Forgets events that the server has. How many of this owner's still wait.
pub async fn recorded(owner: &str, sent: &[Row]) -> Result<u32, Failed> {
    forget(begin(&[WAITING], TransactionMode::ReadWrite).await?, WAITING, owner, sent).await
}

/// Ends with how many of this owner's are left in the store.
async fn forget(transaction: Transaction, store: &str, owner: &str, gone: &[Row]) -> Result<u32, Failed> {
    let store = transaction.object_store(store)?;
    for row in gone {
        store.delete(JsValue::from_f64(row.number))?;
    }
    let left = JsValue::from(store.index(BY_OWNER)?.count(of(owner))?);
    commit(transaction).await?;
    Ok(result(&left).as_f64().unwrap_or_default() as u32)
}

/// Sets an event aside that the server will never take. How many of this owner's still wait.
pub async fn refuse(owner: &str, row: &Row) -> Result<u32, Failed> {
    let transaction = begin(&[WAITING, REFUSED], TransactionMode::ReadWrite).await?;
    transaction.object_store(REFUSED)?.put(&object(owner, row), None)?;
    forget(transaction, WAITING, owner, std::slice::from_ref(row)).await
}

/// What was set aside of this owner's.
pub async fn refused(owner: &str) -> Result<Vec<Row>, Failed> {
    Ok(all(owner).await?.refused)
}

/// Forgets what was set aside, because the person has read that it was.
pub async fn forget_refused(owner: &str, read: &[Row]) -> Result<(), Failed> {
    let transaction = begin(&[REFUSED], TransactionMode::ReadWrite).await?;
    forget(transaction, REFUSED, owner, read).await.map(drop)
}
