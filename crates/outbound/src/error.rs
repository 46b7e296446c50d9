//! Errors of outbound requests.

use crate::limit;
use std::{error::Error as _, net::IpAddr};

/// The result of an outbound call.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a request was not made or has no response. The texts may be shown to the person who chose the address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The address is not valid.
    #[error("the address cannot be used: {0}")]
    Address(String),
    /// The host is not allowed for this request.
    #[error("{0} is not among the hosts that are allowed here")]
    NotAllowed(String),
    /// The host has a private address. One private address among several is enough.
    #[error("{host} leads to {address}: {reason}")]
    Inside {
        /// The host as the caller wrote it.
        host: String,
        /// The private address.
        address: IpAddr,
        /// The kind of address.
        reason: &'static str,
    },
    /// The method, a header or the body is not valid.
    #[error("the request cannot be sent: {0}")]
    Request(String),
    /// The name cannot be resolved.
    #[error("{host} cannot be looked up: {reason}")]
    Lookup {
        /// The host as the caller wrote it.
        host: String,
        /// The resolver's reason.
        reason: String,
    },
    /// There was no complete response in time. It is unknown whether the request took effect.
    #[error("no complete answer within {} s", limit::TIME.as_secs())]
    Timeout,
    /// The headers are larger than [`limit::HEADER_BYTES_MAX`], or the body than [`limit::BODY_BYTES_MAX`].
    #[error("the answer is larger than allowed: {0}")]
    TooLarge(&'static str),
    /// There was no connection, so nothing was sent.
    #[error("no answer: {0}")]
    Unreachable(String),
    /// The connection broke. It is unknown whether the request took effect.
    #[error("no answer: {0}")]
    Exchange(String),
}

impl Error {
    /// Whether the same request can succeed later, because the network or the receiver failed.
    pub const fn is_retryable(&self) -> bool {
        match self {
            Self::Lookup { .. } | Self::Timeout | Self::Unreachable(_) | Self::Exchange(_) => true,
            Self::Address(_) | Self::NotAllowed(_) | Self::Inside { .. } | Self::Request(_) | Self::TooLarge(_) => {
                false
            }
        }
    }

    /// A failure of reqwest. Refusals of this crate's resolver are wrapped in it.
    pub(crate) fn of_exchange(error: reqwest::Error) -> Self {
        let mut cause = error.source();
        while let Some(inner) = cause {
            if let Some(ours) = inner.downcast_ref::<Self>() {
                return ours.clone();
            }
            cause = inner.source();
        }
        let is_unreachable = error.is_connect();
        if error.is_timeout() && !is_unreachable {
            return Self::Timeout;
        }
        let error = error.without_url();
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(inner) = cause {
            text = format!("{text}: {inner}");
            cause = inner.source();
        }
        if is_unreachable { Self::Unreachable(text) } else { Self::Exchange(text) }
    }
}
