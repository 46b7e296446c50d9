//! Names become addresses here, once, and every address is judged before any is connected to.

use crate::{Error, Policy, limit};
use futures_util::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

/// What a look-up answers with.
pub type Addresses = BoxFuture<'static, io::Result<Vec<IpAddr>>>;

/// Where names are looked up. Tests have one that lies.
pub trait Resolver: Send + Sync + 'static {
    /// All addresses of this name.
    fn addresses(&self, host: &str) -> Addresses;
}

/// The system's resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct System;

impl Resolver for System {
    fn addresses(&self, host: &str) -> Addresses {
        let host = host.to_owned();
        Box::pin(async move {
            let found = tokio::net::lookup_host((host, 0)).await?;
            Ok(found.map(|address| address.ip()).collect())
        })
    }
}

/// What reqwest asks for addresses: it connects to the ones it is given, so those that were judged are those that are used.
pub(crate) struct Judged {
    pub(crate) resolver: Arc<dyn Resolver>,
    pub(crate) policy: Policy,
}

impl Resolve for Judged {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let (found, policy) = (self.resolver.addresses(&host), self.policy.clone());
        Box::pin(async move {
            let found = found.await.map_err(|error| Error::Lookup { host: host.clone(), reason: error.to_string() })?;
            let judged = judge_all(&host, found, &policy)?;
            Ok(Box::new(judged.into_iter()) as Addrs)
        })
    }
}

/// One address that leads inside refuses them all: which of them is taken is for the network to decide.
fn judge_all(host: &str, addresses: Vec<IpAddr>, policy: &Policy) -> Result<Vec<SocketAddr>, Error> {
    let lookup = |reason: &str| Error::Lookup { host: host.to_owned(), reason: reason.to_owned() };
    if addresses.is_empty() {
        return Err(lookup("it has no address"));
    }
    if addresses.len() > limit::ADDRESSES_MAX {
        return Err(lookup("it has too many addresses"));
    }
    for address in &addresses {
        let inside = |reason| Error::Inside { host: host.to_owned(), address: *address, reason };
        policy.judge(*address).map_err(inside)?;
    }
    // Port 0 stands for the port of the URL.
    Ok(addresses.into_iter().map(|address| SocketAddr::new(address, 0)).collect())
}
