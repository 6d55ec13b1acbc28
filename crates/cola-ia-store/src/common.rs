//! What every engine needs and no database is asked for.

pub(crate) mod attempt;
pub(crate) mod batch;
pub(crate) mod costs;
pub(crate) mod counters;
pub(crate) mod cursor;
pub(crate) mod digest;
pub(crate) mod effect;
pub(crate) mod erased;
pub(crate) mod groups;
pub(crate) mod import;
pub(crate) mod money;
pub(crate) mod ordered;
pub(crate) mod pruned;
pub(crate) mod records;
pub(crate) mod resolved;
pub(crate) mod signs;
pub(crate) mod stretch;
pub(crate) mod token;
