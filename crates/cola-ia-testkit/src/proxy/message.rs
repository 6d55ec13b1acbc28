//! Where messages of the protocol end, and the little that is read of them.

use std::io::{self, Read};

/// Longer ones are nonsense here, and no reason to take memory.
const MESSAGE_MAX_BYTES: usize = 256 * 1024 * 1024;

/// Codes that stand where a start has the protocol's version.
const SSL_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;

/// A message with its head, as it is passed on.
#[derive(Debug)]
pub(super) struct Message {
    /// 0 where it has none.
    pub(super) kind: u8,
    pub(super) bytes: Vec<u8>,
}

/// What the first messages of a client are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Start {
    /// Asks for encryption: one byte answers it, and another start follows where the answer is no.
    Encryption,
    /// Asks to cancel what another connection does: nothing follows.
    Cancel,
    /// Begins a session.
    Session,
}

impl Message {
    /// The next message; `None`: the sender is gone.
    pub(super) fn read(input: &mut impl Read) -> io::Result<Option<Self>> {
        let mut kind = [0];
        if input.read(&mut kind)? == 0 {
            return Ok(None);
        }
        let mut bytes = kind.to_vec();
        read_counted(input, &mut bytes)?;
        Ok(Some(Self { kind: kind[0], bytes }))
    }

    /// The next message of a client that has not begun a session: it has no type.
    pub(super) fn read_start(input: &mut impl Read) -> io::Result<Self> {
        let mut bytes = Vec::new();
        read_counted(input, &mut bytes)?;
        Ok(Self { kind: 0, bytes })
    }

    /// Which start it is.
    pub(super) fn start(&self) -> Start {
        let code = self.bytes.get(4..8).and_then(|code| code.try_into().ok()).map(u32::from_be_bytes);
        match code {
            Some(SSL_REQUEST | GSS_REQUEST) => Start::Encryption,
            Some(CANCEL_REQUEST) => Start::Cancel,
            _ => Start::Session,
        }
    }

    /// What stands behind type and length.
    fn body(&self) -> &[u8] {
        self.bytes.get(5..).unwrap_or_default()
    }

    /// The texts at the start of the body, each ended by a zero byte.
    pub(super) fn texts(&self) -> impl Iterator<Item = String> {
        self.body().split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned())
    }
}

/// Reads a length, which counts itself, and what it counts.
fn read_counted(input: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<()> {
    let mut length = [0; 4];
    input.read_exact(&mut length)?;
    bytes.extend_from_slice(&length);
    let length = u32::from_be_bytes(length) as usize;
    if !(4..=MESSAGE_MAX_BYTES).contains(&length) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, format!("a message of {length} bytes")));
    }
    let rest = length - 4;
    let read = input.take(rest as u64).read_to_end(bytes)?;
    if read == rest { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Whether a statement, or the last of several, commits a transaction.
pub(super) fn commits(statement: &str) -> bool {
    let last = statement.split(';').map(str::trim).rfind(|part| !part.is_empty()).unwrap_or_default();
    let mut words = last.split_whitespace().map(str::to_ascii_uppercase);
    match words.next().as_deref() {
        // `COMMIT PREPARED` ends another transaction.
        Some("COMMIT" | "END") => {
            words.next().is_none_or(|word| matches!(word.as_str(), "WORK" | "TRANSACTION" | "AND"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_commit_commits() {
        for yes in
            ["COMMIT", "commit;", " End ; ", "COMMIT WORK", "end transaction", "INSERT INTO t VALUES (1); COMMIT"]
        {
            assert!(commits(yes), "{yes}");
        }
        for no in ["", ";", "ROLLBACK", "SELECT 'COMMIT'", "COMMIT PREPARED 'x'", "COMMIT; SELECT 1", "committed"] {
            assert!(!commits(no), "{no}");
        }
    }

    #[test]
    fn a_message_ends_where_its_length_says() {
        let mut input: &[u8] = b"Q\0\0\0\x0bCOMMIT\0X\0\0\0\x04";
        let first = Message::read(&mut input).unwrap().unwrap();
        assert_eq!((first.kind, first.texts().next().as_deref()), (b'Q', Some("COMMIT")));
        let second = Message::read(&mut input).unwrap().unwrap();
        assert_eq!((second.kind, second.bytes.len()), (b'X', 5));
        assert!(Message::read(&mut input).unwrap().is_none());
    }

    #[test]
    fn a_message_that_is_cut_or_has_no_length_is_an_error() {
        for mut input in [&b"Q\0\0\0\x0bCOM"[..], b"Q\0\0\0\x03", b"Q\xff\xff\xff\xff"] {
            assert!(Message::read(&mut input).is_err(), "{input:?}");
        }
    }

    #[test]
    fn starts_are_told_apart_by_their_code() {
        let start = |code: u32| {
            let bytes = [8_u32.to_be_bytes(), code.to_be_bytes()].concat();
            Message::read_start(&mut &bytes[..]).unwrap().start()
        };
        assert_eq!(start(SSL_REQUEST), Start::Encryption);
        assert_eq!(start(GSS_REQUEST), Start::Encryption);
        assert_eq!(start(CANCEL_REQUEST), Start::Cancel);
        assert_eq!(start(196_608), Start::Session);
    }
}
