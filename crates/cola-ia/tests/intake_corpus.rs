//! Replays the fuzzer's corpus, so that what it once showed stays true without a fuzzer.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::fs;
use std::path::Path;

#[test]
fn the_corpus_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/lines");
    let mut count = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        println!("{}", path.display());
        cola_ia::intake::fuzz_one(&fs::read(&path).unwrap());
        count += 1;
    }
    assert!(count >= 30, "{count} files");
}

/// What the fuzzer's mutations do, in small: every file of the corpus cut at every byte.
#[test]
fn the_corpus_holds_however_it_is_cut() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/lines");
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = fs::read(&path).unwrap();
        for length in 0..bytes.len().min(150) {
            println!("{} cut to {length}", path.display());
            cola_ia::intake::fuzz_one(&bytes[..length]);
        }
    }
}
