//! A small imitation of the product: the routes and commands that the harness uses, over one file of JSON lines, with
//! the planted bugs. With it the harness is tested by itself, with real kills and power cuts.

mod api;
mod model;
mod storage;

use anyhow::{Context as _, Result, bail};
use hyper::{server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use model::Bug;
use std::{
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let option = |name: &str| arguments.iter().skip_while(|word| *word != name).nth(1).cloned();
    let data_dir = PathBuf::from(option("--data-dir").context("--data-dir is missing")?);
    match arguments.first().map(String::as_str) {
        Some("user") => Ok(()),
        Some("token") => token(&data_dir),
        Some("verify") => storage::load(&data_dir).map(drop),
        Some("serve") => serve(&data_dir, &option("--listen").context("--listen is missing")?).await,
        _ => bail!("user, token, verify or serve"),
    }
}

fn token(data_dir: &Path) -> Result<()> {
    std::fs::write(data_dir.join("token"), storage::TOKEN)?;
    println!("{}", storage::TOKEN);
    Ok(())
}

async fn serve(data_dir: &Path, listen: &str) -> Result<()> {
    let bug = std::env::var("SHIFTBOOK_PLANTED_BUG").ok().map(|name| Bug::parse(&name)).transpose()?;
    let store = Arc::new(storage::Store::open(data_dir, bug)?);
    let listener = TcpListener::bind(listen).await?;
    println!("http://{}", listener.local_addr()?);
    let sweeper = store.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(Duration::from_millis(200)).await;
            sweeper.sweep();
        }
    });
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let store = store.clone();
        tokio::spawn(async move {
            let service = service_fn(move |request| api::answer(store.clone(), request));
            // A connection that was cut is the harness's doing.
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}
