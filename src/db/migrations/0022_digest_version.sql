-- Which of its versions the digests of a month were made with: a later one digests columns that earlier ones didn't know.
ALTER TABLE archived_months ADD COLUMN digest_version smallint NOT NULL DEFAULT 1 CHECK (digest_version > 0);
