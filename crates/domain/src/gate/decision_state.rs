//! The combined state of the decisions on a gate, and the effect of one more decision.

use super::{GateState, Verdict};
use crate::{chain::Digest, id::UserId};

/// One recorded decision, or the withdrawal of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vote {
    /// Number of the vote: 1, 2, 3 in the order in which the votes were recorded.
    pub number: u32,
    /// Person who decided.
    pub user_id: UserId,
    /// Verdict; `None` if this vote withdraws the vote `undoes`.
    pub verdict: Option<Verdict>,
    /// Digest of the proposal after this vote. For a denial it is the digest of the reason, for an answer that
    /// of the answer.
    pub value: Digest,
    /// Number of the vote that this one withdraws.
    pub undoes: Option<u32>,
    /// Whether an approval carries values: the version of a memory document that the proposal is approved for.
    pub rebases: bool,
}

/// The combined state of the votes on a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionState {
    /// Number of the vote with the values that are proposed now, mostly an edit; `None` if the values are those that
    /// the agent staged.
    pub proposal: Option<u32>,
    /// Digest of the present proposal.
    pub digest: Digest,
    /// People who approved the present proposal, in order.
    pub approvals: Vec<UserId>,
    /// The last vote that counts; `None` without one. Withdrawn votes do not count.
    pub last: Option<Vote>,
}

/// Combines the votes. An edit is a new proposal, so approvals of an earlier proposal do not count for it. So is an
/// approval for another version of a document.
pub fn decision_state_of(staged: Digest, votes: &[Vote]) -> DecisionState {
    let mut current = DecisionState { proposal: None, digest: staged, approvals: Vec::new(), last: None };
    for vote in votes {
        if votes.iter().any(|later| later.undoes == Some(vote.number)) {
            continue;
        }
        match vote.verdict {
            None => continue,
            Some(Verdict::Approve) if !vote.rebases => current.approvals.push(vote.user_id),
            Some(Verdict::Approve | Verdict::Edit) => {
                current.proposal = Some(vote.number);
                current.digest = vote.value;
                current.approvals = vec![vote.user_id];
            }
            Some(Verdict::Deny | Verdict::Respond) => {}
        }
        current.last = Some(*vote);
    }
    current
}

/// A decision that a person sends.
#[derive(Debug, Clone, Copy)]
pub struct DecisionRequest {
    /// Person who decides.
    pub user_id: UserId,
    /// Verdict. An edit that changes nothing is sent as an approval.
    pub verdict: Verdict,
    /// Digest of the value, as in [`Vote::value`].
    pub value: Digest,
    /// Digest of the proposal that the person was shown; `None` if the request does not name it.
    pub seen_digest: Option<Digest>,
    /// Whether the request contains the proposed values, as a repeated edit does. Then `seen_digest` is not compared.
    pub restates: bool,
}

/// The effect of a decision on the gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionEffect {
    /// The decision is recorded.
    Record {
        /// Whether this decision decides the gate.
        decides: bool,
    },
    /// The decision repeats the vote with this number, so nothing is recorded.
    Repeat(u32),
    /// The gate was already decided differently, by the vote with this number.
    Conflict(u32),
    /// The present proposal is not the one that the person was shown.
    Stale,
    /// The gate expired or was withdrawn.
    Closed,
}

