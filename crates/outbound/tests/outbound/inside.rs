//! Hundreds of ways to say "inside", and no connection from any of them.

use crate::support::{FakeResolver, Server, client, get};
use outbound::{Client, Error, Policy};
use std::{
    net::{IpAddr, Ipv4Addr},
    sync::Arc,
};

/// Addresses that lead inside, one or more of each kind.
const INSIDE: [&str; 26] = [
    "0.0.0.0",
    "0.1.2.3",
    "10.0.0.1",
    "10.255.255.255",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.0.0.3",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.0.1",
    "169.254.169.254",
    "169.254.170.2",
    "172.16.0.1",
    "172.31.255.255",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "192.168.255.255",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "240.0.0.1",
    "255.255.255.255",
];

/// One IPv4 address in every notation that some client somewhere understands.
fn spellings(ip: Ipv4Addr) -> Vec<String> {
    let [a, b, c, d] = ip.octets();
    let number = u32::from(ip);
    let (high, low) = (number >> 16, number & 0xffff);
    vec![
        ip.to_string(),
        format!("{ip}."),
        number.to_string(),
        format!("0x{number:x}"),
        format!("0X{number:08X}"),
        format!("0{number:o}"),
        format!("0x{a:x}.0x{b:x}.0x{c:x}.0x{d:x}"),
        format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"),
        format!("{a}.{b}.{}", (u32::from(c) << 8) | u32::from(d)),
        format!("{a}.{}", number & 0x00ff_ffff),
        format!("%{:02x}{}", ip.to_string().as_bytes()[0], &ip.to_string()[1..]),
        ip.to_string().chars().map(full_width).collect(),
        format!("[::ffff:{ip}]"),
        format!("[::ffff:{high:x}:{low:x}]"),
        format!("[0:0:0:0:0:ffff:{high:x}:{low:x}]"),
        format!("[::{high:x}:{low:x}]"),
        format!("[64:ff9b::{high:x}:{low:x}]"),
        format!("[64:ff9b:1::{high:x}:{low:x}]"),
        format!("[2002:{high:x}:{low:x}::1]"),
        format!("[2001:0:{high:x}:{low:x}::1]"),
    ]
}

/// Digits and dots as wide letters, which hosts are normalised from.
fn full_width(letter: char) -> char {
    match letter {
        '.' => '．',
        digit => char::from_u32(0xff10 + u32::from(digit) - u32::from('0')).unwrap(),
    }
}

/// Whatever is no IPv4 address.
fn others(port: u16) -> Vec<String> {
    let hosts = [
        "[::1]",
        "[::]",
        "[0:0:0:0:0:0:0:1]",
        "[fe80::1]",
        "[fe80::1%25eth0]",
        "[fe80::1%eth0]",
        "[fe80::1%251]",
        "[fec0::1]",
        "[fc00::1]",
        "[fd00:ec2::254]",
        "[fd20:ce::254]",
        "[ff02::1]",
        "[ff05::1:3]",
        "[2001:db8::1]",
        "[3fff::1]",
        "[5f00::1]",
        "[100::1]",
        "[2001:10::1]",
        "[2001:20::1]",
        "[2001:2::1]",
        "[::ffff:0:127.0.0.1]",
        "[::1%25lo]",
        "[v1.fe80::a]",
        "localhost",
        "LOCALHOST",
        "localhost.",
        "localhost.localdomain",
        "ip6-localhost",
        "ip6-loopback",
        "",
    ];
    let mut urls: Vec<String> = hosts.iter().map(|host| format!("http://{host}:{port}/")).collect();
    urls.extend(
        [
            "unix:/var/run/docker.sock",
            "unix:///var/run/docker.sock",
            "http+unix://%2Fvar%2Frun%2Fdocker.sock/info",
            "http://unix:/var/run/docker.sock:/info",
            "file:///etc/passwd",
            "file://127.0.0.1/etc/passwd",
            "gopher://127.0.0.1:6379/_INFO",
            "dict://127.0.0.1:6379/info",
            "ftp://127.0.0.1/",
            "ldap://127.0.0.1/",
            "ws://127.0.0.1/",
            "data:text/plain,a",
            "javascript:1",
            "blob:http://127.0.0.1/1",
            "jar:http://127.0.0.1!/",
            "//127.0.0.1/",
            "127.0.0.1",
            "http:",
            "http://",
            "http:///",
            "http://?",
            "http://#",
            "",
            "/",
            "http://.",
            "http://..",
            "http://user@127.0.0.1/",
            "http://8.8.8.8@127.0.0.1/",
            "http://127.0.0.1#@8.8.8.8/",
            "http://127.0.0.1\\@8.8.8.8/",
            "http://8.8.8.8\\@127.0.0.1/",
            "http://8.8.8.8 @127.0.0.1/",
            "http://127.0.0.1\t/",
            "ht\ntp://127.0.0.1/",
            "http://127.0.0.1%00.example.org/",
            "http://127.0.0.1%0d%0a/",
            "http:127.0.0.1",
            "http:/127.0.0.1",
            "http:\\\\127.0.0.1",
            "http://①②⑦.⓪.⓪.①/",
            "http://127。0。0。1/",
            "http://127.1/",
            "http://127.0.1/",
            "http://0/",
            "http://0x/",
            "http://00/",
            "http://0x7f.1/",
            "http://017700000001/",
            "http://127.0.0.1.:80/",
            "http://127.0.0.1:99999/",
            "http://256.256.256.256/",
            "http://1.2.3.4.5/",
            "http://0x100000000/",
            "http://[::1/",
            "http://::1/",
            "http://[127.0.0.1]/",
        ]
        .map(str::to_owned),
    );
    urls
}

