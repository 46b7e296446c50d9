//! The parts in which many sessions are changed, so that a page can show how far the change is.

use super::{bulk_address::BulkAddress, form::Form};
use app::sessions::BulkProgressProps;
use domain::{
    id::SessionId,
    limit::{BULK_AT_ONCE_MAX, BULK_PART},
};
use ledger::bulk::{BulkRequest, BulkSelection};

/// The request about the sessions of this part, and the sessions that are left for the next ones. A request about few
/// sessions, or about all of a search, has one part.
pub fn part(request: BulkRequest, is_later: bool) -> (BulkRequest, Vec<SessionId>) {
    match request.selection {
        BulkSelection::Chosen(mut ids) if ids.len() > BULK_AT_ONCE_MAX || (is_later && ids.len() > BULK_PART) => {
            let rest = ids.split_off(BULK_PART);
            (BulkRequest { selection: BulkSelection::Chosen(ids), ..request }, rest)
        }
        selection => (BulkRequest { selection, ..request }, Vec::new()),
    }
}

/// The page between two parts. Its form has the fields of this one, what happened so far, and the sessions that are
/// left.
pub fn progress(
    form: &Form,
    label: &str,
    (happened, rest): (&BulkAddress, &[SessionId]),
    (stop, script): (String, String),
) -> BulkProgressProps {
    let is_kept = |name: &str| name == "next" || name == "step";
    let mut fields: Vec<(String, String)> = form.typed().into_iter().filter(|(name, _)| is_kept(name)).collect();
    let so_far = happened.query();
    for query in [label, so_far.as_str()] {
        fields.extend(form_urlencoded::parse(query.as_bytes()).into_owned());
    }
    fields.extend(rest.iter().map(|id| ("session".to_owned(), id.to_string())));
    BulkProgressProps { fields, done: happened.total(), total: happened.total() + rest.len() as u64, stop, script }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Timestamp;
    use ledger::bulk::BulkChange;
    use std::collections::BTreeMap;

    fn request(count: u128) -> BulkRequest {
        let ids = (1..=count).map(|number| SessionId(uuid::Uuid::from_u128(number))).collect();
        BulkRequest { change: BulkChange::Cancel, selection: BulkSelection::Chosen(ids), preview: false }
    }

    fn sizes(count: u128, is_later: bool) -> (usize, usize) {
        let (first, rest) = part(request(count), is_later);
        match first.selection {
            BulkSelection::Chosen(ids) => (ids.len(), rest.len()),
            BulkSelection::Listed(_) => panic!("another selection"),
        }
    }

    #[test]
    fn few_sessions_are_one_part_and_many_are_several() {
        assert_eq!((sizes(1, false), sizes(100, false)), ((1, 0), (100, 0)));
        assert_eq!((sizes(101, false), sizes(51, true), sizes(50, true)), ((50, 51), (50, 1), (50, 0)));
    }

    #[test]
    fn the_next_part_knows_the_change_the_list_and_what_happened() {
        let form = [("next", "/sessions?q=tea"), ("step", "run"), ("session", "x")];
        let form = form.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let form = Form::of(BTreeMap::from(form));
        let at: Timestamp = "2026-11-30T09:00:00Z".parse().unwrap();
        let first = SessionId(uuid::Uuid::from_u128(7));
        let happened = BulkAddress { at, done: 40, already: 6, refused: 4, sessions: vec![first] };
        let rest = [SessionId(uuid::Uuid::from_u128(8)), SessionId(uuid::Uuid::from_u128(9))];
        let props = progress(&form, "verb=tag&tag=acme", (&happened, &rest), (String::new(), String::new()));
        assert_eq!((props.done, props.total), (50, 52));
        let next = Form::of(props.fields.iter().cloned().collect());
        for (name, value) in [("verb", "tag"), ("tag", "acme"), ("step", "run"), ("next", "/sessions?q=tea")] {
            assert_eq!(next.text(name), value);
        }
        assert_eq!(BulkAddress::of_form(&next), Some(happened));
        assert_eq!(props.fields.iter().filter(|(name, _)| name == "session").count(), 2);
        assert_eq!(BulkAddress::of_form(&form), None);
    }
}
