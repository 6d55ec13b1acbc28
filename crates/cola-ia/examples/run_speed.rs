//! How many commands a second are run, beside a plain loop: `cargo run --release --example run_speed`.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cola_ia::worker::child::{Spec, Stop, run};
use tokio::sync::watch;

const THREADS: u32 = 2;
const RUNS: u32 = 1000;
const ROUNDS: u32 = 3;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS as usize)
        .enable_all()
        .build()
        .expect("threads can be had");
    for _ in 0..ROUNDS {
        let plain = plainly();
        let ours = runtime.block_on(by_run());
        let rate = |time: Duration| f64::from(THREADS * RUNS) / time.as_secs_f64();
        println!("plain {:6.0}/s   run {:6.0}/s   {:3.0} %", rate(plain), rate(ours), 100.0 * rate(ours) / rate(plain));
    }
}

fn plainly() -> Duration {
    let started = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..RUNS {
                    assert!(Command::new("true").stdin(Stdio::null()).status().is_ok_and(|status| status.success()));
                }
            });
        }
    });
    started.elapsed()
}

async fn by_run() -> Duration {
    let started = Instant::now();
    let (_say, stop) = watch::channel(Stop::Run);
    let running: Vec<_> = (0..THREADS).map(|_| tokio::spawn(one_after_the_other(stop.clone()))).collect();
    for thread in running {
        thread.await.expect("no run panics");
    }
    started.elapsed()
}

async fn one_after_the_other(stop: watch::Receiver<Stop>) {
    for _ in 0..RUNS {
        let spec = Spec {
            program: "true".into(),
            args: Vec::new(),
            env: vec![("COLA_IA_JOB".into(), "1".into())],
            withheld: [].into(),
            stdin: "a text".into(),
            inherit: None,
            mark: None,
            time_limit: Some(Duration::from_mins(1)),
            grace: Duration::from_secs(10),
        };
        assert_eq!(run(spec, stop.clone()).await.expect("it starts").code, Some(0));
    }
}
