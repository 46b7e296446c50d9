//! Addresses of pages that show what happened to several sessions.
//!
//! A form leads to such a page, so that loading the page again sends nothing again. Nothing is stored: the address has
//! the numbers and the ids of some sessions, and the present state of these sessions shows what happened to each.

use super::form::Form;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use domain::{
    Timestamp,
    clock::{from_micros, to_micros},
    id::{SessionId, least_v7},
    limit::BULK_NAMED_MAX,
};
use ledger::session::{BulkOutcome, BulkResult, BulkSession};
use serde::Deserialize;
use uuid::Uuid;

/// The names of the fields of such a query.
pub const ADDRESS_FIELDS: [&str; 5] = ["at", "done", "already", "refused", "of"];
/// Length of an id in an address.
const ID_BYTES: usize = 16;

/// The query of such an address. What cannot be read is ignored.
#[derive(Debug, Default, Deserialize)]
pub struct BulkQuery {
    at: Option<String>,
    done: Option<String>,
    already: Option<String>,
    refused: Option<String>,
    of: Option<String>,
}

/// What happened to several sessions, as an address says it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BulkAddress {
    /// Time at which the request began (UTC).
    pub at: Timestamp,
    /// Number of sessions to which it was done.
    pub done: u64,
    /// Number of sessions to which it had been done before.
    pub already: u64,
    /// Number of sessions to which it could not be done.
    pub refused: u64,
    /// At most [`BULK_NAMED_MAX`] of them: first those to which it was done, then those that were refused. Proxies
    /// refuse an answer whose head is longer than 4 KiB, and each id takes 22 characters of it.
    pub sessions: Vec<SessionId>,
}

impl BulkAddress {
    /// What the result of a request that began at this time leads to.
    pub fn of(result: &BulkResult, at: Timestamp) -> Self {
        let count = |of: fn(&BulkOutcome) -> bool| result.count(of) as u64;
        let mut sessions: Vec<&BulkSession> = result.sessions.iter().collect();
        sessions.sort_by_key(|session| match session.outcome {
            BulkOutcome::Done(_) => 0,
            BulkOutcome::Refused(_) => 1,
            BulkOutcome::Already(_) | BulkOutcome::Ready => 2,
        });
        Self {
            at,
            done: count(|outcome| matches!(outcome, BulkOutcome::Done(_))),
            already: count(|outcome| matches!(outcome, BulkOutcome::Already(_))),
            refused: count(|outcome| matches!(outcome, BulkOutcome::Refused(_))),
            sessions: sessions.into_iter().take(BULK_NAMED_MAX).map(|session| session.id).collect(),
        }
    }

