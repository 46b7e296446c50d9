//! Sends requests and reads answers.

use crate::{Error, Result, limit};
use bytes::{Bytes, BytesMut};
use reqwest::{
    Method, Response, Url,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, USER_AGENT},
    redirect::Policy,
};
use serde::{Serialize, de::DeserializeOwned};
use std::{net::IpAddr, time::Duration};
use wire::worker::NAME_HEADER;

/// A connection pool to one server, with one token. Clones share the pool.
#[derive(Clone)]
pub struct Client {
    http: reqwest::Client,
    base: Url,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Client").field("base", &self.base.as_str()).finish_non_exhaustive()
    }
}

/// An HTTP client for another service that the operator configured, with this crate's limits on connections and without
/// the token. The caller sets timeouts.
///
/// # Errors
/// [`Error::Setup`] if the address cannot be used or the client cannot start.
pub fn http_client(base_url: &str) -> Result<reqwest::Client> {
    started(builder_for(&parse_base(base_url)?).pool_idle_timeout(limit::IDLE_CONNECTION_ELSEWHERE))
}

fn builder_for(base: &Url) -> reqwest::ClientBuilder {
    #[cfg(feature = "tls")]
    choose_provider();
    let builder = reqwest::Client::builder()
        .connect_timeout(limit::CONNECT_TIMEOUT)
        .pool_idle_timeout(limit::IDLE_CONNECTION)
        .redirect(Policy::none())
        // Small requests do not wait for the acknowledgement of the previous answer.
        .tcp_nodelay(true);
    // A proxy from the environment could not reach this machine's own addresses.
    if is_loopback(base) { builder.no_proxy() } else { builder }
}

fn started(builder: reqwest::ClientBuilder) -> Result<reqwest::Client> {
    builder.build().map_err(|error| Error::Setup(format!("the HTTP client cannot start: {error}")))
}

