-- Batches: requests that run in the background, one per line, and the files from which they are made.

-- An uploaded file. is_whole: false while it is being received, and then nobody sees it.
CREATE TABLE batch_files (
  id          text PRIMARY KEY CHECK (id <> ''),
  account_id  text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  -- The member whose key uploaded it. Null: a key of the account as a whole.
  made_by     text REFERENCES users (id) ON DELETE SET NULL,
  name        text NOT NULL,
  bytes       bigint NOT NULL DEFAULT 0 CHECK (bytes >= 0),
  is_whole    boolean NOT NULL DEFAULT false,
  created_at  timestamptz NOT NULL DEFAULT now(),
  expires_at  timestamptz NOT NULL
);
CREATE INDEX batch_files_account_index ON batch_files (account_id, created_at DESC, id DESC);
CREATE INDEX batch_files_maker_index ON batch_files (made_by) WHERE made_by IS NOT NULL;
CREATE INDEX batch_files_expiry_index ON batch_files (expires_at);

CREATE TABLE batch_file_parts (
  file_id  text NOT NULL REFERENCES batch_files (id) ON DELETE CASCADE,
  place    integer NOT NULL,
  content  bytea NOT NULL,
  PRIMARY KEY (file_id, place)
);

-- headers: those of the creating request that apply to each line, such as usage labels. client_address: the sender of that request, for
-- keys with address lists. due_at: when a gateway may take the next lines.
CREATE TABLE batches (
  id              text PRIMARY KEY CHECK (id <> ''),
  account_id      text NOT NULL REFERENCES accounts (id) ON DELETE CASCADE,
  key_id          text NOT NULL REFERENCES api_keys (id),
  made_by         text REFERENCES users (id) ON DELETE SET NULL,
  endpoint        text NOT NULL,
  -- The models that its lines name, the first ten.
  models          text[] NOT NULL,
  -- validating: its lines are still being written, and nobody sees it.
  status          text NOT NULL DEFAULT 'validating'
    CHECK (status IN ('validating', 'in_progress', 'cancelling', 'completed', 'cancelled', 'expired')),
  input_file_id   text,
  -- Names of the files that are made of its results. Null: not yet, empty, or deleted.
  output_file_id  text,
  error_file_id   text,
  output_bytes    bigint NOT NULL DEFAULT 0,
  error_bytes     bigint NOT NULL DEFAULT 0,
  metadata        json,
  headers         json NOT NULL,
  client_address  text NOT NULL,
  -- The number of lines, and of lines by how they ended. All others wait or run.
  total           integer NOT NULL DEFAULT 0,
  succeeded       integer NOT NULL DEFAULT 0,
  errored         integer NOT NULL DEFAULT 0,
  canceled        integer NOT NULL DEFAULT 0,
  expired         integer NOT NULL DEFAULT 0,
  -- The size of waiting lines and of results.
  bytes           bigint NOT NULL DEFAULT 0,
  cost_nano       nano_usd NOT NULL DEFAULT 0,
  -- The most that all lines together could cost when it was made.
  most_nano       nano_usd NOT NULL DEFAULT 0,
  paused          text CHECK (paused IN ('no_credit', 'key_disabled', 'storage_full')),
  paused_message  text,
  due_at          timestamptz NOT NULL DEFAULT now(),
  created_at      timestamptz NOT NULL DEFAULT now(),
  -- The time at which the batch ends, even if lines still wait.
  ends_at         timestamptz NOT NULL,
  cancelling_at   timestamptz,
  ended_at        timestamptz,
  -- When it is deleted with its results.
  expires_at      timestamptz NOT NULL
);
CREATE INDEX batches_account_index ON batches (account_id, created_at DESC, id DESC);
CREATE INDEX batches_key_index ON batches (key_id);
CREATE INDEX batches_maker_index ON batches (made_by) WHERE made_by IS NOT NULL;
CREATE INDEX batches_output_index ON batches (output_file_id) WHERE output_file_id IS NOT NULL;
CREATE INDEX batches_error_index ON batches (error_file_id) WHERE error_file_id IS NOT NULL;
CREATE INDEX batches_due_index ON batches (due_at) WHERE status IN ('in_progress', 'cancelling');
CREATE INDEX batches_expiry_index ON batches (expires_at);

-- A line has its request until it ended, and then its result. tries: how often a gateway has taken it; each try has a request id of its
-- own. cleared: the number of the last try that is known to have cost nothing. due_at: of a waiting line, when it may run; of a running
-- one, when its gateway counts as dead. JSON is kept as text: it is not searched, and may hold what jsonb can't.
CREATE TABLE batch_lines (
  batch_id    text NOT NULL REFERENCES batches (id) ON DELETE CASCADE,
  place       integer NOT NULL,
  custom_id   text NOT NULL,
  state       text NOT NULL DEFAULT 'waiting'
    CHECK (state IN ('waiting', 'running', 'succeeded', 'errored', 'canceled', 'expired')),
  request     text,
  tries       integer NOT NULL DEFAULT 0,
  cleared     integer NOT NULL DEFAULT 0,
  -- Failures of providers so far.
  faults      integer NOT NULL DEFAULT 0,
  due_at      timestamptz NOT NULL DEFAULT now(),
  status      integer,
  request_id  text,
  result      text,
  cost_nano   nano_usd NOT NULL DEFAULT 0,
  PRIMARY KEY (batch_id, place)
) WITH (fillfactor = 90);
CREATE INDEX batch_lines_due_index ON batch_lines (batch_id, due_at, place) WHERE state IN ('waiting', 'running');
