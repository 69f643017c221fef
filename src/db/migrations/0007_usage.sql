-- What the usage list needs to stay fast however many records an account has.

-- Finds the few records of one key or one model among millions: usage_daily says which days, keys and models there are, and
-- this index leads to exactly those records.
CREATE INDEX usage_records_cell_index ON usage_records (account_id, key_id, model, settled_at DESC);

-- Everything that did not simply go well: errors, estimates, corrections. An ordinary record is not in it, so that the
-- flusher pays for the exceptions only.
CREATE INDEX usage_records_noteworthy_index ON usage_records (account_id, settled_at DESC)
  WHERE status >= 400 OR rule <> 'usage' OR flags <> '{}';
