//! The queue of events that the server has not recorded yet, in IndexedDB. Only in the WASM build.
//!
//! The database numbers the rows, so the rows of one tab are in order. A row names its owner (workspace and person):
//! another person who signs in with this browser neither sees nor sends it.

use crate::browser::{
    database::{Failed, answer, commit, opened, result},
    dom,
};
use idb::{Database, Error, IndexParams, KeyPath, ObjectStoreParams, Query, Transaction, TransactionMode};
use wasm_bindgen::JsValue;

/// Most queued events in one browser, of all owners together.
pub const QUEUED_MAX: u32 = 5_000;
/// Most entities remembered as viewed. Beyond it the list is cleared, and an entity may be recorded twice in a
/// session.
const SEEN_MAX: f64 = 5_000.0;

const DATABASE: &str = "shiftbook";
const WAITING: &str = "waiting";
const REFUSED: &str = "refused";
const SEEN: &str = "seen";
const BY_OWNER: &str = "by_owner";

/// A queued event.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Number of the row in the database.
    pub number: f64,
    /// Id of the session it belongs to.
    pub session_id: String,
    /// Id of the tab that created it.
    pub tab: String,
    /// The event as JSON, in the form of the API.
    pub json: String,
}

/// The result of adding events to the queue.
#[derive(Debug, Clone, PartialEq)]
pub enum Added {
    /// They were added as these rows.
    Queued(Vec<Row>),
    /// The queue is full; none of them was added.
    Full,
}

/// All rows of an owner.
#[derive(Debug, Clone, PartialEq)]
pub struct Stored {
    /// Queued events, in order.
    pub waiting: Vec<Row>,
    /// Events that the server refused.
    pub refused: Vec<Row>,
}

async fn database() -> Result<std::rc::Rc<Database>, Failed> {
    Ok(opened(DATABASE, 1, create).await?)
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

fn rows(found: &JsValue) -> Vec<Row> {
    js_sys::Array::from(found).iter().filter_map(|object| row(&object)).collect()
}

async fn begin(stores: &[&str], mode: TransactionMode) -> Result<Transaction, Failed> {
    Ok(database().await?.transaction(stores, mode)?)
}

/// Queues the events of one page in one transaction: `always`, and `once` unless its name was queued before. With
/// `look` it also returns all rows of the owner, which the first page of a tab needs.
///
/// Each awaited database event costs main-thread time. So all requests are issued at once, and only two events are
/// awaited: the result that decides about `once`, and the commit.
pub async fn keep(
    owner: &str,
    always: Row,
    once: Option<(String, Row)>,
    look: bool,
) -> Result<(Added, Option<Stored>), Failed> {
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
        return Ok((Added::Full, None));
    }
    let asked = if look { Some(ask_all(&transaction, owner)?) } else { None };
    commit(transaction).await?;
    let numbered =
        |(request, row): (JsValue, Row)| Row { number: result(&request).as_f64().unwrap_or_default(), ..row };
    Ok((Added::Queued(added.into_iter().map(numbered).collect()), asked.map(Stored::of)))
}

/// Requests all rows of this owner. The results are available when the transaction has completed.
fn ask_all(transaction: &Transaction, owner: &str) -> Result<[JsValue; 2], Failed> {
    let of_store = |name| Ok::<_, Failed>(transaction.object_store(name)?.index(BY_OWNER)?.get_all(of(owner), None)?);
    Ok([of_store(WAITING)?.into(), of_store(REFUSED)?.into()])
}

impl Stored {
    fn of([waiting, refused]: [JsValue; 2]) -> Self {
        Self { waiting: rows(&result(&waiting)), refused: rows(&result(&refused)) }
    }
}

/// The number of queued events of this owner.
pub async fn count(owner: &str) -> Result<u32, Failed> {
    let transaction = begin(&[WAITING], TransactionMode::ReadOnly).await?;
    let count = answer(transaction.object_store(WAITING)?.index(BY_OWNER)?.count(of(owner))?).await?;
    Ok(count.as_f64().unwrap_or_default() as u32)
}

/// The first queued events of this owner, in order.
pub async fn first(owner: &str, rows_max: u32) -> Result<Vec<Row>, Failed> {
    let transaction = begin(&[WAITING], TransactionMode::ReadOnly).await?;
    let found = answer(transaction.object_store(WAITING)?.index(BY_OWNER)?.get_all(of(owner), Some(rows_max))?).await?;
    Ok(rows(&found))
}

/// All rows of this owner.
pub async fn all(owner: &str) -> Result<Stored, Failed> {
    let transaction = begin(&[WAITING, REFUSED], TransactionMode::ReadOnly).await?;
    let asked = ask_all(&transaction, owner)?;
    commit(transaction).await?;
    Ok(Stored::of(asked))
}

/// Deletes events that the server has recorded. Returns how many events of this owner remain queued.
pub async fn recorded(owner: &str, sent: &[Row]) -> Result<u32, Failed> {
    forget(begin(&[WAITING], TransactionMode::ReadWrite).await?, WAITING, owner, sent).await
}

/// Deletes rows. Returns how many rows of this owner remain in the store.
async fn forget(transaction: Transaction, store: &str, owner: &str, gone: &[Row]) -> Result<u32, Failed> {
    let store = transaction.object_store(store)?;
    for row in gone {
        store.delete(JsValue::from_f64(row.number))?;
    }
    let left = JsValue::from(store.index(BY_OWNER)?.count(of(owner))?);
    commit(transaction).await?;
    Ok(result(&left).as_f64().unwrap_or_default() as u32)
}

/// Moves an event that the server refused out of the queue. Returns how many events of this owner remain queued.
pub async fn refuse(owner: &str, row: &Row) -> Result<u32, Failed> {
    let transaction = begin(&[WAITING, REFUSED], TransactionMode::ReadWrite).await?;
    transaction.object_store(REFUSED)?.put(&object(owner, row), None)?;
    forget(transaction, WAITING, owner, std::slice::from_ref(row)).await
}

/// The refused events of this owner.
pub async fn refused(owner: &str) -> Result<Vec<Row>, Failed> {
    Ok(all(owner).await?.refused)
}

/// Deletes refused events after the person has dismissed them.
pub async fn forget_refused(owner: &str, read: &[Row]) -> Result<(), Failed> {
    let transaction = begin(&[REFUSED], TransactionMode::ReadWrite).await?;
    forget(transaction, REFUSED, owner, read).await.map(drop)
}
