-- Providers, by the names of the catalogue, that may answer: all keys of an account, and one of them. Null = every one.
ALTER TABLE accounts ADD COLUMN allowed_providers text[];
ALTER TABLE api_keys ADD COLUMN allowed_providers text[];
