//! Connections: how many there may be, how long each may take, and how they end.

use std::convert::Infallible;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use axum::response::Response;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::Service;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use super::limits::{HEAD_MAX_BYTES, HEADERS_MAX};
use super::{App, Remote, maintenance, router};
use crate::config::Settings;

/// After an error that is not of one connection: so many files are open, for example.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until the app is to stop, and then until all requests are answered or the grace is over.
///
/// A connection that sends nothing, or its head too slowly, is closed at the deadline, and so is one that has nothing more to say. What
/// a body may take is looked at where it is read.
pub async fn serve(listener: TcpListener, app: Arc<App>) {
    let routes = router(app.clone());
    let mut maintained = maintenance::start(&app);
    let places = Arc::new(Semaphore::new(app.limits.connections));
    let connections = GracefulShutdown::new();
    let mut stopping = app.stopping.clone();
    loop {
        let accepted = tokio::select! {
            _ = stopping.wait_for(|stopping| *stopping) => break,
            accepted = accept(&listener) => accepted,
        };
        let Some((stream, peer)) = accepted else {
            tokio::time::sleep(ACCEPT_PAUSE).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            // Closed at once: whoever is turned away at the door costs nothing.
            app.metrics.turned_away();
            continue;
        };
        let _ = stream.set_nodelay(true);
        let connection = connections.watch(connection(&app, stream, peer, routes.clone()));
        let counted = app.metrics.connection();
        tokio::spawn(async move {
            // A connection that breaks is its sender's affair.
            let _ = connection.await;
            drop((place, counted));
        });
    }
    drop(listener);
    if tokio::time::timeout(app.limits.grace, connections.shutdown()).await.is_err() {
        tracing::warn!(grace_s = app.limits.grace.as_secs(), "connections were still open when the grace was over");
    }
    app.refusals.flush().await;
    maintained.shutdown().await;
}

/// `None`: not now. An error of one connection alone is passed over.
async fn accept(listener: &TcpListener) -> Option<(TcpStream, SocketAddr)> {
    loop {
        match listener.accept().await {
            Ok(accepted) => return Some(accepted),
            Err(error) => match error.kind() {
                io::ErrorKind::ConnectionRefused
                | io::ErrorKind::ConnectionAborted
                | io::ErrorKind::ConnectionReset => {}
                _ => {
                    tracing::error!(%error, "no connection could be accepted");
                    return None;
                }
            },
        }
    }
}

/// The routes as one connection sees them.
struct Routes {
    router: Router,
    settings: Arc<Settings>,
    peer: IpAddr,
}

impl Service<Request<Incoming>> for Routes {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let mut request = request.map(Body::new);
        let remote = Remote::of(self.peer, request.headers(), &self.settings.trusted_proxies);
        request.extensions_mut().insert(remote);
        Box::pin(self.router.clone().oneshot(request))
    }
}

fn connection(
    app: &App,
    stream: TcpStream,
    peer: SocketAddr,
    routes: Router,
) -> http1::Connection<TokioIo<TcpStream>, Routes> {
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(app.limits.header_deadline)
        .max_buf_size(HEAD_MAX_BYTES)
        .max_headers(HEADERS_MAX)
        .serve_connection(
            TokioIo::new(stream),
            Routes { router: routes, settings: app.settings.clone(), peer: peer.ip() },
        )
}
