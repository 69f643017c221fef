-- Finds the few accounts whose keys end at an age, when reminders of the end of keys are due.
CREATE INDEX accounts_key_age_index ON accounts (id) WHERE max_key_age_days IS NOT NULL;