fn refused_before_connecting(error: &Error) -> bool {
    matches!(error, Error::Address(_) | Error::Inside { .. } | Error::Lookup { .. })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_spelling_of_an_inner_address_makes_a_connection() {
    let inner = Server::start("0.0.0.0", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let port = inner.address.port();
    let client = Client::new(Policy::default()).unwrap();
    let numbers = INSIDE.iter().flat_map(|ip| spellings(ip.parse().unwrap()));
    let mut urls: Vec<String> = numbers.map(|host| format!("http://{host}:{port}/")).collect();
    urls.extend(others(port));
    assert!(urls.len() >= 300, "{}", urls.len());
    for url in &urls {
        let outcome = client.fetch(get(url)).await;
        assert!(outcome.as_ref().is_err_and(refused_before_connecting), "{url}: {outcome:?}");
    }
    assert_eq!(inner.connections(), 0);
}

#[tokio::test]
async fn a_name_with_one_inner_address_among_others_is_refused_whole() {
    let inner = Server::start("127.0.0.1", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    let outer = Server::start("127.0.0.2", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    for ip in INSIDE {
        for answer in [vec![ip], vec!["127.0.0.2", ip], vec![ip, "127.0.0.2"]] {
            let resolver = Arc::new(FakeResolver::default().name("n.example", &[&answer]));
            for port in [inner.address.port(), outer.address.port()] {
                let refused =
                    client(resolver.clone()).fetch(get(&format!("http://n.example:{port}/"))).await.unwrap_err();
                let expected: IpAddr = ip.parse().unwrap();
                assert!(matches!(&refused, Error::Inside { address, .. } if *address == expected), "{refused}");
            }
        }
    }
    assert_eq!((inner.connections(), outer.connections()), (0, 0));
}

#[tokio::test]
async fn a_name_that_changes_its_mind_is_asked_once_and_connected_to_as_judged() {
    let inner = Server::start("127.0.0.1", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\ninner").await;
    let resolver = Arc::new(FakeResolver::default().name("rebind.example", &[&["127.0.0.2"], &["127.0.0.1"]]));
    let client = client(resolver.clone());
    // No one listens on this port of 127.0.0.2: a second look-up would be the only way to get an answer.
    let url = format!("http://rebind.example:{}/", inner.address.port());
    let failed = client.fetch(get(&url)).await.unwrap_err();
    assert!(matches!(failed, Error::Unreachable(_)), "{failed}");
    assert_eq!((resolver.lookups(), inner.connections()), (1, 0));
    // The next call looks up again, and judges again: no connection or answer is kept from the first.
    let refused = client.fetch(get(&url)).await.unwrap_err();
    assert!(matches!(refused, Error::Inside { .. }), "{refused}");
    assert_eq!((resolver.lookups(), inner.connections()), (2, 0));
}

#[tokio::test]
async fn a_redirect_is_an_answer_and_is_not_followed() {
    let inner = Server::start("127.0.0.1", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\ninner").await;
    for status in [301, 302, 303, 307, 308] {
        let location = format!("http://{}/", inner.address);
        let answer = format!("HTTP/1.1 {status} Moved\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
        let outer = Server::start("127.0.0.2", &answer).await;
        let client = client(Arc::default());
        let response = client.fetch(get(&format!("http://{}/", outer.address))).await.unwrap();
        assert_eq!((response.status, response.header("location")), (status, Some(location.as_str())));
        assert_eq!(outer.connections(), 1);
    }
    assert_eq!(inner.connections(), 0);
}
