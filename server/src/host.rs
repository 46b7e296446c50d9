//! Which host names the server answers to before it is set up, and which requests come from its own machine.
//!
//! A page of another site can let its own host name resolve to this machine's address (DNS rebinding). The browser then
//! treats the server as a part of that site, and the page could set the server up. But the browser still sends the
//! page's name as `Host`. Names that no one else can point to this machine are accepted: loopback names, IP addresses,
//! and the host of the public URL. After set-up every page needs a sign-in, whose cookie browsers send to its own host
//! only.

use crate::problem::Problem;
use axum::http::{HeaderMap, HeaderName, Uri, header, uri::Authority};
use std::net::{IpAddr, SocketAddr};
use wire::Code;

/// The other end of a request's connection: a browser, or a proxy.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub SocketAddr);

/// Paths without confidential content, which load balancers request under any name.
const PROBES: [&str; 3] = ["/healthz", "/readyz", "/metrics"];
/// Headers of proxies. Their values are not trusted, but their presence shows that the request came through a proxy.
const PROXY_HEADERS: [HeaderName; 6] = [
    HeaderName::from_static("forwarded"),
    HeaderName::from_static("x-forwarded-for"),
    HeaderName::from_static("x-forwarded-host"),
    HeaderName::from_static("x-forwarded-proto"),
    HeaderName::from_static("x-real-ip"),
    header::VIA,
];

/// Whether the path is one that load balancers and scrapers request.
pub fn is_probe(path: &str) -> bool {
    PROBES.contains(&path)
}

/// How the `Host` of a request refers to this server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostClass {
    /// By a loopback name or address.
    Loopback,
    /// By another IP address, by the public URL's host, or not at all, as no browser does.
    Known,
    /// By a name that anyone could have pointed to this server.
    Foreign,
}

impl HostClass {
    /// Classifies all host names of a request. A foreign one decides.
    fn of(uri: &Uri, headers: &HeaderMap, public_origin: Option<&str>) -> Self {
        let hosts = headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default());
        let names: Vec<_> =
            hosts.chain(uri.authority().map(Authority::as_str)).map(|name| Self::by(name, public_origin)).collect();
        if names.contains(&Self::Foreign) {
            return Self::Foreign;
        }
        let loopback = !names.is_empty() && names.iter().all(|name| *name == Self::Loopback);
        if loopback { Self::Loopback } else { Self::Known }
    }

    fn by(name: &str, public_origin: Option<&str>) -> Self {
        let Some(host) = host(name) else { return Self::Foreign };
        if is_loopback(&host) {
            return Self::Loopback;
        }
        let is_public = public_origin.and_then(host_of_origin).is_some_and(|public| public == host);
        if is_public || host.parse::<IpAddr>().is_ok() { Self::Known } else { Self::Foreign }
    }
}

/// Returns the host of `host[:port]` in lower case, without brackets and without a trailing dot.
fn host(authority: &str) -> Option<String> {
    let authority: Authority = authority.parse().ok().filter(|_| !authority.contains('@'))?;
    let host = authority.host().to_ascii_lowercase();
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
    let host = host.strip_suffix('.').unwrap_or(host);
    (!host.is_empty()).then(|| host.to_owned())
}

fn host_of_origin(origin: &str) -> Option<String> {
    host(origin.split_once("://")?.1)
}

/// Whether the host is `localhost`, a name below it, which no registry assigns, or a loopback address.
fn is_loopback(host: &str) -> bool {
    let by_address = host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback());
    by_address || host == "localhost" || host.ends_with(".localhost")
}

/// Refuses a request for a page whose host name anyone could have pointed to this server. Used before set-up only. The
/// API needs no such check, because it needs a token.
pub fn check(uri: &Uri, headers: &HeaderMap, public_origin: Option<&str>) -> Result<(), Problem> {
    if is_probe(uri.path()) || HostClass::of(uri, headers, public_origin) != HostClass::Foreign {
        return Ok(());
    }
    let detail = "no one has set this server up, and until then it answers to localhost, to IP addresses and to the \
         host of its public URL";
    Err(Problem::detailed(Code::UnknownHost, detail))
}

