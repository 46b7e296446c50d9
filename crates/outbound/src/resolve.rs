//! Resolves names, once per request, and checks every address before a connection is made.

use crate::{Error, Policy, limit};
use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

/// The addresses of a name.
pub type Addresses = BoxFuture<'static, io::Result<Vec<IpAddr>>>;

/// Resolves names. Tests replace it.
pub trait Resolver: Send + Sync + 'static {
    /// Returns all addresses of a name.
    fn addresses(&self, host: &str) -> Addresses;
}

/// The system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn addresses(&self, host: &str) -> Addresses {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// The resolver of reqwest. It connects only to the returned addresses, which are checked.
pub(crate) struct CheckedResolver {
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) policy: Policy,
}

impl Resolve for CheckedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let (found, policy) = (self.resolver.addresses(&host), self.policy.clone());
        Box::pin(async move {
            let found = found.await.map_err(|error| Error::Lookup { host: host.clone(), reason: error.to_string() })?;
            let judged = check_all(&host, found, &policy)?;
            Ok(Box::new(judged.into_iter()) as Addrs)
        })
    }
}

/// Refuses a name if one of its addresses is private: which address is used is decided later.
fn check_all(host: &str, addresses: Vec<IpAddr>, policy: &Policy) -> Result<Vec<SocketAddr>, Error> {
    let lookup = |reason: &str| Error::Lookup { host: host.to_owned(), reason: reason.to_owned() };
    if addresses.is_empty() {
        return Err(lookup("it has no address"));
    }
    if addresses.len() > limit::ADDRESSES_MAX {
        return Err(lookup("it has too many addresses"));
    }
    for address in &addresses {
        let inside = |reason| Error::Inside { host: host.to_owned(), address: *address, reason };
        policy.check(*address).map_err(inside)?;
    }
    // Port 0 means the port of the URL.
    Ok(addresses.into_iter().map(|address| SocketAddr::new(address, 0)).collect())
}
