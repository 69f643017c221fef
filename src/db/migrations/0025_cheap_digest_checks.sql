-- Every batch of charges changes the row of each key in it, and a change has all checks of a row made anew: the pattern of the digest took
-- longer than the rest. The same is said by what costs next to nothing. No row is looked at: each was held to the pattern.
ALTER TABLE api_keys DROP CONSTRAINT api_keys_key_hash_check, ADD CONSTRAINT api_keys_key_hash_check
  CHECK (octet_length(key_hash) = 64 AND encode(decode(key_hash, 'hex'), 'hex') = key_hash) NOT VALID;
ALTER TABLE charged_idempotency_keys DROP CONSTRAINT charged_idempotency_keys_key_digest_check,
  ADD CONSTRAINT charged_idempotency_keys_key_digest_check
  CHECK (octet_length(key_digest) = 64 AND encode(decode(key_digest, 'hex'), 'hex') = key_digest) NOT VALID;
