//! The page's IndexedDB connection.

use idb::{Database, DatabaseEvent as _, Error, Factory};
use std::{cell::RefCell, rc::Rc};

thread_local! {
    static OPENED: RefCell<Option<Rc<Database>>> = const { RefCell::new(None) };
}

/// The database of this name, opened once per page. `create` makes the stores of a new one.
///
/// # Errors
/// The browser has no IndexedDB, or refuses to open the database.
pub async fn opened(
    name: &str,
    version: u32,
    create: fn(&Database) -> Result<(), Error>,
) -> Result<Rc<Database>, Error> {
    if let Some(database) = OPENED.with_borrow(Clone::clone) {
        return Ok(database);
    }
    let mut request = Factory::new()?.open(name, Some(version))?;
    request.on_upgrade_needed(move |event| {
        let _ = event.database().and_then(|database| create(&database));
    });
    let mut database = request.await?;
    // Closes the database if another tab needs a newer schema, so that the upgrade is not blocked.
    database.on_version_change(|_| {
        if let Some(database) = OPENED.take() {
            database.close();
            // The database owns the closure that is running, so it must not be dropped here.
            std::mem::forget(database);
        }
    });
    let database = Rc::new(database);
    OPENED.set(Some(database.clone()));
    Ok(database)
}
