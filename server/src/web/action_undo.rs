//! Tasks that were just archived or restored, in the address of the list, which offers to change them back.

use super::search_line::non_empty;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{id::ActionId, limit::BULK_NAMED_MAX};
use uuid::Uuid;

/// Length of an id in an address.
const ID_BYTES: usize = 16;

/// The address of the list with the tasks that were changed. More than [`BULK_NAMED_MAX`] would make it too long, and
/// only the list of tasks reads them.
pub fn undoable(next: String, changed: &[ActionId]) -> String {
    if changed.is_empty() || changed.len() > BULK_NAMED_MAX || !next.starts_with("/actions") {
        return next;
    }
    let bytes: Vec<u8> = changed.iter().flat_map(|id| *id.0.as_bytes()).collect();
    let separator = if next.contains('?') { '&' } else { '?' };
    format!("{next}{separator}undo={}", URL_SAFE_NO_PAD.encode(bytes))
}

/// The tasks that an address names. What cannot be read is ignored.
pub fn undone_by(text: Option<&String>) -> Vec<String> {
    let bytes = URL_SAFE_NO_PAD.decode(non_empty(text).unwrap_or_default()).unwrap_or_default();
    let ids = bytes.chunks_exact(ID_BYTES).take(BULK_NAMED_MAX);
    ids.filter_map(|id| Some(Uuid::from_slice(id).ok()?.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_1_2_7_and_40_tasks_and_no_more_than_it_can_hold() {
        let ids = |count: usize| (0..count).map(|number| ActionId(Uuid::from_u128(number as u128))).collect::<Vec<_>>();
        for count in [1, 2, 7, 40, BULK_NAMED_MAX] {
            let address = undoable("/actions?q=tea".to_owned(), &ids(count));
            let named = address.strip_prefix("/actions?q=tea&undo=").unwrap().to_owned();
            let expected: Vec<String> = ids(count).iter().map(ToString::to_string).collect();
            assert_eq!(undone_by(Some(&named)), expected);
        }
        for (next, count) in [("/actions", 0), ("/actions", BULK_NAMED_MAX + 1), ("/today", 1)] {
            assert_eq!(undoable(next.to_owned(), &ids(count)), next);
        }
        assert!(undone_by(Some(&"!".to_owned())).is_empty() && undone_by(None).is_empty());
    }
}
