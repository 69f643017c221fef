-- When an operator disabled a person; null = may sign in.
ALTER TABLE users ADD COLUMN disabled_at timestamptz;
