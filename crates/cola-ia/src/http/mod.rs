//! The server: routes over a store. Nothing here knows SQL.

pub mod api;
mod app;
pub mod auth;
pub mod limits;
mod problem;
mod wakes;

pub use app::{App, Parts};
pub use problem::Problem;
pub use wakes::Wakes;