/// A query string; absent values are left out.
pub(crate) type Query<'a> = &'a [(&'static str, Option<String>)];

impl Client {
    /// A client of the server at `base_url`, whose path is kept as a prefix, with `token` in every call.
    ///
    /// # Errors
    /// [`Error::Setup`] if the address or the token cannot be used.
    pub fn new(base_url: &str, token: &str) -> Result<Self> {
        Self::with_connect_timeout(base_url, token, limit::CONNECT_TIMEOUT)
    }

    /// As [`Client::new`], for a worker with this name: 1 to 64 visible ASCII characters, different for each worker.
    ///
    /// # Errors
    /// As [`Client::new`], and if the name cannot be sent.
    pub fn for_worker(base_url: &str, token: &str, name: &str) -> Result<Self> {
        let name = HeaderValue::from_str(name)
            .map_err(|_| Error::Setup("the worker's name holds characters that cannot be sent".into()))?;
        let named = HeaderMap::from_iter([(HeaderName::from_static(NAME_HEADER), name)]);
        Self::with_headers(base_url, token, limit::CONNECT_TIMEOUT, named)
    }

    /// As [`Client::new`], with this time to open a connection. A call that cannot open one in time fails with
    /// [`Error::Transport`].
    ///
    /// # Errors
    /// As [`Client::new`].
    pub fn with_connect_timeout(base_url: &str, token: &str, connect_timeout: Duration) -> Result<Self> {
        Self::with_headers(base_url, token, connect_timeout, HeaderMap::new())
    }

    fn with_headers(base_url: &str, token: &str, connect_timeout: Duration, mut headers: HeaderMap) -> Result<Self> {
        let base = parse_base(base_url)?;
        let mut bearer = HeaderValue::from_str(&format!("Bearer {token}"))
            .map_err(|_| Error::Setup("the token holds characters that no token has".into()))?;
        bearer.set_sensitive(true);
        headers.insert(AUTHORIZATION, bearer);
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("shiftbook-client/", env!("CARGO_PKG_VERSION"))));
        let http = started(builder_for(&base).connect_timeout(connect_timeout).default_headers(headers))?;
        Ok(Self { http, base })
    }

    /// The server's address without a slash at the end.
    pub fn base_url(&self) -> &str {
        self.base.as_str().trim_end_matches('/')
    }

    /// The address of a path. Every segment is escaped, so an id cannot change the path.
    fn url(&self, path: &[&str], query: Query<'_>) -> Url {
        let mut url = self.base.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        if query.iter().any(|(_, value)| value.is_some()) {
            let mut pairs = url.query_pairs_mut();
            for (name, value) in query {
                if let Some(value) = value {
                    pairs.append_pair(name, value);
                }
            }
        }
        url
    }

    pub(crate) async fn get<T: DeserializeOwned>(&self, path: &[&str], query: Query<'_>) -> Result<T> {
        self.get_within(path, query, limit::CALL_TIMEOUT).await
    }

    pub(crate) async fn get_within<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: Query<'_>,
        allowed: Duration,
    ) -> Result<T> {
        let request = self.http.get(self.url(path, query)).header(ACCEPT, "application/json");
        self.exchange(request, allowed).await
    }

    pub(crate) async fn post<T: DeserializeOwned>(&self, path: &[&str], body: &impl Serialize) -> Result<T> {
        self.send(Method::POST, path, body, limit::CALL_TIMEOUT).await
    }

    pub(crate) async fn send<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        body: &impl Serialize,
        allowed: Duration,
    ) -> Result<T> {
        let body = serde_json::to_vec(body).map_err(|error| Error::protocol(None, error.to_string()))?;
        let request = self
            .http
            .request(method, self.url(path, &[]))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .body(body);
        self.exchange(request, allowed).await
    }

    /// Sends a POST request with this body, with `allowed` as its timeout.
    pub(crate) async fn post_document<T: DeserializeOwned>(
        &self,
        path: &[&str],
        query: Query<'_>,
        document: String,
        allowed: Duration,
    ) -> Result<T> {
        let request = self
            .http
            .post(self.url(path, query))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .body(document);
        self.exchange(request, allowed).await
    }

    /// Sends a body of this content type.
    pub(crate) async fn send_bytes<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &[&str],
        query: Query<'_>,
        content_type: &'static str,
        body: Vec<u8>,
    ) -> Result<T> {
        let request = self
            .http
            .request(method, self.url(path, query))
            .header(CONTENT_TYPE, content_type)
            .header(ACCEPT, "application/json")
            .body(body);
        self.exchange(request, limit::CALL_TIMEOUT).await
    }

    /// Downloads a file.
    pub(crate) async fn get_bytes(&self, path: &[&str]) -> Result<Vec<u8>> {
        let allowed = limit::CALL_TIMEOUT;
        let request = self.http.get(self.url(path, &[])).timeout(allowed);
        let answer = request.send().await.map_err(|error| Error::of_exchange(error, allowed))?;
        let answer = checked(answer, allowed).await?;
        Ok(read(answer, allowed).await?.to_vec())
    }

    /// Downloads a file of any size. `each` gets its pieces in order.
    pub(crate) async fn download<E: From<Error>>(
        &self,
        path: &[&str],
        query: Query<'_>,
        mut each: impl FnMut(&[u8]) -> std::result::Result<(), E>,
    ) -> std::result::Result<(), E> {
        let allowed = limit::CALL_TIMEOUT;
        let sent = tokio::time::timeout(allowed, self.http.get(self.url(path, query)).send()).await;
        let answer = sent.map_err(|_| Error::Timeout(allowed))?.map_err(|error| Error::of_exchange(error, allowed))?;
        let mut answer = checked(answer, allowed).await?;
        loop {
            let chunk = tokio::time::timeout(allowed, answer.chunk()).await.map_err(|_| Error::Timeout(allowed))?;
            match chunk.map_err(|error| Error::of_exchange(error, allowed))? {
                Some(chunk) => each(&chunk)?,
                None => return Ok(()),
            }
        }
    }

    /// Opens a stream and waits for the head of its answer.
    pub(crate) async fn open(&self, path: &[&str], query: Query<'_>, last_event_id: u64) -> Result<Response> {
        let request = self
            .http
            .get(self.url(path, query))
            .header(ACCEPT, "text/event-stream")
            .header("last-event-id", last_event_id.to_string());
        let answer = tokio::time::timeout(limit::CALL_TIMEOUT, request.send())
            .await
            .map_err(|_| Error::Timeout(limit::CALL_TIMEOUT))?
            .map_err(|error| Error::of_exchange(error, limit::CALL_TIMEOUT))?;
        checked(answer, limit::CALL_TIMEOUT).await
    }

    async fn exchange<T: DeserializeOwned>(&self, request: reqwest::RequestBuilder, allowed: Duration) -> Result<T> {
        let answer = request.timeout(allowed).send().await.map_err(|error| Error::of_exchange(error, allowed))?;
        let answer = checked(answer, allowed).await?;
        let status = answer.status().as_u16();
        let body = read(answer, allowed).await?;
        // A 204 has no body; `null` replaces it.
        let body = if body.is_empty() { b"null" } else { &body[..] };
        serde_json::from_slice(body).map_err(|error| Error::protocol(Some(status), error.to_string()))
    }
}

