//! Any bytes as an input: see `cola_ia::intake::fuzz_one` for what must be true of them.
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| cola_ia::intake::fuzz_one(data));
