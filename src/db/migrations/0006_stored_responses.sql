-- Stored responses, which callers continue by id.

-- Each response with the input of its own request. JSON is kept as text: it is not searched, and may hold what jsonb can't (a NUL as
-- \u0000, numbers with more digits).
CREATE TABLE stored_responses (
  account_id   text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  id           text NOT NULL CHECK (id <> ''),
  key_id       text NOT NULL,
  parent_id    text,
  model        text NOT NULL,
  input        text NOT NULL,
  answer       text NOT NULL,
  bytes        integer NOT NULL CHECK (bytes >= 0),
  created_at   timestamptz NOT NULL,
  expires_at   timestamptz NOT NULL,
  -- The size, known before the text is read: JSON values, items, and tokens of the whole prompt (null if the provider did not count
  -- them).
  json_values  integer NOT NULL,
  tokens       integer,
  input_items  integer NOT NULL,
  output_items integer NOT NULL,
  PRIMARY KEY (account_id, id)
);
CREATE INDEX stored_responses_age_index ON stored_responses (account_id, created_at);
CREATE INDEX stored_responses_expiry_index ON stored_responses (expires_at);

-- The responses that contain an item, for requests that name an item by its id alone. If several do, the newest counts.
-- place: among the items of the input and then those of the answer.
CREATE TABLE stored_response_items (
  account_id   text NOT NULL,
  item_id      text NOT NULL,
  response_id  text NOT NULL,
  bytes        integer NOT NULL,
  place        integer NOT NULL,
  PRIMARY KEY (account_id, item_id, response_id),
  FOREIGN KEY (account_id, response_id) REFERENCES stored_responses (account_id, id) ON DELETE CASCADE
);
CREATE INDEX stored_response_items_owner_index ON stored_response_items (account_id, response_id);

-- Stored responses of each account, so that its limits need no count of all rows.
CREATE TABLE stored_response_totals (
  account_id  text PRIMARY KEY REFERENCES accounts (id) ON DELETE CASCADE,
  kept        bigint NOT NULL DEFAULT 0,
  bytes       bigint NOT NULL DEFAULT 0
);