/// Turns an answer with an error status into an error.
async fn checked(answer: Response, allowed: Duration) -> Result<Response> {
    let status = answer.status();
    if status.is_success() {
        return Ok(answer);
    }
    let retry_after = answer
        .headers()
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok()?.trim().parse().ok())
        .map(|seconds| Duration::from_secs(seconds).min(limit::RETRY_AFTER_MAX));
    let body = read(answer, allowed).await?;
    Err(Error::of_answer(status.as_u16(), retry_after, &body))
}

async fn read(mut answer: Response, allowed: Duration) -> Result<Bytes> {
    let status = answer.status().as_u16();
    let mut body = BytesMut::new();
    while let Some(chunk) = answer.chunk().await.map_err(|error| Error::of_exchange(error, allowed))? {
        if body.len() + chunk.len() > limit::RESPONSE_BYTES_MAX {
            return Err(Error::protocol(Some(status), format!("more than {} bytes", limit::RESPONSE_BYTES_MAX)));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body.freeze())
}

fn parse_base(text: &str) -> Result<Url> {
    let refused = |why: &str| Error::Setup(format!("`{text}` is not a server address: {why}"));
    let mut url = Url::parse(text).map_err(|error| refused(&error.to_string()))?;
    match url.scheme() {
        "http" => {}
        "https" if cfg!(feature = "tls") => {}
        "https" => {
            return Err(refused("this build speaks plain http only; https needs a build with the feature `tls`"));
        }
        _ => return Err(refused("it begins with http:// or https://")),
    }
    if !url.username().is_empty() || url.password().is_some() {
        // The message is printed and logged, and says nothing that opens the server.
        let host = url.host_str().unwrap_or_default();
        let why = "carries a name or password; pass a token instead";
        return Err(Error::Setup(format!("the server address of {host} {why}")));
    }
    url.set_query(None);
    url.set_fragment(None);
    Ok(url)
}

/// Sets the crypto provider of the process, because reqwest is built without one. A provider that is set already is
/// kept.
#[cfg(feature = "tls")]
fn choose_provider() {
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(base: &str) -> Client {
        Client::new(base, "sbk_x").unwrap()
    }

    #[test]
    fn a_path_prefix_is_kept_and_ids_cannot_escape_their_segment() {
        for base in ["http://h:1/book", "http://h:1/book/"] {
            let url = client(base).url(&["api", "sessions", "../../x?y", "events"], &[]);
            assert_eq!(url.as_str(), "http://h:1/book/api/sessions/..%2F..%2Fx%3Fy/events");
        }
        assert_eq!(client("http://h:1/").base_url(), "http://h:1");
    }

    #[test]
    fn absent_query_values_are_left_out_and_others_are_escaped() {
        let url = client("http://h").url(&["api"], &[("a", None), ("b", Some("x&y=ü".into()))]);
        assert_eq!(url.as_str(), "http://h/api?b=x%26y%3D%C3%BC");
        assert_eq!(client("http://h").url(&["api"], &[("a", None)]).as_str(), "http://h/api");
    }

    #[test]
    fn unusable_addresses_and_tokens_say_why() {
        for bad in ["", "127.0.0.1:4210", "ftp://h", "http://u:p@h"] {
            assert!(matches!(Client::new(bad, "t"), Err(Error::Setup(_))), "{bad}");
        }
        assert!(matches!(Client::new("http://h", "a\nb"), Err(Error::Setup(_))));
        assert_eq!(Client::new("https://h", "t").is_ok(), cfg!(feature = "tls"));
    }

    #[test]
    fn the_token_is_not_in_the_debug_output() {
        assert!(!format!("{:?}", client("http://h")).contains("sbk_x"));
    }

    #[test]
    fn the_own_machine_is_recognised() {
        for (url, expected) in [
            ("http://127.0.0.1:1", true),
            ("http://[::1]:1", true),
            ("http://localhost", true),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(&Url::parse(url).unwrap()), expected, "{url}");
        }
    }
}
