//! One direction of a connection: message by message, each as the plan says.

use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::message::{Message, Start, commits};
use super::{Cut, From, Seen};

/// How a direction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// Its sender went, or the other direction was cut.
    Gone,
    /// The plan cut it here.
    Cut(Cut),
}

/// What became of a message.
enum Passed {
    On,
    /// Not on: the connection was cut before.
    Late,
    Cut(Cut),
}

/// What both directions of a connection know.
#[derive(Debug, Default)]
pub(super) struct Talk {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    phase: Phase,
    /// The plan cut it: nothing more is passed on, in either direction.
    cut: bool,
    /// One for each answer that the client waits for, up to "ready": the statement that it is to.
    asked: VecDeque<Option<Arc<str>>>,
    /// What was executed since the last `Sync`: a commit, or else the last one.
    executed: Option<Arc<str>>,
    /// Statements that were parsed, by name, and those that portals are bound to.
    statements: BTreeMap<String, Arc<str>>,
    portals: BTreeMap<String, Arc<str>>,
}

/// How far the start of a connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Phase {
    #[default]
    Start,
    /// The client asked for encryption; the server answers with one byte.
    AskedForEncryption,
    /// What follows is not to be read.
    Unread,
    /// Messages with types.
    Session,
}

impl Talk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, phase: Phase) {
        self.state().phase = phase;
        self.changed.notify_all();
    }

    /// Waits until the phase is none of these; a connection that ends meanwhile is let go.
    fn leave(&self, phases: &[Phase]) -> Phase {
        let waiting = self.changed.wait_while(self.state(), |state| !state.cut && phases.contains(&state.phase));
        waiting.unwrap_or_else(PoisonError::into_inner).phase
    }

    fn end(&self) {
        self.state().cut = true;
        self.changed.notify_all();
    }
}

/// One direction.
pub(super) struct Direction<'a> {
    connection: u64,
    from: From,
    talk: &'a Talk,
    number: u64,
}

impl<'a> Direction<'a> {
    pub(super) fn new(connection: u64, from: From, talk: &'a Talk) -> Self {
        Self { connection, from, talk, number: 0 }
    }

    /// Relays until the sender goes or the plan cuts.
    pub(super) fn run(
        &mut self,
        input: &TcpStream,
        output: &TcpStream,
        plan: &(dyn Fn(&Seen) -> Cut + Send + Sync),
    ) -> io::Result<End> {
        let ended = match self.from {
            From::Client => self.client(input, output, plan),
            From::Server => self.server(input, output, plan),
        };
        self.talk.end();
        ended
    }

    fn client(
        &mut self,
        mut input: &TcpStream,
        output: &TcpStream,
        plan: &(dyn Fn(&Seen) -> Cut + Send + Sync),
    ) -> io::Result<End> {
        loop {
            let message = Message::read_start(&mut input)?;
            let start = message.start();
            // Before it is passed on: the answer must find it.
            self.talk.enter(match start {
                Start::Encryption => Phase::AskedForEncryption,
                Start::Cancel => Phase::Unread,
                Start::Session => Phase::Session,
            });
            match self.pass(&message, None, output, plan)? {
                Passed::On => {}
                Passed::Late => return Ok(End::Gone),
                Passed::Cut(cut) => return Ok(End::Cut(cut)),
            }
            match start {
                Start::Encryption if self.talk.leave(&[Phase::AskedForEncryption]) == Phase::Start => {}
                Start::Encryption | Start::Cancel => return unread(input, output),
                Start::Session => break,
            }
        }
        while let Some(message) = Message::read(&mut input)? {
            let statement = self.talk.state().hear(&message);
            match self.pass(&message, statement, output, plan)? {
                Passed::On => {}
                Passed::Late => return Ok(End::Gone),
                Passed::Cut(cut) => return Ok(End::Cut(cut)),
            }
        }
        Ok(End::Gone)
    }

