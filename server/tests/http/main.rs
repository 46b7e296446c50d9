//! Promises of the server over HTTP, tested with the real binary. All files are modules of one test binary.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a panic is how a test says no")]

mod access;
mod agents;
mod app;
mod approval;
mod approval_kill;
mod bad_input;
mod browser;
mod chat;
mod chat_page;
mod chat_twice;
mod closing;
mod csrf;
mod docs;
mod export_files;
mod file_modes;
mod full_disk;
mod function;
mod graph;
mod hook;
mod human;
mod inbox;
mod incognito;
mod interaction;
mod limits;
mod matrix;
mod matrix_people;
mod pages;
mod people;
mod prepare;
mod prepare_functions;
mod prepare_rows;
mod rating;
mod routes;
mod setup;
mod sign_in;
mod soak;
mod stop;
mod task;
mod thread;
mod tls;
mod today;
mod verify;
mod webhook;
mod work;
