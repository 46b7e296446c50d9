//! All routes of the server: those of the OpenAPI document, the pages that the source declares, and the server
//! functions as they are registered.

use crate::app::{App, Who};
use leptos::server_fn::axum::server_fn_paths;
use reqwest::Method;
use serde_json::Value;
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A method, and a path with parameters in braces.
pub type Route = (Method, String);

/// The operations of the OpenAPI document that the running server serves.
pub async fn documented(app: &App) -> Vec<Route> {
    let document = app.request(Who::Anonymous, Method::GET, "/api/openapi.json").send().await.unwrap();
    let document: Value = document.json().await.unwrap();
    let mut routes = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for method in ["get", "post", "patch", "put", "delete"] {
            if operations.get(method).is_some() {
                routes.push((method.to_uppercase().parse().unwrap(), path.clone()));
            }
        }
    }
    routes
}

/// The routes of pages, assets and server functions. axum does not list a router's routes, so this reads the source:
/// every `.route(` below `src/web` and `src/assets`. It fails for other ways to declare a route.
pub fn pages() -> Vec<Route> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut routes = Vec::new();
    for folder in ["web", "assets"] {
        for file in rust_files(&source.join(folder)) {
            let text = fs::read_to_string(&file).unwrap();
            for unknown in [".route_service(", ".nest(", ".nest_service(", ".fallback(", "routing::any", "MethodRouter"]
            {
                assert!(!text.contains(unknown), "{}: this test does not understand {unknown}", file.display());
            }
            for declared in text.split(".route(").skip(1) {
                routes.extend(declared_by(arguments(declared)));
            }
        }
    }
    // A router that declares routes in another file would not be found.
    let router = fs::read_to_string(source.join("router.rs")).unwrap();
    assert!(!router.contains(".route("), "src/router.rs declares a route itself");
    assert_eq!(router.matches(".merge(").count(), 4, "src/router.rs merges a router that this test does not know");
    routes.extend(server_fn_paths().map(|(path, method)| (method, path.to_owned())));
    routes.sort_by(|a, b| (&a.1, a.0.as_str()).cmp(&(&b.1, b.0.as_str())));
    routes
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

/// The text up to the parenthesis that closes `.route(`.
fn arguments(text: &str) -> &str {
    let mut depth = 1;
    for (at, letter) in text.char_indices() {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[..at];
        }
    }
    panic!("no end of {text}")
}

/// `"/a", get(show).post(submit)` declares two routes. Closures as handlers contain parentheses too.
fn declared_by(arguments: &str) -> Vec<Route> {
    let (path, handlers) = arguments.trim().strip_prefix('"').unwrap().split_once('"').unwrap();
    let mut methods = Vec::new();
    let (mut depth, mut word) = (0, String::new());
    for letter in handlers.chars() {
        match letter {
            '(' => {
                if depth == 0 {
                    methods.push(word.to_uppercase());
                }
                depth += 1;
            }
            ')' => depth -= 1,
            _ => {}
        }
        word = if letter.is_alphanumeric() || letter == '_' { word + &letter.to_string() } else { String::new() };
    }
    assert!(!methods.is_empty(), "no method in {arguments}");
    for method in &methods {
        assert!(["GET", "POST", "PUT", "PATCH", "DELETE"].contains(&method.as_str()), "{method} in {arguments}");
    }
    methods.into_iter().map(|method| (method.parse().unwrap(), path.to_owned())).collect()
}

#[test]
fn the_source_is_read_as_it_is_meant() {
    let of =
        |text: &str| declared_by(text).into_iter().map(|(method, path)| format!("{method} {path}")).collect::<Vec<_>>();
    assert_eq!(of("\"/a/{id}\", get(show).post(edit)"), ["GET /a/{id}", "POST /a/{id}"]);
    assert_eq!(of("\n \"/b\", get(|| async { Redirect::to(\"/c\") }),\n"), ["GET /b"]);
    assert_eq!(arguments("\"/b\", get(f(x)))\n.route("), "\"/b\", get(f(x))");
    // Spot checks, so that an empty list does not pass.
    let pages = pages();
    for (method, path) in [(Method::GET, "/today"), (Method::POST, "/sign-out"), (Method::POST, "/fn/chat/send")] {
        assert!(pages.contains(&(method, path.to_owned())), "{path}");
    }
}
