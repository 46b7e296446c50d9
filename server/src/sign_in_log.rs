//! Logs refused sign-ins with the address that they came from and the account that they named, and counts them. A
//! program such as fail2ban reads these lines (docs/operations.md).
//!
//! The address comes before the account, which is quoted: what a stranger types cannot look like an address.

use crate::{metrics::Metrics, problem::Problem};
use domain::limit::EMAIL_BYTES_MAX;
use std::net::IpAddr;
use wire::Code;

/// Target of the lines.
const TARGET: &str = "shiftbook::sign_in";

/// Who tries to sign in.
#[derive(Debug, Clone, Copy)]
pub struct Attempt<'a> {
    /// The address that the request comes from.
    pub address: IpAddr,
    /// The account, as it was typed. Empty for the set-up code.
    pub account: &'a str,
}

impl Attempt<'_> {
    /// Logs and counts the refusal of this attempt, if it is one of credentials.
    pub fn refused(self, metrics: &Metrics, problem: &Problem) {
        let reason = match problem.code() {
            Code::BadCredentials | Code::InvalidRequest => "wrong",
            Code::TooManyRequests => "too_many",
            Code::Forbidden => "no_workspace",
            _ => return,
        };
        metrics.refused_sign_in(reason);
        let (address, account) = (self.address, self.account());
        tracing::warn!(target: TARGET, %address, ?account, reason, "sign-in refused");
    }

    /// Logs that the attempt succeeded.
    pub fn accepted(self) {
        let (address, account) = (self.address, self.account());
        tracing::info!(target: TARGET, %address, ?account, "signed in");
    }

    /// The account, no longer than an address can be.
    fn account(&self) -> String {
        self.account.chars().take(EMAIL_BYTES_MAX).collect()
    }
}
