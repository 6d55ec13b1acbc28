//! The server: routes over a store. Nothing here knows SQL.

pub mod api;
mod app;
pub mod auth;
mod body;
pub mod budget;
mod form;
pub mod gate;
mod health;
mod hosts;
mod inbox;
pub mod limits;
mod listen;
mod log;
pub mod login;
mod maintenance;
pub mod metrics;
mod page;
mod problem;
pub mod refusals;
mod remote;
mod router;
mod wakes;

pub use app::{App, Parts};
pub use inbox::InSource;
pub use listen::serve;
pub use log::{LogFormat, start as start_log};
pub use problem::Problem;
pub use remote::Remote;
pub use router::router;
pub use wakes::Wakes;
