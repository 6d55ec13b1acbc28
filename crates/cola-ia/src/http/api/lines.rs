//! Events as lines, answered line by line while they come.
//!
//! A task takes the body as it comes, a thread reads it with the reader of `add`, and a task enters what was read in batches and
//! writes the answers. Each waits for the next: memory is bounded however much comes, and whoever reads no answers is not read
//! from either.

use std::io::{self, Read};
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse as _, Response};
use cola_ia_core::intake::Intake;
use cola_ia_core::store::{Accepted, ErrorKind, OpId, StoreError};
use cola_ia_wire::v1::intake::LineAnswer;
use http_body_util::BodyExt as _;
use hyper::body::Frame;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;

use super::call::{busy, store_error};
use super::intake::INPUT;
use super::{Answer, Call};
use crate::http::auth::Caller;
use crate::http::{App, Problem};
use crate::intake::{InputEnd, Settings, Sink, read_input};

/// Requests of lines at the same time: each has a thread.
const STREAMS_MAX: usize = 64;
/// Events of a batch, at most …
const BATCH_MAX_EVENTS: usize = 1_000;
/// … and bytes after which it is full.
const BATCH_MAX_BYTES: usize = 1 << 20;
/// Pieces of a body that are held.
const PIECES_MAX: usize = 4;
/// Batches of answers that are held for a caller that does not read.
const ANSWERS_MAX: usize = 64;
/// After so long without more, what was read is entered.
const IDLE_AFTER: Duration = Duration::from_millis(20);

static STREAMS: Semaphore = Semaphore::const_new(STREAMS_MAX);

/// What the thread has read.
enum Piece {
    Batch(Vec<Intake>),
    End(InputEnd),
}

/// Answers the lines of a request. The status is told with the first answer.
pub(super) async fn answer(mut call: Call, settings: Settings) -> Answer {
    let permit = STREAMS.try_acquire().map_err(|_| busy())?;
    let (app, caller) = (Arc::clone(&call.app), call.caller.clone());
    let (send_bytes, bytes) = mpsc::channel(PIECES_MAX);
    let (send_pieces, pieces) = mpsc::channel(1);
    let (send_answers, mut answers) = mpsc::channel(ANSWERS_MAX);
    tokio::spawn(take(Arc::clone(&app), call.body(), send_bytes));
    tokio::task::spawn_blocking(move || read(bytes, &settings, send_pieces));
    tokio::spawn(async move {
        enter(&app, &caller, pieces, send_answers).await;
        drop(permit);
    });
    let first = match answers.recv().await {
        None => None,
        Some(Ok(bytes)) => Some(bytes),
        Some(Err(problem)) => return Err(problem),
    };
    let mut response: Response = Body::new(Answers { first, rest: answers }).into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/x-ndjson"));
    Ok(response)
}

/// Takes the body as it comes, as long as something comes.
async fn take(app: Arc<App>, mut body: Body, pieces: mpsc::Sender<io::Result<Bytes>>) {
    let mut stopping = app.stopping.clone();
    loop {
        let stop = async { drop(stopping.wait_for(|stop| *stop).await) };
        let next = tokio::select! {
            next = timeout(app.limits.body_deadline, body.frame()) => Some(next),
            () = stop => None,
        };
        let Some(next) = next else {
            let _ = pieces.send(Err(io::Error::other("the server is to stop"))).await;
            return;
        };
        let piece = match next {
            Ok(None) => return,
            Ok(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => Ok(data),
                Err(_) => continue,
            },
            Ok(Some(Err(cause))) => Err(io::Error::other(cause)),
            Err(_) => Err(io::ErrorKind::TimedOut.into()),
        };
        let is_last = piece.is_err();
        if pieces.send(piece).await.is_err() || is_last {
            return;
        }
    }
}

/// A body, read on a thread.
struct Pieces {
    next: mpsc::Receiver<io::Result<Bytes>>,
    left: Bytes,
    runtime: Handle,
}

impl Read for Pieces {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.left.is_empty() {
            match self.runtime.block_on(timeout(IDLE_AFTER, self.next.recv())) {
                Err(_) => return Err(io::ErrorKind::WouldBlock.into()),
                Ok(None) => return Ok(0),
                Ok(Some(piece)) => self.left = piece?,
            }
        }
        let length = self.left.len().min(into.len());
        into[..length].copy_from_slice(&self.left.split_to(length));
        Ok(length)
    }
}

/// Reads all of a body.
fn read(pieces: mpsc::Receiver<io::Result<Bytes>>, settings: &Settings, send: mpsc::Sender<Piece>) {
    let mut sink = ToBatches { batch: Vec::new(), bytes: 0, send };
    let input = Pieces { next: pieces, left: Bytes::new(), runtime: Handle::current() };
    let end = read_input(&INPUT.into(), input, settings, &Arc::new(AtomicU64::new(0)), &mut sink);
    if sink.flush().is_continue() {
        let _ = sink.send.blocking_send(Piece::End(end));
    }
}

struct ToBatches {
    batch: Vec<Intake>,
    bytes: usize,
    send: mpsc::Sender<Piece>,
}

