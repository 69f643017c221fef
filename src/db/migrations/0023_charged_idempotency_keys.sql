-- Which idempotency keys were charged, for a day at least: asked where the store may have forgotten them. A key by its SHA-256.
CREATE TABLE charged_idempotency_keys (
  account_id  text NOT NULL,
  key_digest  text NOT NULL CHECK (key_digest ~ '^[0-9a-f]{64}$'),
  -- Who was charged: the request, and the API key that sent it.
  request_id  text NOT NULL,
  key_id      text NOT NULL,
  charged_at  timestamptz NOT NULL,
  PRIMARY KEY (account_id, key_digest)
);
CREATE INDEX charged_idempotency_keys_time_index ON charged_idempotency_keys (charged_at);
