//! Converts errors of use cases to problems.

use crate::problem::Problem;
use domain::{event::WriteRefusal, issue::Issue, session::Refusal};
use wire::{Code, FieldProblem};

impl From<ledger::Error> for Problem {
    fn from(error: ledger::Error) -> Self {
        use ledger::Error as E;
        let text = error.to_string();
        match error {
            E::NotFound(_) => Self::detailed(Code::NotFound, text),
            E::Forbidden(_) => Self::detailed(Code::Forbidden, text),
            E::Invalid(fields) => {
                let detail = fields.first().map(|e| format!("{}: {}", e.field, e.message));
                Self::fields(Code::InvalidRequest, detail, field_problems(fields))
            }
            E::OutputInvalid { errors, .. } => Self::fields(Code::OutputInvalid, Some(text), field_problems(errors)),
            E::InvalidCursor => Self::field(Code::InvalidCursor, "cursor", text),
            E::Refused(refusal) => Self::detailed(refusal_code(refusal), text),
            E::WriteRefused { index, refusal } => {
                let code = match refusal {
                    WriteRefusal::KindNotAllowed | WriteRefusal::NotOwner => Code::Forbidden,
                    WriteRefusal::WrongStatus(_) => Code::WrongStatus,
                };
                Self::field(code, format!("events[{index}].type"), text)
            }
            E::IdConflict { .. } => Self::detailed(Code::IdConflict, text),
            E::StaleVersion { .. } | E::StaleAction | E::StaleRevision { .. } | E::FormChanged { .. } => {
                Self::detailed(Code::StaleVersion, text)
            }
            E::NotNow(_) | E::WrongState { .. } | E::FormClosed(_) | E::EntityErased => {
                Self::detailed(Code::WrongStatus, text)
            }
            E::MemoryConflict(sides) => {
                let recorded = serde_json::to_string(&super::memory_conflict(*sides)).ok();
                Self::detailed(Code::StaleVersion, text).with_recorded(recorded)
            }
            E::CardOverwrites(paths) => {
                let message = "changed since the last card";
                let errors = paths.into_iter().map(|field| FieldProblem { field, message: message.to_owned() });
                Self::fields(Code::StaleVersion, Some(text), errors.collect())
            }
            E::AlreadyDecided(decision) => {
                let recorded = serde_json::to_string(&super::decision(*decision)).ok();
                Self::detailed(Code::AlreadyDecided, text).with_recorded(recorded)
            }
            E::StaleDecision { .. } => Self::detailed(Code::StaleDecision, text),
            E::GateClosed { .. } => Self::detailed(Code::GateClosed, text),
            E::AlreadyAnswered(answer) => {
                let recorded = serde_json::to_string(&super::request_answer(*answer)).ok();
                Self::detailed(Code::AlreadyAnswered, text).with_recorded(recorded)
            }
            E::RequestClosed { .. } => Self::detailed(Code::RequestClosed, text),
            E::HardBlock(error) => Self::fields(Code::HardBlock, Some(text), field_problems(vec![error])),
            E::NameTaken(_) => Self::detailed(Code::NameTaken, text),
            E::LimitReached(_) => Self::detailed(Code::LimitReached, text),
            E::TooLarge(_) => Self::detailed(Code::TooLarge, text),
            E::BadCredentials => Self::new(Code::BadCredentials),
            E::TooManyAttempts { retry_after_seconds } | E::Busy { retry_after_seconds } => {
                Self::detailed(Code::TooManyRequests, text).with_retry_after(retry_after_seconds)
            }
            E::LastAdmin => Self::detailed(Code::LastAdmin, text),
            E::SetupDone => Self::new(Code::SetupDone),
            E::NoInstanceKey => Self::detailed(Code::Unavailable, text),
            E::Unavailable(internal) => Self::unavailable(internal),
            E::Internal(internal) | E::Unusable(internal) => Self::internal(internal),
        }
    }
}

const fn refusal_code(refusal: Refusal) -> Code {
    match refusal {
        Refusal::AlreadyFinal { .. } => Code::AlreadyFinal,
        Refusal::StaleAttempt { .. } => Code::StaleAttempt,
        Refusal::WrongStatus { .. } => Code::WrongStatus,
        Refusal::WrongActor => Code::Forbidden,
    }
}

fn field_problems(errors: Vec<Issue>) -> Vec<FieldProblem> {
    errors.into_iter().map(FieldProblem::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::session::Status;

    #[test]
    fn what_is_internal_never_reaches_the_answer() {
        for error in [ledger::Error::Internal("secret".into()), ledger::Error::Unavailable("secret".into())] {
            let problem = Problem::from(error);
            let body = serde_json::to_string(&problem.to_wire("id".into())).unwrap();
            assert!(!body.contains("secret"), "{body}");
            assert_eq!(problem.internal_text(), Some("secret"));
        }
    }

    #[test]
    fn a_stale_attempt_names_the_current_one() {
        let problem = Problem::from(ledger::Error::Refused(Refusal::StaleAttempt { given: 1, current: 2 }));
        assert_eq!(problem.code(), Code::StaleAttempt);
        assert!(problem.to_wire(String::new()).detail.unwrap().contains("attempt 2"));
    }

    #[test]
    fn a_refused_event_is_named_by_its_place_in_the_request() {
        let refusal = WriteRefusal::WrongStatus(Status::Completed);
        let problem = Problem::from(ledger::Error::WriteRefused { index: 3, refusal });
        assert_eq!(problem.to_wire(String::new()).errors[0].field, "events[3].type");
    }
}
