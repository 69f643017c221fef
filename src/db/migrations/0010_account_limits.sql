-- What all keys of an account may do together, and the most that one of them may; null = the catalogue's limits.
ALTER TABLE accounts
  ADD COLUMN requests_per_minute integer CHECK (requests_per_minute > 0),
  ADD COLUMN tokens_per_minute bigint CHECK (tokens_per_minute BETWEEN 1 AND 9007199254740991),
  ADD COLUMN concurrency integer CHECK (concurrency > 0);
