//! `serve`: the server, from its start to its end.

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use cola_ia_core::clock::{Clock as _, SystemClock, SystemEntropy};
use cola_ia_core::store::{OpId, TokenRequest, TokenScope};
use signal_hook::consts::{SIGINT, SIGTERM};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::{Exit, Problem, Session};
use crate::config::{Settings, Warning};
use crate::http::auth::{hash_of, new_token};
use crate::http::{App, InSource, LogFormat, Parts, serve, start_log};
use crate::lang::Message;
use crate::store::{self, Making};
use crate::{private, schedule};

/// The name of the token that the first start makes.
const FIRST_TOKEN: &str = "admin";

/// The options of `serve`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServeOptions {
    /// `--log-format`
    pub log: LogFormat,
}

/// Runs the command.
///
/// # Errors
/// It cannot listen, a source is not as it must be, or the store cannot be opened; nothing is served then.
pub fn run(session: &Session, options: ServeOptions, settings: Settings) -> Result<Exit, Problem> {
    let sources = sources(session, &settings)?;
    let listener = listen(settings.listen)?;
    let address = listener.local_addr().map_err(|cause| cannot_listen(settings.listen, &cause))?;
    let store = store::open(session, &settings, Making::ForIntake)?.shared();
    if settings.backup_every.is_some() && settings.db.file().is_none() {
        let message = Message::new("serve-backup-database").with("path", &settings.db);
        session.warn(&Warning { message, hint: Some(Message::new("store-is-database-backup-hint")) });
    }
    start_log(options.log, session.quiet);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|cause| Problem::failed(Message::new("serve-runtime").caused_by(&cause)))?;
    if !address.ip().is_loopback() {
        let message = Message::new("serve-exposed").with("address", address);
        session.warn(&Warning { message, hint: None });
    }
    runtime.block_on(async {
        let stopping =
            stop_at_a_signal().map_err(|cause| Problem::failed(Message::new("signals-failed").caused_by(&cause)))?;
        let listener = tokio::net::TcpListener::from_std(listener).map_err(|cause| cannot_listen(address, &cause))?;
        let names: Vec<_> = sources.iter().map(|source| source.name.to_string()).collect();
        let settings = Arc::new(Settings { listen: address, ..settings });
        let (clock, entropy) = (Arc::new(SystemClock), Arc::new(SystemEntropy));
        let app = App::start(Parts { store, clock, entropy, settings, sources, stopping });
        first_start(session, &app).await?;
        session.note(&match names.len() {
            0 => Message::new("serve-no-sources"),
            count => Message::new("serve-sources").number("count", count as u64).with("names", names.join(", ")),
        });
        // Said once it is true: whoever waits for this line may send.
        session.note(&Message::new("serve-listening").with("address", address));
        let mut stop = app.stopping.clone();
        let stopped = async move { drop(stop.wait_for(|stopping| *stopping).await) };
        let scheduled = tokio::spawn(schedule::run(app.clone(), stopped));
        serve(listener, app).await;
        // A turn of it that enters something is not cut off.
        let _ = scheduled.await;
        Ok::<_, Problem>(())
    })?;
    // What still hangs on a slow client is not waited for: its grace is over.
    runtime.shutdown_background();
    session.note(&Message::new("serve-stopped"));
    Ok(Exit::Done)
}

/// Every source with its secrets: one that cannot be opened keeps the server from starting, so that nobody finds out by what is
/// missing.
fn sources(session: &Session, settings: &Settings) -> Result<Vec<InSource>, Problem> {
    let mut sources = Vec::with_capacity(settings.sources.len());
    for config in &settings.sources {
        let opened = config.open(&session.environment, settings.max_text_bytes)?;
        opened.notes.iter().for_each(|note| session.note(note));
        sources.push(InSource::new(config, opened.receiver));
    }
    Ok(sources)
}

fn listen(address: SocketAddr) -> Result<TcpListener, Problem> {
    let listener = TcpListener::bind(address).and_then(|listener| {
        listener.set_nonblocking(true)?;
        Ok(listener)
    });
    listener.map_err(|cause| cannot_listen(address, &cause))
}

fn cannot_listen(address: SocketAddr, cause: &io::Error) -> Problem {
    let message = Message::new("serve-cannot-listen").with("address", address).caused_by(cause);
    Problem::failed(message).hint(Message::new("serve-cannot-listen-hint"))
}

/// The first signal stops, the second one ends now.
fn stop_at_a_signal() -> io::Result<watch::Receiver<bool>> {
    let (stop, stopping) = watch::channel(false);
    let second = Arc::new(std::sync::atomic::AtomicBool::new(false));
    for number in [SIGINT, SIGTERM] {
        let exit = i32::from(Exit::Interrupted.code());
        signal_hook::flag::register_conditional_shutdown(number, exit, Arc::clone(&second))?;
        signal_hook::flag::register(number, Arc::clone(&second))?;
    }
    let (mut interrupt, mut terminate) = (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        let _ = stop.send(true);
        // Kept, so that whoever listens is not told that nothing more comes.
        stop.closed().await;
    });
    Ok(stopping)
}

/// Where there is no token yet, makes one for everything, and offers a link that logs a browser in.
async fn first_start(session: &Session, app: &App) -> Result<(), Problem> {
    let failed = |error| Problem::from_store(&error);
    if !app.store.tokens().await.map_err(failed)?.is_empty() {
        return Ok(());
    }
    let token = new_token(&*app.entropy);
    let path = private::beside(&app.settings.db.base(), "admin-token");
    private::write(&path, &token).map_err(|cause| {
        Problem::failed(Message::new("serve-token-file").with("path", path.display()).caused_by(&cause))
    })?;
    let request = TokenRequest {
        name: FIRST_TOKEN.to_owned(),
        hash: hash_of(&token),
        scopes: vec![TokenScope::Admin],
        sources: Vec::new(),
        expires_at: None,
    };
    let op = OpId::new(&*app.clock, &*app.entropy);
    if let Err(error) = app.store.token_create(op, request).await {
        // A file with a token that nobody knows would only mislead.
        let _ = std::fs::remove_file(&path);
        return Err(failed(error));
    }
    session.note(&Message::new("serve-admin-token").with("path", path.display()));
    let code = app.login.offer(&*app.entropy, SystemClock.now());
    let base = match &app.settings.public_url {
        Some(public) => public.clone(),
        None => format!("http://{}", app.settings.listen),
    };
    session.note(&Message::new("serve-login").with("link", format!("{base}/login?code={code}")));
    Ok(())
}
