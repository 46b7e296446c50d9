//! Ids that are made in the browser.

use super::dom;
use std::sync::atomic::{AtomicU64, Ordering};

/// Time of the newest id, milliseconds since 1970.
static NEWEST_MS: AtomicU64 = AtomicU64::new(0);

/// A new UUIDv7. Ids of one page are strictly increasing.
pub fn new_id() -> String {
    let now = (js_sys::Date::now() as u64).max(NEWEST_MS.load(Ordering::Relaxed) + 1);
    NEWEST_MS.store(now, Ordering::Relaxed);
    let mut random = [0_u8; 10];
    if let Ok(crypto) = dom::window().crypto() {
        let _ = crypto.get_random_values_with_u8_array(&mut random);
    }
    uuid::Builder::from_unix_timestamp_millis(now, &random).into_uuid().to_string()
}
