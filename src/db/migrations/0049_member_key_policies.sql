-- What holds for all keys of a member, beside what holds for all of the account: models, and providers that may answer. Null = every one.
ALTER TABLE memberships ADD COLUMN allowed_models text[], ADD COLUMN allowed_providers text[];
