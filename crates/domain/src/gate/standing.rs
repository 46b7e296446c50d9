//! What the decisions on a gate amount to, and what one more would.

use super::{GateState, Verdict};
use crate::{chain::Digest, id::UserId};

/// One recorded decision, or the withdrawal of one. Numbered from 1 in the order they were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vote {
    /// Its number.
    pub number: u32,
    /// Who.
    pub user_id: UserId,
    /// What; `None` when it withdraws `undoes`.
    pub verdict: Option<Verdict>,
    /// Digest of what is to happen: the proposal after this vote. Of a denial, of its reason; of an answer, of the answer.
    pub value: Digest,
    /// The vote that this one withdraws.
    pub undoes: Option<u32>,
}

/// What the votes so far amount to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The edit that is proposed now; `None`: what the agent staged.
    pub proposal: Option<u32>,
    /// Digest of what is proposed now.
    pub digest: Digest,
    /// Who approved that, in order.
    pub approvals: Vec<UserId>,
    /// The vote that counts last; `None` without one.
    pub last: Option<Vote>,
}

/// Adds the votes up. An edit is a new proposal, so approvals of what was proposed before do not count for it.
pub fn stand(staged: Digest, votes: &[Vote]) -> Standing {
    let mut standing = Standing { proposal: None, digest: staged, approvals: Vec::new(), last: None };
    for vote in votes {
        if votes.iter().any(|later| later.undoes == Some(vote.number)) {
            continue;
        }
        match vote.verdict {
            None => continue,
            Some(Verdict::Approve) => standing.approvals.push(vote.user_id),
            Some(Verdict::Edit) => {
                standing.proposal = Some(vote.number);
                standing.digest = vote.value;
                standing.approvals = vec![vote.user_id];
            }
            Some(Verdict::Deny | Verdict::Respond) => {}
        }
        standing.last = Some(*vote);
    }
    standing
}

/// A decision that somebody asks for.
#[derive(Debug, Clone, Copy)]
pub struct Asked {
    /// Who.
    pub user_id: UserId,
    /// What. An edit that changes nothing is an approval.
    pub verdict: Verdict,
    /// As in [`Vote::value`].
    pub value: Digest,
    /// Digest of what they were shown, where they say it.
    pub shown: Option<Digest>,
    /// Whether they sent the proposed values themselves, as a repeated edit does. `shown` is not compared then.
    pub restates: bool,
}

/// What becomes of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judgement {
    /// It is recorded; `decides` says whether the gate is decided with it.
    Record {
        /// Whether the gate is decided.
        decides: bool,
    },
    /// It is recorded already, as this vote.
    Repeat(u32),
    /// The gate was decided otherwise, by this vote.
    Conflict(u32),
    /// Something else is proposed now than what they were shown.
    Stale,
    /// The gate expired or was withdrawn.
    Closed,
}