    /// What happened to these and then to other sessions: those to which it was done come first again.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        let split = |part: &Self| {
            let done = usize::try_from(part.done).unwrap_or(usize::MAX).min(part.sessions.len());
            let (done, others) = part.sessions.split_at(done);
            (done.to_vec(), others.to_vec())
        };
        let ((mut sessions, others), (more, more_others)) = (split(&self), split(&later));
        sessions.extend(more.into_iter().chain(others).chain(more_others));
        sessions.truncate(BULK_NAMED_MAX);
        Self {
            at: self.at,
            done: self.done + later.done,
            already: self.already + later.already,
            refused: self.refused + later.refused,
            sessions,
        }
    }

    /// Reads what the form of a part says of the parts before; `None` for the first part.
    pub fn of_form(form: &Form) -> Option<Self> {
        let [at, done, already, refused, of] = ADDRESS_FIELDS.map(|name| form.optional(name));
        Self::read(&BulkQuery { at, done, already, refused, of })
    }

    /// Number of the sessions so far.
    pub const fn total(&self) -> u64 {
        self.done + self.already + self.refused
    }

    /// Reads an address; `None` if it names no session.
    pub fn read(query: &BulkQuery) -> Option<Self> {
        // Sums of larger numbers could be too large.
        let number = |text: &Option<String>| -> u64 {
            text.as_deref().and_then(|text| text.parse::<u32>().ok()).map(u64::from).unwrap_or_default()
        };
        let at = query.at.as_deref().and_then(|at| at.parse().ok()).map(from_micros)?;
        let bytes = URL_SAFE_NO_PAD.decode(query.of.as_deref()?).ok()?;
        let ids = bytes.chunks_exact(ID_BYTES).take(BULK_NAMED_MAX);
        let sessions: Vec<SessionId> = ids.filter_map(|id| Some(SessionId(Uuid::from_slice(id).ok()?))).collect();
        let (done, already, refused) = (number(&query.done), number(&query.already), number(&query.refused));
        (!sessions.is_empty()).then_some(Self { at, done, already, refused, sessions })
    }

    /// The query of the address, without a question mark.
    pub fn query(&self) -> String {
        let Self { done, already, refused, .. } = self;
        let ids: Vec<u8> = self.sessions.iter().flat_map(|id| *id.0.as_bytes()).collect();
        let (at, of) = (to_micros(self.at), URL_SAFE_NO_PAD.encode(ids));
        format!("at={at}&done={done}&already={already}&refused={refused}&of={of}")
    }

    /// What happened to the sessions, from what a repeat of the request would do now: what had been done before it is
    /// what the request did. A session that runs again was created by the request if it is not older.
    pub fn outcomes(&self, mut repeat: BulkResult) -> BulkResult {
        let oldest = least_v7(self.at);
        for session in &mut repeat.sessions {
            if let BulkOutcome::Already(new) = session.outcome
                && new.is_none_or(|new| new.0 >= oldest)
            {
                session.outcome = BulkOutcome::Done(new);
            }
        }
        repeat
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(number: u128, outcome: BulkOutcome) -> BulkSession {
        BulkSession { id: SessionId(Uuid::from_u128(number)), title: None, outcome }
    }

    fn at() -> Timestamp {
        "2026-11-30T09:00:00Z".parse().unwrap()
    }

    #[test]
    fn an_address_is_read_as_it_was_written_and_stays_short() {
        let mut sessions = vec![session(1, BulkOutcome::Already(None)), session(2, BulkOutcome::Refused("no".into()))];
        sessions.push(session(3, BulkOutcome::Done(None)));
        let address = BulkAddress::of(&BulkResult { sessions: sessions.clone(), has_more: false }, at());
        assert_eq!((address.done, address.already, address.refused), (1, 1, 1));
        let ids: Vec<u128> = address.sessions.iter().map(|id| id.0.as_u128()).collect();
        assert_eq!(ids, [3, 2, 1]);
        let query: BulkQuery = serde_urlencoded::from_str(&address.query()).unwrap();
        assert_eq!(BulkAddress::read(&query), Some(address));
        sessions.extend((4..=500).map(|number| session(number, BulkOutcome::Done(None))));
        let address = BulkAddress::of(&BulkResult { sessions, has_more: false }, at());
        assert_eq!((address.done, address.sessions.len()), (498, BULK_NAMED_MAX));
        assert!(address.query().len() < 2_500, "{}", address.query().len());
    }

    #[test]
    fn parts_add_up_and_those_that_were_changed_stay_in_front() {
        let part = |outcomes: &[(u128, BulkOutcome)]| {
            let sessions = outcomes.iter().map(|(number, outcome)| session(*number, outcome.clone())).collect();
            BulkAddress::of(&BulkResult { sessions, has_more: false }, at())
        };
        let first = part(&[(1, BulkOutcome::Refused("no".into())), (2, BulkOutcome::Done(None))]);
        let second = part(&[(3, BulkOutcome::Already(None)), (4, BulkOutcome::Done(None))]);
        let both = first.and(second);
        assert_eq!((both.done, both.already, both.refused, both.total()), (2, 1, 1, 4));
        let ids: Vec<u128> = both.sessions.iter().map(|id| id.0.as_u128()).collect();
        assert_eq!(ids, [2, 4, 1, 3]);
        let many: Vec<_> = (10..110).map(|number| (number, BulkOutcome::Done(None))).collect();
        assert_eq!(both.and(part(&many)).sessions.len(), BULK_NAMED_MAX);
    }

    #[test]
    fn an_address_that_names_no_session_is_none() {
        for query in ["", "at=1&of=", "at=x&of=AAAAAAAAAAAAAAAAAAAAAA", "at=1&of=%21", "of=AAAAAAAAAAAAAAAAAAAAAA"] {
            let query: BulkQuery = serde_urlencoded::from_str(query).unwrap();
            assert_eq!(BulkAddress::read(&query), None, "{query:?}");
        }
    }

    #[test]
    fn numbers_of_an_address_can_be_added() {
        let ends = "at=1&of=AAAAAAAAAAAAAAAAAAAAAA";
        for number in [u64::from(u32::MAX), u64::from(u32::MAX) + 1, u64::MAX] {
            let query = format!("done={number}&already={number}&refused={number}&{ends}");
            let query: BulkQuery = serde_urlencoded::from_str(&query).unwrap();
            let [one, other] = [(); 2].map(|()| BulkAddress::read(&query).unwrap());
            let total = one.total();
            assert_eq!(one.and(other).total(), 2 * total, "{number}");
        }
    }

    #[test]
    fn a_session_that_ran_again_before_the_request_is_none_of_its_own() {
        let newer = SessionId(least_v7(at()));
        let older = SessionId(least_v7(at() - chrono::TimeDelta::seconds(1)));
        let sessions = [Some(newer), Some(older), None].map(|new| session(1, BulkOutcome::Already(new))).to_vec();
        let address = BulkAddress { at: at(), done: 2, already: 1, refused: 0, sessions: Vec::new() };
        let outcomes = address.outcomes(BulkResult { sessions, has_more: false }).sessions.into_iter();
        let outcomes: Vec<_> = outcomes.map(|session| session.outcome).collect();
        let done = [BulkOutcome::Done(Some(newer)), BulkOutcome::Already(Some(older)), BulkOutcome::Done(None)];
        assert_eq!(outcomes, done);
    }
}
