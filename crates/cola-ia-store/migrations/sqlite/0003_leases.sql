-- Leases. Until the release that has it, this file may still be edited.

ALTER TABLE jobs ADD COLUMN leases INTEGER NOT NULL DEFAULT 0; -- of this run: the number of its newest attempt
ALTER TABLE attempts ADD COLUMN to_state TEXT; -- where it left its job, to be answered again …
ALTER TABLE attempts ADD COLUMN to_due INTEGER; -- … and when that was due
