//! What a worker is called where nobody gives it a name.

/// `HOST:PID`. A host without a name, or with one that is no text, is `localhost`.
pub fn worker_name(pid: u32) -> String {
    let host = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
    let host = host.filter(|name| !name.is_empty()).unwrap_or_else(|| "localhost".to_owned());
    format!("{host}:{pid}")
}