impl ToBatches {
    fn flush(&mut self) -> ControlFlow<()> {
        if self.batch.is_empty() {
            return if self.send.is_closed() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        }
        self.bytes = 0;
        match self.send.blocking_send(Piece::Batch(std::mem::take(&mut self.batch))) {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    }
}

impl Sink for ToBatches {
    fn intake(&mut self, item: Intake) -> ControlFlow<()> {
        self.bytes += item.weight();
        self.batch.push(item);
        if self.batch.len() >= BATCH_MAX_EVENTS || self.bytes >= BATCH_MAX_BYTES {
            return self.flush();
        }
        ControlFlow::Continue(())
    }

    fn idle(&mut self) -> ControlFlow<()> {
        self.flush()
    }
}

/// Enters what was read, and answers it.
async fn enter(
    app: &App,
    caller: &Caller,
    mut pieces: mpsc::Receiver<Piece>,
    answers: mpsc::Sender<Result<Bytes, Problem>>,
) {
    let mut last_line = 0;
    let mut is_first = true;
    while let Some(piece) = pieces.recv().await {
        let lines = match piece {
            Piece::Batch(batch) => {
                last_line = batch.iter().map(origin_line).max().unwrap_or(last_line);
                match enter_batch(app, caller, batch).await {
                    Ok(lines) => lines,
                    Err(error) if is_first => {
                        let _ = answers.send(Err(store_error(&error))).await;
                        return;
                    }
                    Err(error) => {
                        let line = ending(last_line, "error", error.code, "");
                        let _ = answers.send(Ok(written(&[line]))).await;
                        return;
                    }
                }
            }
            Piece::End(end) => {
                let lines = ended(app, &end);
                if lines.is_empty() {
                    return;
                }
                lines
            }
        };
        is_first = false;
        // Whoever does not read for so long reads no more.
        match timeout(app.limits.body_deadline, answers.send(Ok(written(&lines)))).await {
            Ok(Ok(())) => {}
            _ => return,
        }
    }
}

fn origin_line(item: &Intake) -> u64 {
    match item {
        Intake::Delivery(delivery) => delivery.origin.line,
        Intake::Refusal(refusal) => refusal.origin.line,
    }
}

/// Enters a batch but what is of sources that the caller may not hand over; the answers are in the order of the lines.
async fn enter_batch(app: &App, caller: &Caller, batch: Vec<Intake>) -> Result<Vec<LineAnswer>, StoreError> {
    let may = |item: &Intake| match item {
        Intake::Delivery(delivery) => caller.may_ingest(&delivery.source),
        Intake::Refusal(_) => true,
    };
    let (batch, forbidden): (Vec<Intake>, Vec<Intake>) = batch.into_iter().partition(may);
    let mut lines = Vec::with_capacity(batch.len() + forbidden.len());
    if !batch.is_empty() {
        let batch = Arc::new(batch);
        let accepted = accept(app, &batch).await?;
        lines.extend(batch.iter().zip(&accepted.receipts).map(|(item, receipt)| LineAnswer::new(item, receipt)));
    }
    for item in forbidden {
        let source = match &item {
            Intake::Delivery(delivery) => Some(delivery.source.as_str().to_owned()),
            Intake::Refusal(_) => None,
        };
        lines.push(LineAnswer { source, ..ending(origin_line(&item), "forbidden", "source_not_allowed", "") });
    }
    lines.sort_by_key(|line| line.line);
    Ok(lines)
}

/// Where it is not known whether it was done, the same op tells, and does it if it was not.
async fn accept(app: &App, batch: &Arc<Vec<Intake>>) -> Result<Accepted, StoreError> {
    let op = OpId::new(&*app.clock, &*app.entropy);
    match app.store.accept(op, Arc::clone(batch)).await {
        Err(error) if error.kind == ErrorKind::Unavailable => app.store.accept(op, Arc::clone(batch)).await,
        other => other,
    }
}

/// What is to be said of the input's end.
fn ended(app: &App, end: &InputEnd) -> Vec<LineAnswer> {
    if let Some(error) = &end.error {
        let code = if app.is_stopping() { "server_stopping" } else { error.kind.as_str() };
        vec![ending(end.lines, "error", code, &error.detail)]
    } else {
        end.unfinished
            .map(|line| LineAnswer { line, verdict: "unfinished".to_owned(), ..LineAnswer::default() })
            .into_iter()
            .collect()
    }
}

fn ending(line: u64, verdict: &str, code: &str, detail: &str) -> LineAnswer {
    LineAnswer {
        line,
        verdict: verdict.to_owned(),
        code: Some(code.to_owned()),
        detail: Some(detail.to_owned()).filter(|detail| !detail.is_empty()),
        ..LineAnswer::default()
    }
}

fn written(lines: &[LineAnswer]) -> Bytes {
    let mut text = Vec::with_capacity(128 * lines.len());
    for line in lines {
        // A shape of strings and numbers is always JSON, and writing to memory does not fail.
        let _ = serde_json::to_writer(&mut text, line);
        text.push(b'\n');
    }
    text.into()
}

/// The answers as they come.
struct Answers {
    first: Option<Bytes>,
    rest: mpsc::Receiver<Result<Bytes, Problem>>,
}

impl hyper::body::Body for Answers {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(Frame::data(first))));
        }
        // Only the first answer is a problem.
        self.rest.poll_recv(context).map(|next| next.and_then(Result::ok).map(|bytes| Ok(Frame::data(bytes))))
    }
}
