//! Pages as a browser without scripts gets them.

use crate::app::{App, Who};
use reqwest::Method;

#[tokio::test]
async fn the_icon_is_served_where_every_page_says_it_is() {
    let app = App::start();
    let page = app.request(Who::Anonymous, Method::GET, "/sign-in").send().await.unwrap().text().await.unwrap();
    assert!(page.contains("href=\"/favicon.svg\""), "{page}");
    let icon = app.request(Who::Anonymous, Method::GET, "/favicon.svg").send().await.unwrap();
    assert_eq!((icon.status().as_u16(), &icon.headers()["content-type"]), (200, &"image/svg+xml".parse().unwrap()));
    assert_eq!(icon.headers()["cache-control"], "public, max-age=86400");
    assert!(icon.text().await.unwrap().contains("<svg"));
}
