-- The server: replays of signed bodies, tokens.

-- Signed bytes whose signature does not cover the event's id, and the event that they brought. Like identity, kept for good.
CREATE TABLE signed_bodies (
    source bigint NOT NULL,
    event  bigint NOT NULL,
    body   bytea  NOT NULL, -- SHA-256
    PRIMARY KEY (source, body)
);
CREATE INDEX signed_bodies_event ON signed_bodies (event, body);

-- Who may do what over the network. The tokens themselves are not here.
CREATE TABLE tokens (
    name       text   COLLATE "C" PRIMARY KEY,
    hash       bytea  NOT NULL UNIQUE, -- SHA-256
    scopes     text   NOT NULL,        -- words, sorted, a space between two
    sources    text   NOT NULL,        -- names, sorted, a space between two; '': of all
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint
);
