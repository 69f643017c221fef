-- Whoever reads this table must not be able to be the people in it: of a session's token only the SHA-256 is kept.
UPDATE sessions SET token = encode(sha256(convert_to(token, 'UTF8')), 'hex');

-- When its person last proved who they are, by signing in or since: what moves money asks for a fresh proof.
ALTER TABLE sessions ADD COLUMN proved_at timestamptz NOT NULL DEFAULT now();
UPDATE sessions SET proved_at = created_at;
