//! Writes every page in its empty, normal, full and error state to target/gallery, and every component to
//! components.html.
//!
//! Usage: `cargo run -p app --features ssr --example gallery [-- TARGET_DIR]`. The pages load scripts from
//! TARGET_DIR/pkg.

mod chat;
mod components;
mod inbox;
mod pages;
mod props;
mod sample;

use std::{
    error::Error,
    fs,
    path::Path,
    time::{Duration, Instant},
};

fn main() -> Result<(), Box<dyn Error>> {
    let target = std::env::args().nth(1).unwrap_or_else(|| "target/gallery".to_owned());
    let target = Path::new(&target);
    fs::create_dir_all(target.join("style"))?;
    for entry in fs::read_dir("style")? {
        let path = entry?.path();
        if let Some(name) = path.file_name().filter(|_| path.is_file()) {
            fs::copy(&path, target.join("style").join(name))?;
        }
    }
    fs::write(target.join("favicon.svg"), app::FAVICON_SVG)?;
    fs::write(target.join("components.html"), components::page())?;
    for (name, html) in pages::all()? {
        fs::write(target.join(format!("{name}.html")), html)?;
    }
    // The fastest of many rounds is the one with the least interference from other processes.
    let mut best = Duration::MAX;
    let mut bytes = 0;
    for _ in 0..500 {
        let (page, props) = pages::hundred_events();
        let started = Instant::now();
        bytes = page(props).len();
        best = best.min(started.elapsed());
    }
    println!("a page of 100 events: {} µs, {bytes} bytes", best.as_micros());
    Ok(())
}
