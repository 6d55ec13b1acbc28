//! The JSON that cola-ia prints with `--json`.
