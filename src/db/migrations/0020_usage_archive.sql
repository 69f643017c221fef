-- Months of usage records that were taken out of usage_records, and what is left of each in the books. A month is closed (nothing
-- can be added), sealed (its checkpoints are written), and then moves as it is, catalogue only, into archived_usage_records.
-- Whoever adds a column to usage_records adds it there, too.
CREATE TABLE archived_usage_records (
  LIKE usage_records INCLUDING DEFAULTS INCLUDING CONSTRAINTS,
  PRIMARY KEY (event_id, settled_at)
) PARTITION BY RANGE (settled_at);

-- digest: over the month's checkpoints; the audit log has it, too. archived_at: NULL as long as the records are still among the
-- live ones. dropped_at: since when the records are meant to be elsewhere.
CREATE TABLE archived_months (
  month        date PRIMARY KEY CHECK (extract(day FROM month) = 1),
  records      bigint NOT NULL CHECK (records >= 0),
  accounts     bigint NOT NULL CHECK (accounts >= 0),
  charges_nano numeric NOT NULL,
  digest       text NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
  sealed_at    timestamptz NOT NULL DEFAULT now(),
  archived_at  timestamptz,
  dropped_at   timestamptz,
  CHECK (dropped_at IS NULL OR archived_at IS NOT NULL)
);

-- What an account's records of a month add up to. records_digest: of every record; days_digest: of its daily sums.
CREATE TABLE usage_checkpoints (
  account_id         text NOT NULL,
  month              date NOT NULL,
  records            bigint NOT NULL CHECK (records > 0),
  requests           bigint NOT NULL CHECK (requests >= 0),
  cost_nano          nano_usd NOT NULL,
  output_tokens      token_count NOT NULL,
  provider_cost_nano bigint,
  last_seq           bigint NOT NULL,
  last_id            text NOT NULL,
  records_digest     text NOT NULL CHECK (records_digest ~ '^[0-9a-f]{64}$'),
  days_digest        text NOT NULL CHECK (days_digest ~ '^[0-9a-f]{64}$'),
  PRIMARY KEY (account_id, month)
);
CREATE INDEX usage_checkpoints_month_index ON usage_checkpoints (month);
CREATE TRIGGER usage_checkpoints_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON usage_checkpoints
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

-- Of each row, too: what is written by way of the parent table fires no statement trigger of a partition.
CREATE FUNCTION refuse_closed_month() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the month of % is closed: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;

-- As before, but for months that are archived: a partition of theirs would let their records in once more.
CREATE OR REPLACE FUNCTION ensure_usage_partitions(from_day date, months integer) RETURNS integer LANGUAGE plpgsql
  SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  first_day date := date_trunc('month', from_day)::date;
  lower_bound timestamptz;
  upper_bound timestamptz;
  partition_name text;
  made integer := 0;
BEGIN
  FOR offset_months IN 0 .. months - 1 LOOP
    partition_name := 'usage_records_' || to_char(first_day + make_interval(months => offset_months), 'YYYYMM');
    CONTINUE WHEN to_regclass(partition_name) IS NOT NULL;
    CONTINUE WHEN EXISTS (SELECT FROM archived_months
      WHERE archived_at IS NOT NULL AND month >= first_day + make_interval(months => offset_months));
    -- Also brings this session's view of the catalogue up to date, which an advisory lock would not.
    LOCK TABLE usage_records IN SHARE UPDATE EXCLUSIVE MODE;
    CONTINUE WHEN to_regclass(partition_name) IS NOT NULL;
    lower_bound := (first_day + make_interval(months => offset_months)) AT TIME ZONE 'UTC';
    upper_bound := (first_day + make_interval(months => offset_months + 1)) AT TIME ZONE 'UTC';
    EXECUTE format('CREATE TABLE %I (LIKE usage_records INCLUDING DEFAULTS INCLUDING CONSTRAINTS)', partition_name);
    EXECUTE format(
      'WITH moved AS (DELETE FROM usage_records_default WHERE settled_at >= %L AND settled_at < %L RETURNING *)
       INSERT INTO %I SELECT * FROM moved', lower_bound, upper_bound, partition_name);
    EXECUTE format('ALTER TABLE usage_records ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)',
      partition_name, lower_bound, upper_bound);
    made := made + 1;
  END LOOP;
  RETURN made;
END $$;