    fn server(
        &mut self,
        mut input: &TcpStream,
        mut output: &TcpStream,
        plan: &(dyn Fn(&Seen) -> Cut + Send + Sync),
    ) -> io::Result<End> {
        loop {
            match self.talk.leave(&[Phase::Start]) {
                Phase::Start => return Ok(End::Gone),
                Phase::Session => break,
                Phase::Unread => return unread(input, output),
                Phase::AskedForEncryption => {
                    let mut answer = [0];
                    input.read_exact(&mut answer)?;
                    // `S` and `G` consent; anything else is no, and the client starts again.
                    let consents = matches!(answer[0], b'S' | b'G');
                    self.talk.enter(if consents { Phase::Unread } else { Phase::Start });
                    output.write_all(&answer)?;
                }
            }
        }
        while let Some(message) = Message::read(&mut input)? {
            let statement = self.talk.state().answered(message.kind);
            match self.pass(&message, statement, output, plan)? {
                Passed::On => {}
                // Read to its end all the same: an answer that nobody reads could break off what the server was asked to do.
                Passed::Late => {
                    io::copy(&mut input, &mut io::sink())?;
                }
                Passed::Cut(cut) => return Ok(End::Cut(cut)),
            }
        }
        Ok(End::Gone)
    }

    /// Passes a message on as far as the plan lets it.
    fn pass(
        &mut self,
        message: &Message,
        statement: Option<Arc<str>>,
        mut output: &TcpStream,
        plan: &(dyn Fn(&Seen) -> Cut + Send + Sync),
    ) -> io::Result<Passed> {
        let (connection, from, number, kind) = (self.connection, self.from, self.number, message.kind);
        self.number += 1;
        let commit = statement.as_deref().is_some_and(commits);
        let cut = plan(&Seen { connection, from, number, kind, statement, commit });
        {
            let mut state = self.talk.state();
            if state.cut {
                return Ok(Passed::Late);
            }
            // Before a byte is passed on: an answer to this message finds the connection cut.
            state.cut = cut != Cut::Nothing;
        }
        let length = match cut {
            Cut::Nothing | Cut::After => message.bytes.len(),
            Cut::Within => message.bytes.len() / 2,
            Cut::Before => 0,
        };
        output.write_all(&message.bytes[..length])?;
        Ok(if cut == Cut::Nothing { Passed::On } else { Passed::Cut(cut) })
    }
}

impl State {
    /// A message of the client: the statement that it has or executes.
    fn hear(&mut self, message: &Message) -> Option<Arc<str>> {
        let mut texts = message.texts();
        let mut text = || texts.next().unwrap_or_default();
        match message.kind {
            b'Q' => {
                let statement: Arc<str> = text().into();
                self.asked.push_back(Some(Arc::clone(&statement)));
                Some(statement)
            }
            b'P' => {
                let (name, statement) = (text(), Arc::from(text()));
                self.statements.insert(name, Arc::clone(&statement));
                // It is not executed yet.
                None
            }
            b'B' => {
                let (portal, name) = (text(), text());
                if let Some(statement) = self.statements.get(&name) {
                    self.portals.insert(portal, Arc::clone(statement));
                }
                None
            }
            b'E' => {
                let statement = self.portals.get(&text()).cloned();
                if !self.executed.as_deref().is_some_and(commits) {
                    self.executed.clone_from(&statement);
                }
                statement
            }
            b'S' => {
                let executed = self.executed.take();
                self.asked.push_back(executed);
                None
            }
            _ => None,
        }
    }

    /// A message of the server: the statement that it belongs to the answer of.
    fn answered(&mut self, kind: u8) -> Option<Arc<str>> {
        if kind == b'Z' {
            return self.asked.pop_front().flatten();
        }
        // What is answered before `Sync` was read belongs to what is executed.
        self.asked.front().unwrap_or(&self.executed).clone()
    }
}

/// Relays bytes until the sender goes.
fn unread(mut input: &TcpStream, mut output: &TcpStream) -> io::Result<End> {
    io::copy(&mut input, &mut output)?;
    Ok(End::Gone)
}

/// Ends both sides of a connection.
pub(super) fn cut(sides: &[TcpStream; 2]) {
    for side in sides {
        // One that is closed already is as it should be.
        let _closed = side.shutdown(Shutdown::Both);
    }
}

/// Ends the client's side, and tells the server that nothing more comes: it carries out what it was sent, and then ends its side.
pub(super) fn cut_when_carried_out(client: &TcpStream, server: &TcpStream) {
    let _closed = client.shutdown(Shutdown::Both);
    let _half_closed = server.shutdown(Shutdown::Write);
}