/// Judges a decision. Total; changes nothing.
pub fn judge(state: GateState, quorum: u32, standing: &Standing, asked: &Asked) -> Judgement {
    let shown = if asked.restates { Some(asked.value) } else { asked.shown };
    let same = |vote: &Vote| vote.verdict == Some(asked.verdict) && vote.value == asked.value;
    match (state, &standing.last) {
        (GateState::Expired | GateState::Withdrawn, _) => return Judgement::Closed,
        (GateState::Held | GateState::Settled, Some(last)) => {
            let approved = last.verdict.is_some_and(|verdict| matches!(verdict, Verdict::Approve | Verdict::Edit));
            let repeats = match asked.verdict {
                // An approval agrees with an edit only if it is about the edited values.
                Verdict::Approve if last.verdict == Some(Verdict::Edit) => shown == Some(standing.digest),
                Verdict::Approve => approved && shown.is_none_or(|shown| shown == standing.digest),
                Verdict::Edit | Verdict::Deny | Verdict::Respond => same(last),
            };
            return if repeats { Judgement::Repeat(last.number) } else { Judgement::Conflict(last.number) };
        }
        (GateState::Held | GateState::Settled, None) => return Judgement::Closed,
        (GateState::Open, Some(last)) if last.user_id == asked.user_id && same(last) => {
            return Judgement::Repeat(last.number);
        }
        (GateState::Open, _) => {}
    }
    if shown.is_some_and(|shown| shown != standing.digest) {
        return Judgement::Stale;
    }
    match asked.verdict {
        Verdict::Deny | Verdict::Respond => Judgement::Record { decides: true },
        Verdict::Edit => Judgement::Record { decides: quorum <= 1 },
        Verdict::Approve if standing.approvals.contains(&asked.user_id) => {
            standing.last.map_or(Judgement::Record { decides: false }, |last| Judgement::Repeat(last.number))
        }
        Verdict::Approve => Judgement::Record { decides: standing.approvals.len() as u64 + 1 >= u64::from(quorum) },
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
        Vote { number, user_id: user(by), verdict: Some(verdict), value, undoes: None }
    }

    fn undo(number: u32, by: u128, undoes: u32) -> Vote {
        Vote { number, user_id: user(by), verdict: None, value: STAGED, undoes: Some(undoes) }
    }

    fn asks(by: u128, verdict: Verdict, value: Digest, shown: Option<Digest>) -> Asked {
        Asked { user_id: user(by), verdict, value, shown, restates: false }
    }

    /// The same edit again: it changes nothing, so it is an approval of the values that it sends.
    fn restates(by: u128, value: Digest) -> Asked {
        Asked { restates: true, ..asks(by, Verdict::Approve, value, Some(STAGED)) }
    }

    #[test]
    fn a_quorum_needs_that_many_people() {
        let one = stand(STAGED, &[vote(1, 1, Verdict::Approve, STAGED)]);
        let again = judge(GateState::Open, 2, &one, &asks(1, Verdict::Approve, STAGED, None));
        assert_eq!(again, Judgement::Repeat(1));
        let other = judge(GateState::Open, 2, &one, &asks(2, Verdict::Approve, STAGED, Some(STAGED)));
        assert_eq!(other, Judgement::Record { decides: true });
        let third = judge(GateState::Open, 3, &one, &asks(2, Verdict::Approve, STAGED, None));
        assert_eq!(third, Judgement::Record { decides: false });
    }

    #[test]
    fn an_edit_starts_the_count_again_and_outdates_what_others_were_shown() {
        let votes = [vote(1, 1, Verdict::Approve, STAGED), vote(2, 2, Verdict::Edit, EDITED)];
        let standing = stand(STAGED, &votes);
        assert_eq!(
            (standing.proposal, standing.digest, standing.approvals.as_slice()),
            (Some(2), EDITED, &[user(2)][..])
        );
        let late = judge(GateState::Open, 2, &standing, &asks(3, Verdict::Approve, STAGED, Some(STAGED)));
        assert_eq!(late, Judgement::Stale);
        let first = judge(GateState::Open, 2, &standing, &asks(1, Verdict::Approve, EDITED, Some(EDITED)));
        assert_eq!(first, Judgement::Record { decides: true });
    }

    #[test]
    fn a_decided_gate_repeats_or_conflicts() {
        let standing = stand(STAGED, &[vote(1, 1, Verdict::Approve, STAGED)]);
        for state in [GateState::Held, GateState::Settled] {
            let judged = |verdict, value| judge(state, 1, &standing, &asks(2, verdict, value, None));
            assert_eq!(judged(Verdict::Approve, STAGED), Judgement::Repeat(1));
            assert_eq!(judged(Verdict::Deny, STAGED), Judgement::Conflict(1));
            assert_eq!(judged(Verdict::Edit, EDITED), Judgement::Conflict(1));
        }
        for state in [GateState::Expired, GateState::Withdrawn] {
            let judged = judge(state, 1, &standing, &asks(1, Verdict::Approve, STAGED, None));
            assert_eq!(judged, Judgement::Closed);
        }
    }

    #[test]
    fn a_repeated_edit_answers_with_its_vote() {
        let one = stand(STAGED, &[vote(1, 1, Verdict::Edit, EDITED)]);
        for state in [GateState::Held, GateState::Settled] {
            assert_eq!(judge(state, 1, &one, &restates(1, EDITED)), Judgement::Repeat(1));
            let as_staged = asks(1, Verdict::Approve, EDITED, Some(STAGED));
            assert_eq!(judge(state, 1, &one, &as_staged), Judgement::Conflict(1));
            assert_eq!(judge(state, 1, &one, &asks(1, Verdict::Approve, EDITED, None)), Judgement::Conflict(1));
            assert_eq!(judge(state, 1, &one, &asks(1, Verdict::Deny, STAGED, None)), Judgement::Conflict(1));
        }
        // While further approvals are awaited, the same.
        assert_eq!(judge(GateState::Open, 2, &one, &restates(1, EDITED)), Judgement::Repeat(1));
        // Once another reviewer has agreed, their vote is the last.
        let two = stand(STAGED, &[vote(1, 1, Verdict::Edit, EDITED), vote(2, 2, Verdict::Approve, EDITED)]);
        assert_eq!(judge(GateState::Held, 2, &two, &restates(1, EDITED)), Judgement::Repeat(2));
        let as_staged = asks(3, Verdict::Approve, EDITED, Some(STAGED));
        assert_eq!(judge(GateState::Held, 2, &two, &as_staged), Judgement::Conflict(2));
    }

    #[test]
    fn an_undone_vote_does_not_count_and_can_be_given_again() {
        let standing = stand(STAGED, &[vote(1, 1, Verdict::Edit, EDITED), undo(2, 1, 1)]);
        assert_eq!(standing, Standing { proposal: None, digest: STAGED, approvals: vec![], last: None });
        let again = judge(GateState::Open, 1, &standing, &asks(1, Verdict::Edit, EDITED, Some(STAGED)));
        assert_eq!(again, Judgement::Record { decides: true });
        let twice = [vote(1, 1, Verdict::Approve, STAGED), undo(2, 1, 1), vote(3, 1, Verdict::Deny, STAGED)];
        assert_eq!(stand(STAGED, &twice).last, Some(twice[2]));
    }
}