/// Whether a request comes from a browser on this machine.
///
/// The peer's address is not enough: behind a reverse proxy it is always this machine, and some proxies send a loopback
/// address as `Host`. So a header of a proxy, or a public URL, means that the request is not local.
pub fn is_local(peer: Option<Peer>, uri: &Uri, headers: &HeaderMap, public_origin: Option<&str>) -> bool {
    let by_proxy = PROXY_HEADERS.iter().any(|name| headers.contains_key(name));
    let public = public_origin.is_some_and(|origin| !host_of_origin(origin).is_some_and(|host| is_loopback(&host)));
    !by_proxy
        && !public
        && peer.is_some_and(|Peer(peer)| peer.ip().to_canonical().is_loopback())
        && HostClass::of(uri, headers, public_origin) == HostClass::Loopback
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    const PUBLIC: Option<&str> = Some("https://log.example.org:8443");

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        headers
    }

    #[test]
    fn names_that_no_one_can_point_to_this_server_are_known() {
        for (name, expected) in [
            ("localhost", HostClass::Loopback),
            ("LOCALHOST.:4210", HostClass::Loopback),
            ("shiftbook.localhost:4210", HostClass::Loopback),
            ("127.0.0.1:4210", HostClass::Loopback),
            ("127.8.9.1", HostClass::Loopback),
            ("[::1]:4210", HostClass::Loopback),
            ("[::ffff:127.0.0.1]", HostClass::Loopback),
            ("192.168.1.5:4210", HostClass::Known),
            ("0.0.0.0:4210", HostClass::Known),
            ("[2001:db8::1]", HostClass::Known),
            ("log.example.org", HostClass::Known),
            ("Log.Example.org:443", HostClass::Known),
            ("evil.example", HostClass::Foreign),
            ("localhost.evil.example", HostClass::Foreign),
            ("127.0.0.1.evil.example", HostClass::Foreign),
            ("log.example.org.evil.example", HostClass::Foreign),
            ("notlocalhost", HostClass::Foreign),
            ("localhost@evil.example", HostClass::Foreign),
            ("evil.example@localhost", HostClass::Foreign),
            ("localhost:4210, evil.example", HostClass::Foreign),
            ("127.1", HostClass::Foreign),
            ("", HostClass::Foreign),
        ] {
            let of = HostClass::of(&Uri::from_static("/setup"), &headers(&[("host", name)]), PUBLIC);
            assert_eq!(of, expected, "{name}");
        }
        assert_eq!(HostClass::of(&Uri::from_static("/"), &headers(&[]), PUBLIC), HostClass::Known);
    }

    #[test]
    fn of_two_names_the_worse_counts() {
        let both = headers(&[("host", "localhost"), ("host", "evil.example")]);
        assert_eq!(HostClass::of(&Uri::from_static("/"), &both, None), HostClass::Foreign);
        let absolute = Uri::from_static("http://evil.example/setup");
        assert_eq!(HostClass::of(&absolute, &headers(&[("host", "localhost")]), None), HostClass::Foreign);
        let forwarded = headers(&[("host", "evil.example"), ("x-forwarded-host", "localhost")]);
        assert!(check(&Uri::from_static("/setup"), &forwarded, None).is_err());
        assert!(check(&Uri::from_static("/healthz"), &forwarded, None).is_ok());
    }

    #[test]
    fn a_request_without_signs_of_a_proxy_is_local() {
        let (here, elsewhere) = (Peer("127.0.0.1:1".parse().unwrap()), Peer("192.0.2.7:1".parse().unwrap()));
        let uri = Uri::from_static("/setup");
        let local = |peer, pairs: &[(&'static str, &str)], public| is_local(peer, &uri, &headers(pairs), public);
        assert!(local(Some(here), &[("host", "localhost:4210")], None));
        assert!(local(Some(Peer("[::1]:1".parse().unwrap())), &[("host", "[::1]:4210")], None));
        assert!(local(Some(here), &[("host", "localhost")], Some("http://localhost:4210")));
        assert!(!local(Some(here), &[("host", "localhost")], PUBLIC), "a public URL means a proxy");
        assert!(!local(Some(elsewhere), &[("host", "localhost")], None));
        assert!(!local(None, &[("host", "localhost")], None));
        assert!(!local(Some(here), &[("host", "192.168.1.5")], None));
        assert!(!local(Some(here), &[], None), "no browser sends no Host");
        for name in ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip", "via"] {
            assert!(!local(Some(here), &[("host", "localhost"), (name, "127.0.0.1")], None), "{name}");
        }
    }
}
