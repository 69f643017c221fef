-- Requests with a valid key that were not answered, kept for seven days: of each hour a sample, and how many there were in all. Codes
-- and words are ours; nothing that a request or an answer said is in here.
CREATE TABLE failed_requests (
  request_id  text PRIMARY KEY,
  account_id  text NOT NULL,
  key_id      text NOT NULL,
  failed_at   timestamptz NOT NULL,
  format      text NOT NULL,
  -- What was asked for, where that is a name of the catalogue.
  model       text,
  status      integer NOT NULL CHECK (status BETWEEN 400 AND 599),
  code        text NOT NULL CHECK (char_length(code) BETWEEN 1 AND 60),
  -- The field at fault.
  param       text CHECK (char_length(param) <= 120),
  words       text NOT NULL CHECK (char_length(words) <= 400)
);
CREATE INDEX failed_requests_account_index ON failed_requests (account_id, failed_at DESC, request_id DESC);
CREATE INDEX failed_requests_time_index ON failed_requests (failed_at);

CREATE TABLE failed_request_counts (
  account_id  text NOT NULL,
  hour        timestamptz NOT NULL,
  key_id      text NOT NULL,
  status      integer NOT NULL,
  code        text NOT NULL,
  requests    bigint NOT NULL CHECK (requests > 0),
  PRIMARY KEY (account_id, hour, key_id, status, code)
);
CREATE INDEX failed_request_counts_time_index ON failed_request_counts (hour);
