//! What the log promises, on both engines. One binary; each file is a chapter.

mod access;
mod append;
mod bundle;
mod claim;
mod criteria;
mod dialect;
mod durability;
mod email;
mod entity;
mod failure;
mod gate;
mod gate_rules;
mod gate_told;
mod hook;
mod human;
mod human_access;
mod human_context;
mod import;
mod insight;
mod outage;
mod output;
mod retention;
mod secrets;
mod status;
mod time_limit;
mod webhook;
