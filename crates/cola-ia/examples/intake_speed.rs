//! How many lines a second the intake reads, parses and fingerprints: `cargo run --release --example intake_speed`.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use cola_ia::intake::{Settings, Sink, read_input};
use cola_ia_core::intake::Intake;

const LINES: u64 = 1_000_000;

struct Counting(u64);

impl Sink for Counting {
    fn intake(&mut self, item: Intake) -> ControlFlow<()> {
        self.0 += u64::from(matches!(item, Intake::Delivery(_)));
        ControlFlow::Continue(())
    }
}

fn main() {
    let texts = [
        ("ASCII", "Escribe un resumen de la reunion del martes y envialo al equipo. ".repeat(2)),
        ("UTF-8", "Reunión del martes: señalar qué falló en la migración y por qué. ".repeat(2)),
        ("escaped", "Reuni\\u00f3n del martes:\\nse\\u00f1alar qu\\u00e9 fall\\u00f3 y por qu\\u00e9. ".repeat(2)),
    ];
    for (name, text) in texts {
        let mut input = String::new();
        for number in 0..LINES {
            use std::fmt::Write as _;
            let _ = writeln!(
                input,
                "{{\"id\":\"evt-{number:012}\",\"texto\":\"{text}\",\"tipo\":\"nota\",\"n\":{number},\"meta\":{{\"a\":1.5,\"b\":[true,null]}}}}"
            );
        }
        for _ in 0..3 {
            let mut sink = Counting(0);
            let start = Instant::now();
            let end = read_input(&"-".into(), input.as_bytes(), &Settings::default(), &Arc::default(), &mut sink);
            let seconds = start.elapsed().as_secs_f64();
            assert_eq!((sink.0, end.lines), (LINES, LINES));
            println!(
                "{name}: {:.0} lines/s, {:.0} MB/s, {} bytes a line",
                LINES as f64 / seconds,
                input.len() as f64 / seconds / 1e6,
                input.len() as u64 / LINES
            );
        }
    }
}
