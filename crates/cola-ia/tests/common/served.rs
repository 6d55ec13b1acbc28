//! `/v1` over a store, served in this process on a port of its own.

use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use cola_ia::config::{Environment, Flags, NamedFile, Settings};
use cola_ia::http::auth::hash_of;
use cola_ia::http::{App, Parts, api};
use cola_ia_core::clock::{Clock, Entropy, Timestamp};
use cola_ia_core::store::{Store, TokenScope, TokenView};
use cola_ia_testkit::harness::Failure;
use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// A token that may do everything.
pub(crate) const TOKEN: &str = "cia_of-the-test";

/// A server that runs.
pub(crate) struct Served {
    store: Arc<dyn Store>,
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<std::io::Result<()>>,
}

/// All servers of a process share it.
fn runtime() -> &'static Runtime {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    RUNTIME.get_or_init(|| {
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().expect("a runtime")
    })
}

impl Served {
    #[allow(dead_code, reason = "each test file uses a part of it")]
    pub(crate) fn start(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
    ) -> Result<Self, Failure> {
        Self::start_with(store, clock, entropy, &[("COLA_IA_MAX_TEXT_BYTES", "256MiB")])
    }

    /// With these settings.
    #[allow(dead_code, reason = "each test file uses a part of it")]
    pub(crate) fn start_with(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        settings: &[(&str, &str)],
    ) -> Result<Self, Failure> {
        Self::start_known(store, clock, entropy, settings, Vec::new())
    }

    /// With these settings, and these tokens besides [`TOKEN`].
    pub(crate) fn start_known(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        entropy: Arc<dyn Entropy>,
        settings: &[(&str, &str)],
        tokens: Vec<(&str, TokenView)>,
    ) -> Result<Self, Failure> {
        let environment = Environment::with(settings);
        let settings = Settings::load(&Flags::default(), &environment, NamedFile::MayBeMissing);
        let settings = settings.map_err(|_| "no settings")?;
        let (stop, stopping) = watch::channel(false);
        runtime().block_on(async {
            let parts = Parts {
                store: Arc::clone(&store),
                clock,
                entropy,
                settings: Arc::new(settings),
                sources: Vec::new(),
                stopping: stopping.clone(),
            };
            let mut app = App::start(parts);
            let own = &mut Arc::get_mut(&mut app).ok_or("the app is nobody else's yet")?.tokens;
            for (token, view) in tokens.into_iter().chain([(TOKEN, admin())]) {
                own.know(hash_of(token), view);
            }
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
            let address = listener.local_addr()?;
            let routes = axum::Router::new().nest("/v1", api::router()).with_state(app);
            let mut stopping = stopping;
            let stopped = async move {
                let _ = stopping.wait_for(|stop| *stop).await;
            };
            let task = tokio::spawn(async move { axum::serve(listener, routes).with_graceful_shutdown(stopped).await });
            Ok(Self { store, address, stop, task })
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops it, and gives back the store that nobody else has any more.
    pub(crate) fn stop(self) -> Result<Arc<dyn Store>, Failure> {
        self.stop.send_replace(true);
        runtime().block_on(async { tokio::time::timeout(Duration::from_secs(30), self.task).await })???;
        // What worked beside the routes lets go of the store a little later.
        let deadline = Instant::now() + Duration::from_secs(30);
        while Arc::strong_count(&self.store) > 1 {
            if Instant::now() > deadline {
                return Err("the server keeps the store".into());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(self.store)
    }
}

fn admin() -> TokenView {
    TokenView {
        name: "test".to_owned(),
        scopes: vec![TokenScope::Admin],
        sources: Vec::new(),
        created_at: Timestamp::from_micros(0),
        expires_at: None,
        revoked_at: None,
    }
}
