//! Makes requests.

use crate::{
    Destination, Hosts, Policy, Resolver, SystemResolver,
    error::{Error, Result},
    limit,
    resolve::CheckedResolver,
};
use bytes::{Bytes, BytesMut};
use reqwest::{
    Method,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use std::{sync::Arc, time::Duration};

const METHODS: [Method; 6] = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
/// Headers that belong to the connection and cannot be set by callers.
const OUR_HEADERS: [&str; 10] = [
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "proxy-connection",
];

/// Makes requests to addresses that people or agents chose. Clones share their settings.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    policy: Policy,
}

/// A request and the hosts that may receive it.
#[derive(Debug, Clone)]
pub struct Request {
    /// GET, HEAD, POST, PUT, PATCH or DELETE.
    pub method: Method,
    /// The address, `http://…` or `https://…`, at most [`limit::URL_BYTES_MAX`].
    pub url: String,
    /// Names and values, at most [`limit::HEADERS_MAX`].
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Bytes,
    /// Hosts that this request may be sent to.
    pub hosts: Hosts,
}

/// A response whose body is read in parts.
#[derive(Debug)]
pub struct Incoming {
    /// The HTTP status code.
    pub status: u16,
    /// Names in lower case and values. Values that are not text are left out.
    pub headers: Vec<(String, String)>,
    answer: reqwest::Response,
    /// Bytes of the body that were read.
    received: usize,
}

impl Incoming {
    /// The first header with this name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        first(&self.headers, name)
    }

    /// The next part of the body; `None` at its end.
    ///
    /// # Errors
    /// [`Error::TooLarge`] for a body with more than [`limit::BODY_BYTES_MAX`] in all; [`Error::Timeout`] and
    /// [`Error::Exchange`] if the rest does not arrive.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>> {
        let chunk = self.answer.chunk().await.map_err(Error::of_exchange)?;
        self.received += chunk.as_ref().map_or(0, Bytes::len);
        if self.received > limit::BODY_BYTES_MAX {
            return Err(Error::TooLarge("its body"));
        }
        Ok(chunk)
    }

    /// The response with its whole body.
    ///
    /// # Errors
    /// Those of [`Self::chunk`].
    pub async fn whole(mut self) -> Result<Response> {
        let mut body = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            body.extend_from_slice(&chunk);
        }
        Ok(Response { status: self.status, headers: self.headers, body: body.freeze() })
    }
}

/// A response with any status, redirects included.
#[derive(Debug, Clone)]
pub struct Response {
    /// The HTTP status code.
    pub status: u16,
    /// Names in lower case and values. Values that are not text are left out.
    pub headers: Vec<(String, String)>,
    /// The body, at most [`limit::BODY_BYTES_MAX`].
    pub body: Bytes,
}

impl Response {
    /// The first header with this name in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        first(&self.headers, name)
    }
}

fn first<'a>(headers: &'a [(String, String)], name: &str) -> Option<&'a str> {
    headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

impl Client {
    /// A client that uses the system's resolver.
    pub fn new(policy: Policy) -> Result<Self> {
        Self::with_resolver(policy, Arc::new(SystemResolver))
    }

    /// A client with another resolver, for tests.
    pub fn with_resolver(policy: Policy, resolver: Arc<dyn Resolver>) -> Result<Self> {
        #[cfg(feature = "tls")]
        {
            // The crypto provider of the process; one that is set already is kept.
            let _chosen = rustls::crypto::ring::default_provider().install_default();
        }
        let http = reqwest::Client::builder()
            .user_agent(concat!("shiftbook/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(CheckedResolver { resolver, policy: policy.clone() })
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            // Decompression stays off, so that the limit applies to the bytes received.
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .no_zstd()
            // A proxy from the environment would resolve names itself, inside of the network.
            .no_proxy()
            .referer(false)
            // Connections are not reused: the check of an idle connection's address could be outdated.
            .pool_max_idle_per_host(0)
            .http1_only()
            .http1_max_headers(limit::HEADERS_MAX)
            .connect_timeout(limit::CONNECT)
            .timeout(limit::TIME)
            .build()
            .map_err(|error| Error::Exchange(format!("the HTTP client cannot start: {error}")))?;
        Ok(Self { http, policy })
    }

    /// The policy, to check an address before it is called.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Makes a request within [`limit::TIME`]. Redirects are not followed.
    ///
    /// # Errors
    /// Why the request was not made, or has no response.
    pub async fn fetch(&self, request: Request) -> Result<Response> {
        self.fetch_within(request, limit::TIME).await
    }

    /// Does the same within another time, from resolving the name to the last byte of the response.
    ///
    /// # Errors
    /// Those of [`Self::fetch`]. [`Error::Timeout`] names [`limit::TIME`] whatever the time was.
    pub async fn fetch_within(&self, request: Request, time: Duration) -> Result<Response> {
        self.open_within(request, time).await?.whole().await
    }

    /// Makes a request and returns its response when its headers have arrived. The time ends with the last byte of the
    /// body, which the caller reads.
    ///
    /// # Errors
    /// Those of [`Self::fetch_within`].
    pub async fn open_within(&self, request: Request, time: Duration) -> Result<Incoming> {
        let destination = Destination::parse(&request.url, &self.policy)?;
        if !request.hosts.allow(&destination) {
            return Err(Error::NotAllowed(destination.host().to_owned()));
        }
        if !METHODS.contains(&request.method) {
            return Err(Error::Request(format!("{} is not a method that is sent from here", request.method)));
        }
        if request.body.len() > limit::BODY_BYTES_MAX {
            return Err(Error::Request(format!("its body is larger than {} bytes", limit::BODY_BYTES_MAX)));
        }
        let headers = headers(&request.headers)?;
        let mut call = self.http.request(request.method, destination.into_url()).headers(headers).timeout(time);
        if !request.body.is_empty() {
            call = call.body(request.body);
        }
        incoming(call.send().await.map_err(Error::of_exchange)?)
    }
}

fn headers(given: &[(String, String)]) -> Result<HeaderMap> {
    let refused = |why: String| Error::Request(why);
    if given.len() > limit::HEADERS_MAX {
        return Err(refused(format!("it has more than {} headers", limit::HEADERS_MAX)));
    }
    if given.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > limit::HEADER_BYTES_MAX {
        return Err(refused(format!("its headers are larger than {} bytes", limit::HEADER_BYTES_MAX)));
    }
    let mut headers = HeaderMap::new();
    for (name, value) in given {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused(format!("`{name}` is not a header")))?;
        if OUR_HEADERS.contains(&name.as_str()) {
            return Err(refused(format!("the header {name} is not for callers to set")));
        }
        let value =
            HeaderValue::from_str(value).map_err(|_| refused(format!("the value of {name} is not one line")))?;
        headers.append(name, value);
    }
    Ok(headers)
}

fn incoming(answer: reqwest::Response) -> Result<Incoming> {
    let status = answer.status().as_u16();
    let headers: Vec<(String, String)> = answer
        .headers()
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect();
    if headers.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>() > limit::HEADER_BYTES_MAX {
        return Err(Error::TooLarge("its headers"));
    }
    Ok(Incoming { status, headers, answer, received: 0 })
}
