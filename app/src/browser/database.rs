//! The page's IndexedDB connection, and the results of requests to it.

use super::dom;
use idb::{Database, DatabaseEvent as _, Error, Factory, Transaction};
use std::{cell::RefCell, rc::Rc};
use wasm_bindgen::JsValue;
use wasm_bindgen_futures::JsFuture;

thread_local! {
    /// The open databases of the page, by name.
    static OPENED: RefCell<Vec<(&'static str, Rc<Database>)>> = const { RefCell::new(Vec::new()) };
}

/// The browser has no IndexedDB, or a request to it failed.
#[derive(Debug, Clone, Copy)]
pub struct Failed;

impl From<Error> for Failed {
    fn from(_: Error) -> Self {
        Self
    }
}

/// The database of this name, opened once per page. `create` makes the stores of a new one.
///
/// # Errors
/// The browser has no IndexedDB, or refuses to open the database.
pub async fn opened(
    name: &'static str,
    version: u32,
    create: fn(&Database) -> Result<(), Error>,
) -> Result<Rc<Database>, Error> {
    let known = |opened: &Vec<(&'static str, Rc<Database>)>| {
        opened.iter().find(|(other, _)| *other == name).map(|(_, database)| database.clone())
    };
    if let Some(database) = OPENED.with_borrow(known) {
        return Ok(database);
    }
    let mut request = Factory::new()?.open(name, Some(version))?;
    request.on_upgrade_needed(move |event| {
        let _ = event.database().and_then(|database| create(&database));
    });
    let mut database = request.await?;
    // Closes the database if another tab needs a newer schema, so that the upgrade is not blocked.
    database.on_version_change(move |_| {
        let closed: Vec<_> =
            OPENED.with_borrow_mut(|opened| opened.extract_if(.., |(other, _)| *other == name).collect());
        for (_, database) in closed {
            database.close();
            // The database owns the closure that is running, so it must not be dropped here.
            std::mem::forget(database);
        }
    });
    let database = Rc::new(database);
    OPENED.with_borrow_mut(|opened| opened.push((name, database.clone())));
    Ok(database)
}

/// Waits for the event `good` of a request or transaction; fails on the event `bad`. The resolve functions of the
/// promise are the listeners, so no other code runs before the awaiting task.
async fn heard(target: &JsValue, good: &str, bad: &str) -> Result<(), Failed> {
    let promise = js_sys::Promise::new(&mut |resolve, reject| {
        let _ = js_sys::Reflect::set(target, &good.into(), &resolve);
        let _ = js_sys::Reflect::set(target, &bad.into(), &reject);
    });
    JsFuture::from(promise).await.map(drop).map_err(|_| Failed)
}

/// Waits for the result of a request. The requests of a transaction complete in order, so all earlier ones are done
/// too.
///
/// # Errors
/// The request failed.
pub async fn answer(request: impl Into<JsValue>) -> Result<JsValue, Failed> {
    let request = request.into();
    heard(&request, "onsuccess", "onerror").await?;
    Ok(result(&request))
}

/// The result of a completed request.
pub fn result(request: &JsValue) -> JsValue {
    dom::member(request, "result")
}

/// Waits until a transaction has committed.
///
/// # Errors
/// It was aborted; nothing of it is stored.
pub async fn commit(transaction: Transaction) -> Result<(), Failed> {
    heard(&transaction.commit()?.into(), "oncomplete", "onabort").await
}
