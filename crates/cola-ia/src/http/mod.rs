//! The server: routes over a store. Nothing here knows SQL.

mod app;

pub use app::App;
