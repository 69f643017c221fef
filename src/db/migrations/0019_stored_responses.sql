-- Answers that callers may build on by their ids, each with the input of its own request. JSON is kept as text: nothing in it is
-- searched, and it may hold what jsonb can't (a NUL as \u0000, more digits than a number has).
CREATE TABLE stored_responses (
  account_id  text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id          text NOT NULL CHECK (id <> ''),
  key_id      text NOT NULL,
  parent_id   text,
  model       text NOT NULL,
  input       text NOT NULL,
  answer      text NOT NULL,
  bytes       integer NOT NULL CHECK (bytes >= 0),
  created_at  timestamptz NOT NULL,
  expires_at  timestamptz NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX stored_responses_age_index ON stored_responses (account_id, created_at);
CREATE INDEX stored_responses_expiry_index ON stored_responses (expires_at);

-- Where an item is that a later request names by its id alone. The same id may be in several: the newest counts.
CREATE TABLE stored_response_items (
  account_id   text NOT NULL,
  item_id      text NOT NULL,
  response_id  text NOT NULL,
  PRIMARY KEY (account_id, item_id, response_id),
  FOREIGN KEY (account_id, response_id) REFERENCES stored_responses (account_id, id) ON DELETE CASCADE
);
CREATE INDEX stored_response_items_owner_index ON stored_response_items (account_id, response_id);

-- What each account has stored, so that its limits cost no count of all its rows.
CREATE TABLE stored_response_totals (
  account_id  text PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  kept        bigint NOT NULL DEFAULT 0,
  bytes       bigint NOT NULL DEFAULT 0
);

-- How long an account's answers are kept; 0 = not at all, null = as long as the operator keeps those of anybody.
ALTER TABLE accounts ADD COLUMN stored_response_hours integer CHECK (stored_response_hours BETWEEN 0 AND 87600);
