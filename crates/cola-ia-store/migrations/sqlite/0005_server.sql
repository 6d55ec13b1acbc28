-- The server: replays of signed bodies, tokens. Until the release that has it, this file may still be edited.

-- Signed bytes whose signature does not cover the event's id, and the event that they brought. Like identity, kept for good.
CREATE TABLE signed_bodies (
    source INTEGER NOT NULL,
    body   BLOB    NOT NULL, -- SHA-256
    event  INTEGER NOT NULL,
    PRIMARY KEY (source, body)
) STRICT, WITHOUT ROWID;
CREATE INDEX signed_bodies_event ON signed_bodies (event, body);

-- Of a duplicate: by its signed bytes, under another id.
ALTER TABLE deliveries ADD COLUMN replayed INTEGER;

-- Who may do what over the network. The tokens themselves are not here.
CREATE TABLE tokens (
    name       TEXT    PRIMARY KEY,
    hash       BLOB    NOT NULL UNIQUE, -- SHA-256
    scopes     TEXT    NOT NULL,        -- words, sorted, a space between two
    sources    TEXT    NOT NULL,        -- names, sorted, a space between two; '': of all
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT;
