//! Any bytes as a request to any scheme: see `cola_ia_webhook::fuzz_one` for what must be true of them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| cola_ia_webhook::fuzz_one(data));
