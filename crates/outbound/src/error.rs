//! Why a call was not made, or has no answer.

use crate::limit;
use std::{error::Error as _, net::IpAddr};

/// The result of an outbound call.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a call was not made, or has no answer. The texts may be shown to whoever chose the address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The address cannot be used by anybody.
    #[error("the address cannot be used: {0}")]
    Address(String),
    /// The host is not among those allowed here.
    #[error("{0} is not among the hosts that are allowed here")]
    NotAllowed(String),
    /// The host's address leads inside. One such address among many is enough.
    #[error("{host} leads to {address}: {reason}")]
    Inside {
        /// The host as it was given.
        host: String,
        /// The address that leads inside.
        address: IpAddr,
        /// What kind of address it is.
        reason: &'static str,
    },
    /// The method, a header or the body cannot be sent.
    #[error("the request cannot be sent: {0}")]
    Request(String),
    /// The name has no address, or nobody knows.
    #[error("{host} cannot be looked up: {reason}")]
    Lookup {
        /// The host as it was given.
        host: String,
        /// Why.
        reason: String,
    },
    /// No complete answer in time. Whether the other side acted is unknown.
    #[error("no complete answer within {} s", limit::TIME.as_secs())]
    Timeout,
    /// The answer is larger than we read.
    #[error("the answer is larger than allowed: {0}")]
    TooLarge(&'static str),
    /// The connection could not be made or broke. Whether the other side acted is unknown.
    #[error("no answer: {0}")]
    Exchange(String),
}

impl Error {
    /// Whether the same call may succeed later, because the network or the other side failed.
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Lookup { .. } | Self::Timeout | Self::Exchange(_) => true,
            Self::Address(_) | Self::NotAllowed(_) | Self::Inside { .. } | Self::Request(_) | Self::TooLarge(_) => {
                false
            }
        }
    }

    /// A broken exchange as told by reqwest. Our own refusals travel inside of its errors.
    pub(crate) fn of_exchange(error: reqwest::Error) -> Self {
        let mut cause = error.source();
        while let Some(inner) = cause {
            if let Some(ours) = inner.downcast_ref::<Self>() {
                return ours.clone();
            }
            cause = inner.source();
        }
        if error.is_timeout() {
            return Self::Timeout;
        }
        let error = error.without_url();
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            text = format!("{text}: {inner}");
            cause = inner.source();
        }
        Self::Exchange(text)
    }
}
