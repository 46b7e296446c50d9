//! nginx with one static file: what a page can cost at best.

use super::end;
use crate::http::{Connection, Request};
use anyhow::{Context as _, Result, bail};
use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};
use tokio::{
    process::{Child, Command},
    time::sleep,
};

const BINARY: &str = "/usr/sbin/nginx";
const READY_MAX: Duration = Duration::from_secs(5);

/// A running nginx.
pub struct Nginx {
    child: Child,
    pub address: SocketAddr,
}

impl Nginx {
    /// Starts nginx serving these bytes as `/page`; `None` where it is not installed.
    pub async fn start(work: &Path, bytes: &[u8]) -> Result<Option<Self>> {
        if !Path::new(BINARY).exists() {
            return Ok(None);
        }
        let root = work.join("nginx");
        fs::create_dir_all(&root)?;
        fs::write(root.join("page"), bytes)?;
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        fs::write(root.join("nginx.conf"), config(&root, address))?;
        let child = Command::new(BINARY)
            .args(["-e", "stderr", "-c"])
            .arg(root.join("nginx.conf"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(fs::File::create(root.join("log"))?)
            .kill_on_drop(true)
            .spawn()
            .context("cannot run nginx")?;
        let mut nginx = Self { child, address };
        let began = Instant::now();
        while Connection::open(address).await.is_err() {
            if began.elapsed() > READY_MAX || nginx.child.try_wait()?.is_some() {
                bail!("nginx does not answer: {}", fs::read_to_string(root.join("log")).unwrap_or_default());
            }
            sleep(Duration::from_millis(10)).await;
        }
        let mut connection = Connection::open(address).await?;
        let served = connection.call(&Request::get(address, "/page", &[])).await?.body_bytes;
        if served != bytes.len() {
            bail!("nginx serves {served} bytes instead of {}", bytes.len());
        }
        Ok(Some(nginx))
    }

    /// Ends it; the workers follow their master.
    pub async fn stop(mut self) -> Result<()> {
        end(&mut self.child).await
    }
}

/// As distributions ship it, without the access log. The workers stay who we are: they must read our directory.
fn config(root: &Path, address: SocketAddr) -> String {
    let root = root.display();
    let user = if rustix::process::geteuid().is_root() { "user root;\n" } else { "" };
    let paths =
        ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(|kind| format!("{kind}_temp_path {root}/{kind};\n"));
    format!(
        "daemon off;\nworker_processes auto;\npid {root}/pid;\n{user}events {{ worker_connections 1024; }}\n\
         http {{ sendfile on; tcp_nopush on; access_log off; keepalive_requests 1000000000; keepalive_timeout 75;\n{}\
         default_type application/json;\nserver {{ listen {address}; root {root}; }} }}\n",
        paths.concat()
    )
}