/// Returns the effect that a decision would have. The function is total and pure. `quorum` is the number of
/// approvals that the gate needs, each from another person.
pub fn evaluate(state: GateState, quorum: u32, current: &DecisionState, request: &DecisionRequest) -> DecisionEffect {
    let seen_digest = if request.restates { Some(request.value) } else { request.seen_digest };
    let same = |vote: &Vote| vote.verdict == Some(request.verdict) && vote.value == request.value;
    match (state, &current.last) {
        (GateState::Expired | GateState::Withdrawn, _) => return DecisionEffect::Closed,
        (GateState::Held | GateState::Settled, Some(last)) => {
            let approved = last.verdict.is_some_and(|verdict| matches!(verdict, Verdict::Approve | Verdict::Edit));
            let repeats = match request.verdict {
                Verdict::Approve if request.value != current.digest => false,
                // An approval repeats an edit only if it is about the edited values.
                Verdict::Approve if last.verdict == Some(Verdict::Edit) => seen_digest == Some(current.digest),
                Verdict::Approve => approved && seen_digest.is_none_or(|seen_digest| seen_digest == current.digest),
                Verdict::Edit | Verdict::Deny | Verdict::Respond => same(last),
            };
            return if repeats { DecisionEffect::Repeat(last.number) } else { DecisionEffect::Conflict(last.number) };
        }
        (GateState::Held | GateState::Settled, None) => return DecisionEffect::Closed,
        (GateState::Open, Some(last)) if last.user_id == request.user_id && same(last) => {
            return DecisionEffect::Repeat(last.number);
        }
        (GateState::Open, _) => {}
    }
    if seen_digest.is_some_and(|seen_digest| seen_digest != current.digest) {
        return DecisionEffect::Stale;
    }
    let is_new = request.verdict == Verdict::Approve && request.value != current.digest;
    match request.verdict {
        Verdict::Deny | Verdict::Respond => DecisionEffect::Record { decides: true },
        Verdict::Approve if is_new => DecisionEffect::Record { decides: quorum <= 1 },
        Verdict::Edit => DecisionEffect::Record { decides: quorum <= 1 },
        Verdict::Approve if current.approvals.contains(&request.user_id) => {
            current.last.map_or(DecisionEffect::Record { decides: false }, |last| DecisionEffect::Repeat(last.number))
        }
        Verdict::Approve => DecisionEffect::Record { decides: current.approvals.len() as u64 + 1 >= u64::from(quorum) },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use uuid::Uuid;

    const STAGED: Digest = Digest([1; 32]);
    const EDITED: Digest = Digest([2; 32]);

    fn user(n: u128) -> UserId {
        UserId(Uuid::from_u128(n))
    }

    fn vote(number: u32, by: u128, verdict: Verdict, value: Digest) -> Vote {
        Vote { number, user_id: user(by), verdict: Some(verdict), value, undoes: None, rebases: false }
    }

    fn undo(number: u32, by: u128, undoes: u32) -> Vote {
        Vote { number, user_id: user(by), verdict: None, value: STAGED, undoes: Some(undoes), rebases: false }
    }

    fn asks(by: u128, verdict: Verdict, value: Digest, seen_digest: Option<Digest>) -> DecisionRequest {
        DecisionRequest { user_id: user(by), verdict, value, seen_digest, restates: false }
    }

    /// A repeated edit changes nothing, so it is an approval of the values that it contains.
    fn restates(by: u128, value: Digest) -> DecisionRequest {
        DecisionRequest { restates: true, ..asks(by, Verdict::Approve, value, Some(STAGED)) }
    }

    #[test]
    fn a_quorum_needs_that_many_people() {
        let one = decision_state_of(STAGED, &[vote(1, 1, Verdict::Approve, STAGED)]);
        let again = evaluate(GateState::Open, 2, &one, &asks(1, Verdict::Approve, STAGED, None));
        assert_eq!(again, DecisionEffect::Repeat(1));
        let other = evaluate(GateState::Open, 2, &one, &asks(2, Verdict::Approve, STAGED, Some(STAGED)));
        assert_eq!(other, DecisionEffect::Record { decides: true });
        let third = evaluate(GateState::Open, 3, &one, &asks(2, Verdict::Approve, STAGED, None));
        assert_eq!(third, DecisionEffect::Record { decides: false });
    }

    #[test]
    fn an_edit_starts_the_count_again_and_outdates_what_others_were_shown() {
        let votes = [vote(1, 1, Verdict::Approve, STAGED), vote(2, 2, Verdict::Edit, EDITED)];
        let current = decision_state_of(STAGED, &votes);
        assert_eq!((current.proposal, current.digest, current.approvals.as_slice()), (Some(2), EDITED, &[user(2)][..]));
        let late = evaluate(GateState::Open, 2, &current, &asks(3, Verdict::Approve, STAGED, Some(STAGED)));
        assert_eq!(late, DecisionEffect::Stale);
        let first = evaluate(GateState::Open, 2, &current, &asks(1, Verdict::Approve, EDITED, Some(EDITED)));
        assert_eq!(first, DecisionEffect::Record { decides: true });
    }

    #[test]
    fn an_approval_for_another_version_starts_the_count_again() {
        let own = vote(1, 1, Verdict::Approve, STAGED);
        let current = decision_state_of(STAGED, &[own]);
        let rebase = asks(1, Verdict::Approve, EDITED, Some(STAGED));
        assert_eq!(evaluate(GateState::Open, 2, &current, &rebase), DecisionEffect::Record { decides: false });
        assert_eq!(evaluate(GateState::Open, 1, &current, &rebase), DecisionEffect::Record { decides: true });
        assert_eq!(evaluate(GateState::Held, 1, &current, &rebase), DecisionEffect::Conflict(1));
        let rebased = Vote { rebases: true, ..vote(2, 1, Verdict::Approve, EDITED) };
        let current = decision_state_of(STAGED, &[own, rebased]);
        assert_eq!((current.proposal, current.digest, current.approvals.as_slice()), (Some(2), EDITED, &[user(1)][..]));
        assert_eq!(evaluate(GateState::Held, 1, &current, &restates(1, EDITED)), DecisionEffect::Repeat(2));
    }

    #[test]
    fn a_decided_gate_repeats_or_conflicts() {
        let current = decision_state_of(STAGED, &[vote(1, 1, Verdict::Approve, STAGED)]);
        for state in [GateState::Held, GateState::Settled] {
            let judged = |verdict, value| evaluate(state, 1, &current, &asks(2, verdict, value, None));
            assert_eq!(judged(Verdict::Approve, STAGED), DecisionEffect::Repeat(1));
            assert_eq!(judged(Verdict::Deny, STAGED), DecisionEffect::Conflict(1));
            assert_eq!(judged(Verdict::Edit, EDITED), DecisionEffect::Conflict(1));
        }
        for state in [GateState::Expired, GateState::Withdrawn] {
            let judged = evaluate(state, 1, &current, &asks(1, Verdict::Approve, STAGED, None));
            assert_eq!(judged, DecisionEffect::Closed);
        }
    }

    #[test]
    fn a_repeated_edit_answers_with_its_vote() {
        let one = decision_state_of(STAGED, &[vote(1, 1, Verdict::Edit, EDITED)]);
        for state in [GateState::Held, GateState::Settled] {
            assert_eq!(evaluate(state, 1, &one, &restates(1, EDITED)), DecisionEffect::Repeat(1));
            let as_staged = asks(1, Verdict::Approve, EDITED, Some(STAGED));
            assert_eq!(evaluate(state, 1, &one, &as_staged), DecisionEffect::Conflict(1));
            assert_eq!(evaluate(state, 1, &one, &asks(1, Verdict::Approve, EDITED, None)), DecisionEffect::Conflict(1));
            assert_eq!(evaluate(state, 1, &one, &asks(1, Verdict::Deny, STAGED, None)), DecisionEffect::Conflict(1));
        }
        // The same holds while further approvals are needed.
        assert_eq!(evaluate(GateState::Open, 2, &one, &restates(1, EDITED)), DecisionEffect::Repeat(1));
        // After another reviewer has approved, that vote is the last one.
        let two = decision_state_of(STAGED, &[vote(1, 1, Verdict::Edit, EDITED), vote(2, 2, Verdict::Approve, EDITED)]);
        assert_eq!(evaluate(GateState::Held, 2, &two, &restates(1, EDITED)), DecisionEffect::Repeat(2));
        let as_staged = asks(3, Verdict::Approve, EDITED, Some(STAGED));
        assert_eq!(evaluate(GateState::Held, 2, &two, &as_staged), DecisionEffect::Conflict(2));
    }

    #[test]
    fn an_undone_vote_does_not_count_and_can_be_given_again() {
        let current = decision_state_of(STAGED, &[vote(1, 1, Verdict::Edit, EDITED), undo(2, 1, 1)]);
        assert_eq!(current, DecisionState { proposal: None, digest: STAGED, approvals: vec![], last: None });
        let again = evaluate(GateState::Open, 1, &current, &asks(1, Verdict::Edit, EDITED, Some(STAGED)));
        assert_eq!(again, DecisionEffect::Record { decides: true });
        let twice = [vote(1, 1, Verdict::Approve, STAGED), undo(2, 1, 1), vote(3, 1, Verdict::Deny, STAGED)];
        assert_eq!(decision_state_of(STAGED, &twice).last, Some(twice[2]));
    }

    #[test]
    fn the_same_answer_repeats_and_another_conflicts() {
        for verdict in [Verdict::Respond, Verdict::Edit, Verdict::Deny] {
            let current = decision_state_of(STAGED, &[vote(1, 1, verdict, EDITED)]);
            let judged = |value| evaluate(GateState::Settled, 1, &current, &asks(1, verdict, value, None));
            assert_eq!(judged(EDITED), DecisionEffect::Repeat(1), "{verdict}");
            assert_eq!(judged(STAGED), DecisionEffect::Conflict(1), "{verdict}");
        }
    }

    #[test]
    fn an_edit_that_is_sent_again_to_an_open_gate_repeats_for_its_own_person_alone() {
        let one = decision_state_of(STAGED, &[vote(1, 1, Verdict::Edit, EDITED)]);
        let again = |by| evaluate(GateState::Open, 3, &one, &asks(by, Verdict::Edit, EDITED, Some(STAGED)));
        assert_eq!(again(1), DecisionEffect::Repeat(1));
        assert_eq!(again(2), DecisionEffect::Stale);
    }
}
