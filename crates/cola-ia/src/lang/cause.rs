//! What the operating system and SQLite say, in the language of prose: by their numbers, never by their words.

use std::io::{Error, ErrorKind};

use nix::errno::Errno;

use super::Lang;

/// The catalogue's key of this reason of the operating system, if it is one of the common ones.
fn io_key(kind: ErrorKind, errno: Option<i32>) -> Option<&'static str> {
    use ErrorKind as K;
    Some(match kind {
        K::NotFound => "io-not-found",
        K::PermissionDenied => "io-permission-denied",
        K::AlreadyExists => "io-already-exists",
        K::IsADirectory => "io-is-a-directory",
        K::NotADirectory => "io-not-a-directory",
        K::StorageFull => "io-storage-full",
        K::QuotaExceeded => "io-quota",
        K::ReadOnlyFilesystem => "io-read-only-filesystem",
        K::InvalidData => "io-invalid-data",
        K::FileTooLarge => "io-file-too-large",
        K::ResourceBusy | K::ExecutableFileBusy => "io-busy",
        K::TimedOut => "io-timed-out",
        K::InvalidFilename => "io-name-too-long",
        // The library has no kinds of its own for these.
        _ => match Errno::from_raw(errno?) {
            Errno::EIO => "io-device",
            Errno::ENXIO | Errno::ENODEV => "io-device-gone",
            Errno::EMFILE | Errno::ENFILE => "io-too-many-open",
            Errno::ELOOP => "io-link-loop",
            _ => return None,
        },
    })
}

/// The same for SQLite's primary result codes (<https://www.sqlite.org/rescode.html>).
fn sqlite_key(extended_code: i32) -> Option<&'static str> {
    Some(match extended_code & 0xff {
        3 => "sqlite-permission",
        5 | 6 => "sqlite-busy",
        8 => "sqlite-read-only",
        10 => "sqlite-io",
        11 => "sqlite-corrupt",
        13 => "sqlite-full",
        14 => "sqlite-cannot-open",
        26 => "sqlite-not-a-database",
        _ => return None,
    })
}

impl Lang {
    /// Why the system refused something, in the language of prose where it is one of the common reasons.
    pub fn io(&self, error: &Error) -> String {
        self.io_or(error.kind(), error.raw_os_error(), &error.to_string())
    }

    pub(super) fn io_or(&self, kind: ErrorKind, errno: Option<i32>, otherwise: &str) -> String {
        io_key(kind, errno).map_or_else(|| otherwise.to_owned(), |key| self.t(key, &[]))
    }

    /// A cause that came as text: one that ends in a number, `(os error 13)` or `(SQLite 8)`, is told by that number, which
    /// stays; any other is told as it is.
    pub fn cause(&self, text: &str) -> String {
        let number = |opening: &str| {
            let (_, end) = text.rsplit_once(opening)?;
            end.strip_suffix(')')?.parse::<i32>().ok()
        };
        if let Some(errno) = number(" (os error ")
            && let Some(key) = io_key(Error::from_raw_os_error(errno).kind(), Some(errno))
        {
            let (cause, number) = (self.t(key, &[]), errno.to_string());
            return self.t("io-numbered", &[("cause", cause.into()), ("number", number.into())]);
        }
        if let Some(code) = number(" (SQLite ")
            && let Some(key) = sqlite_key(code)
        {
            return format!("{} (SQLite {code})", self.t(key, &[]));
        }
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lang::Language;

    #[test]
    fn a_cause_is_told_by_its_number_in_both_languages() {
        let [spanish, english] = Language::ALL.map(Lang::only);
        let cases = [
            ("Permission denied (os error 13)", "permiso denegado (error 13 del sistema)"),
            ("x: Input/output error (os error 5)", "el dispositivo falla al leer o escribir (error 5 del sistema)"),
            ("attempt to write a readonly database (SQLite 1032)", "solo se puede leer (SQLite 1032)"),
            ("database or disk is full (SQLite 13)", "el disco está lleno (SQLite 13)"),
        ];
        for (text, said) in cases {
            assert_eq!(spanish.cause(text), said);
            assert_ne!(english.cause(text), text);
            assert!(english.cause(text).ends_with(')'), "{text}");
        }
        for text in ["", "a symbolic link to nothing", "odd (os error 9999)", "odd (SQLite 999)", "(os error x)"] {
            assert_eq!(spanish.cause(text), text);
        }
    }

    #[test]
    fn an_error_that_has_no_kind_is_told_by_its_number() {
        let spanish = Lang::only(Language::Spanish);
        assert_eq!(spanish.io(&Error::from_raw_os_error(24)), "hay demasiados archivos abiertos");
        assert_eq!(spanish.io(&Error::from_raw_os_error(2)), "no existe");
        assert_eq!(spanish.io(&Error::other("odd")), "odd");
    }
}
