-- Networks (CIDR) that keys may be used from: all of an account's, and one of them. Null = everywhere.
ALTER TABLE accounts ADD COLUMN allowed_addresses text[];
ALTER TABLE api_keys ADD COLUMN allowed_addresses text[];
