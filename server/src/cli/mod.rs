//! The command line of `shiftbook`.

mod agent;
mod ask;
mod backup;
mod chat;
mod check_config;
mod common;
mod export;
mod export_labels;
mod feedback;
mod hook;
mod install;
mod instance_key;
mod memory;
mod memory_card;
mod memory_folder;
mod memory_forget;
mod memory_pending;
mod memory_ranker;
mod openapi;
mod restore;
mod retention;
mod run;
mod search;
mod serve;
mod telemetry;
mod token;
mod tool;
mod tool_progress;
mod tool_push;
mod tool_server;
mod user;
mod verify;
mod view;
pub mod work;

pub use run::main;
