//! The three pipes of a command: feeding its input and emptying its outputs while something else is waited for.

use std::io;
use std::sync::mpsc::SyncSender;

use tokio::net::unix::pipe::{Receiver, Sender};

use super::tail::Tail;

/// Our ends of the pipes.
#[derive(Debug)]
pub(super) struct Pump {
    pub(super) feed: Feed,
    pub(super) stdout: Output,
    pub(super) stderr: Output,
}

impl Pump {
    /// Waits for `event`, and keeps the pipes moving meanwhile.
    pub(super) async fn until<T>(&mut self, event: impl Future<Output = T>) -> T {
        let mut event = std::pin::pin!(event);
        loop {
            tokio::select! {
                happened = &mut event => return happened,
                () = self.turn() => {}
            }
        }
    }

    /// Empties the outputs to their ends.
    pub(super) async fn empty(&mut self) {
        self.feed.close();
        while self.stdout.pipe.is_some() || self.stderr.pipe.is_some() {
            self.turn().await;
        }
    }

    /// One step of one pipe; never done when all of them are closed. Nothing is lost where it is cancelled.
    async fn turn(&mut self) {
        tokio::select! {
            () = self.stdout.step() => {}
            () = self.stderr.step() => {}
            () = self.feed.step() => {}
        }
        // A command that never stops printing must not keep this thread from its timers and its other commands.
        tokio::task::consume_budget().await;
    }
}

/// What the command has still to read.
#[derive(Debug)]
pub(super) struct Feed {
    pipe: Option<Sender>,
    text: Vec<u8>,
    fed: usize,
}

impl Feed {
    /// `text` from its byte `fed` on, to a pipe that has taken as much as it could.
    pub(super) fn rest(pipe: Sender, text: Vec<u8>, fed: usize) -> Self {
        Self { pipe: Some(pipe), text, fed }
    }

    /// Nothing is left to feed.
    pub(super) fn done() -> Self {
        Self { pipe: None, text: Vec::new(), fed: 0 }
    }

    pub(super) fn close(&mut self) {
        *self = Self::done();
    }

    async fn step(&mut self) {
        let Some(pipe) = &self.pipe else { return std::future::pending().await };
        let written = match pipe.writable().await {
            Ok(()) => pipe.try_write(&self.text[self.fed..]),
            Err(error) => Err(error),
        };
        match written {
            Ok(bytes) => self.fed += bytes,
            Err(error) if again(&error) => {}
            // Whoever does not want to read it all need not.
            Err(_) => self.close(),
        }
        if self.fed == self.text.len() {
            self.close();
        }
    }
}

/// One output of the command.
#[derive(Debug)]
pub(super) struct Output {
    pipe: Option<Receiver>,
    tail: Tail,
    /// Who hears it as it comes.
    heard: Option<SyncSender<Vec<u8>>>,
}

impl Output {
    pub(super) fn new(pipe: Receiver) -> Self {
        Self { pipe: Some(pipe), tail: Tail::default(), heard: None }
    }

    /// With somebody who hears it as it comes.
    pub(super) fn heard(self, by: SyncSender<Vec<u8>>) -> Self {
        Self { heard: Some(by), ..self }
    }

    /// What is kept of it.
    pub(super) fn finish(self) -> Vec<u8> {
        self.tail.finish()
    }

    async fn step(&mut self) {
        let Some(pipe) = &self.pipe else { return std::future::pending().await };
        let read = match pipe.readable().await {
            Ok(()) => pipe.try_read_buf(self.tail.room()),
            Err(error) => Err(error),
        };
        match read {
            Ok(0) => self.pipe = None,
            Ok(bytes) => {
                if let Some(heard) = &self.heard {
                    // Whoever listens slowly must not hold up the command, nor its end.
                    let _ = heard.try_send(self.tail.newest(bytes).to_vec());
                }
            }
            Err(error) if again(&error) => {}
            Err(_) => self.pipe = None,
        }
    }
}

fn again(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
