-- Usage: a record for each charge, sums by day, and the archive of closed months.

-- One row per charge, for ever. The partition key is part of each unique key, so the flusher looks an event_id up in the days around
-- it. settled_at is a time of Redis' clock, the same at each redelivery. Nullable columns are null if they don't apply.
CREATE TABLE usage_records (
  event_id              text NOT NULL,
  hold_id               text NOT NULL,
  account_id            text NOT NULL,
  key_id                text NOT NULL,
  kind                  text NOT NULL CHECK (kind IN ('settle', 'expire', 'late')),
  cost_nano             nano_usd NOT NULL CHECK (cost_nano >= 0 OR kind = 'late'),
  held_nano             nano_usd NOT NULL CHECK (held_nano >= 0),
  seq                   bigint NOT NULL CHECK (seq >= 0),
  settled_at            timestamptz NOT NULL,
  request_id            text NOT NULL,
  model                 text NOT NULL,
  requested_model       text NOT NULL,
  provider              text NOT NULL,
  upstream_model        text NOT NULL,
  client_format         text NOT NULL,
  provider_format       text NOT NULL,
  uncached_tokens       token_count NOT NULL,
  cache_read_tokens     token_count NOT NULL,
  cache_write_5m_tokens token_count NOT NULL,
  cache_write_1h_tokens token_count NOT NULL,
  output_tokens         token_count NOT NULL,
  reasoning_tokens      token_count NOT NULL,
  rule                  text NOT NULL,
  flags                 text[] NOT NULL,
  stream                boolean NOT NULL,
  status                integer NOT NULL,
  attempts              integer NOT NULL,
  started_at            timestamptz NOT NULL,
  first_token_ms        integer,
  duration_ms           integer NOT NULL,
  -- Why this model answered: the answer's x-svc-route-reason.
  route_reason          text,
  -- For operators: the provider's cost, why the charge is or is not the price of the provider's counts, and which counts are far from
  -- ours.
  provider_cost_nano    bigint,
  charge_basis          text,
  count_gaps            text[],
  provider_input_tokens  bigint,
  provider_output_tokens bigint,
  local_input_tokens    bigint,
  local_output_tokens   bigint,
  -- Uses of tools that ran at the provider: [{"name", "uses", "cost"}], cost in nano-USD and part of cost_nano.
  tool_charges          jsonb,
  -- Tokens that are sounds or pictures, and counts in other units: [{"billable", "unit", "variant", "count"}].
  units                 jsonb,
  -- The member whose key it was, tags (name=value), the app, and a keyed hash of the end user.
  member_id             text,
  tags                  text[],
  app                   text,
  end_user              text,
  -- Data rules of the request with their owners, and the stated terms of the provider. Null: no rules.
  data_rules            text[],
  data_terms            text,
  -- The id of the client's answer, if it is not derived from the request id, and the reason why the answer ended.
  answer_id             text,
  finish                text,
  -- The service tier whose prices were charged. Null: the standard tier.
  service_tier          text,
  PRIMARY KEY (event_id, settled_at)
) PARTITION BY RANGE (settled_at);
CREATE INDEX usage_records_account_index ON usage_records (account_id, settled_at DESC);
-- Finds the records of one key or model among millions: usage_daily says which days, keys and models exist.
CREATE INDEX usage_records_cell_index ON usage_records (account_id, key_id, model, settled_at DESC);
-- Errors, estimates and corrections. Ordinary records are not in this index, so that the flusher rarely has to write it.
CREATE INDEX usage_records_noteworthy_index ON usage_records (account_id, settled_at DESC)
  WHERE status >= 400 OR rule <> 'usage' OR flags <> '{}';
-- Finds a record by the answer's id.
CREATE INDEX usage_records_answer_index ON usage_records USING hash (answer_id);
-- The few records to reconcile with providers.
CREATE INDEX usage_records_gaps_index ON usage_records (settled_at DESC) WHERE count_gaps IS NOT NULL;
CREATE TABLE usage_records_default PARTITION OF usage_records DEFAULT;

-- Sums per day (UTC), key, model and member ('' for none), so that a report over months reads few rows. A late correction changes the
-- cost only: its request was counted when the hold expired. costed_nano: the part of cost_nano for which provider_cost_nano is known.
-- Half of each page stays free: a busy batch updates every row of a page, and each update needs room for a second version.
CREATE TABLE usage_daily (
  account_id            text NOT NULL,
  day                   date NOT NULL,
  key_id                text NOT NULL,
  model                 text NOT NULL,
  requests              bigint NOT NULL CHECK (requests >= 0),
  errors                bigint NOT NULL CHECK (errors >= 0),
  uncached_tokens       token_count NOT NULL,
  cache_read_tokens     token_count NOT NULL,
  cache_write_5m_tokens token_count NOT NULL,
  cache_write_1h_tokens token_count NOT NULL,
  output_tokens         token_count NOT NULL,
  reasoning_tokens      token_count NOT NULL,
  cost_nano             nano_usd NOT NULL,
  duration_ms           bigint NOT NULL,
  first_token_ms        bigint NOT NULL,
  first_token_count     bigint NOT NULL,
  provider_cost_nano    bigint,
  costed_nano           bigint,
  member_id             text NOT NULL DEFAULT '',
  PRIMARY KEY (account_id, day, key_id, model, member_id)
) WITH (fillfactor = 50);
CREATE INDEX usage_daily_day_index ON usage_daily (day);

-- Charges of each member's keys per day, from which the ledger is restored.
CREATE TABLE usage_daily_members (
  account_id  text NOT NULL,
  day         date NOT NULL,
  member_id   text NOT NULL,
  requests    bigint NOT NULL,
  cost_nano   nano_usd NOT NULL,
  PRIMARY KEY (account_id, member_id, day)
);

-- Sums per day by all tags of a request together: name=value,… in order. At most 500 combinations per account and day; '' is
-- the rest. Requests without tags have no row.
CREATE TABLE usage_daily_tags (
  account_id    text NOT NULL,
  day           date NOT NULL,
  tags          text NOT NULL,
  model         text NOT NULL,
  requests      bigint NOT NULL CHECK (requests >= 0),
  errors        bigint NOT NULL CHECK (errors >= 0),
  input_tokens  token_count NOT NULL,
  output_tokens token_count NOT NULL,
  cost_nano     nano_usd NOT NULL,
  PRIMARY KEY (account_id, day, tags, model)
) WITH (fillfactor = 50);
CREATE INDEX usage_daily_tags_rest_index ON usage_daily_tags (account_id, day) WHERE tags = '';

-- Provider calls whose answers were not used, by day and model: the client disconnected before the first byte, or another call was
-- faster.
-- cost_nano is an estimate, and part of provider_cost_nano of the daily sums.
CREATE TABLE thrown_away_daily (
  day        date NOT NULL,
  model      text NOT NULL,
  calls      bigint NOT NULL CHECK (calls > 0),
  cost_nano  bigint NOT NULL CHECK (cost_nano >= 0),
  PRIMARY KEY (day, model)
);

-- How models answered for tiers: sums of a day over a sample of requests, without text or ids of requests.
CREATE TABLE tier_observations (
  day            date NOT NULL,
  tier           text NOT NULL,
  model          text NOT NULL,
  answers        bigint NOT NULL DEFAULT 0,
  cut_by_length  bigint NOT NULL DEFAULT 0,
  tool_calls     bigint NOT NULL DEFAULT 0,
  filtered       bigint NOT NULL DEFAULT 0,
  broken         bigint NOT NULL DEFAULT 0,
  left_early     bigint NOT NULL DEFAULT 0,
  output_tokens  bigint NOT NULL DEFAULT 0,
  retries        bigint NOT NULL DEFAULT 0,
  thumbs_up      bigint NOT NULL DEFAULT 0,
  thumbs_down    bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (day, tier, model)
);

-- Customers' ratings of requests. A request counts once, however often it is rated.
CREATE TABLE feedback (
  request_id  text PRIMARY KEY,
  account_id  text NOT NULL,
  rating      text NOT NULL CHECK (rating IN ('up', 'down')),
  rated_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX feedback_rated_index ON feedback (rated_at);

-- The archive. A month is closed (no records are added), sealed (its checkpoints are written), and then its
-- partition moves to this table, which changes only the catalogue. It has the columns of usage_records.
CREATE TABLE archived_usage_records (
  LIKE usage_records INCLUDING DEFAULTS INCLUDING CONSTRAINTS,
  PRIMARY KEY (event_id, settled_at)
) PARTITION BY RANGE (settled_at);

-- digest: of the month's checkpoints; the audit log has it too. archived_at: null while the records are still in usage_records.
-- dropped_at: when the records were removed from this database.
CREATE TABLE archived_months (
  month          date PRIMARY KEY CHECK (extract(day FROM month) = 1),
  records        bigint NOT NULL CHECK (records >= 0),
  accounts       bigint NOT NULL CHECK (accounts >= 0),
  charges_nano   numeric NOT NULL,
  digest         text NOT NULL CHECK (digest ~ '^[0-9a-f]{64}$'),
  sealed_at      timestamptz NOT NULL DEFAULT now(),
  archived_at    timestamptz,
  dropped_at     timestamptz,
  CHECK (dropped_at IS NULL OR archived_at IS NOT NULL)
);

-- The sums of an account's records of a month. records_digest: of all records; days_digest: of the daily sums.
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

-- A trigger of closed partitions, for each row: a write through the parent table fires no statement trigger of a partition.
CREATE FUNCTION refuse_closed_month() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the month of % is closed: % refused', TG_TABLE_NAME, TG_OP USING ERRCODE = 'restrict_violation';
END $$;

-- Makes the monthly partitions (UTC) from from_day's month on, except archived months. Rows of the default partition move over.
-- Runs as the owner: a gateway may add usage records without owning their table.
CREATE FUNCTION ensure_usage_partitions(from_day date, months integer) RETURNS integer LANGUAGE plpgsql
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

-- Sums the records of each day from from_day on again, except those of archived months. Writers wait until it ends.
CREATE FUNCTION rebuild_usage_daily_tags(from_day date) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE usage_daily_tags IN SHARE ROW EXCLUSIVE MODE;
  DELETE FROM usage_daily_tags WHERE day >= from_day
    AND date_trunc('month', day::timestamp)::date NOT IN (SELECT month FROM archived_months WHERE archived_at IS NOT NULL);
  INSERT INTO usage_daily_tags
    SELECT account_id, day, CASE WHEN place <= 500 THEN tags ELSE '' END, model, sum(requests), sum(errors), sum(input), sum(output), sum(cost)
    FROM (SELECT *, dense_rank() OVER (PARTITION BY account_id, day ORDER BY of_tags DESC, tags) AS place
      FROM (SELECT *, sum(requests) OVER (PARTITION BY account_id, day, tags) AS of_tags
        FROM (SELECT account_id, (settled_at AT TIME ZONE 'UTC')::date AS day, array_to_string(tags, ',') AS tags, model,
            count(*) FILTER (WHERE kind <> 'late') AS requests,
            count(*) FILTER (WHERE kind <> 'late' AND status >= 400 AND status <> 499) AS errors,
            coalesce(sum(uncached_tokens + cache_read_tokens + cache_write_5m_tokens + cache_write_1h_tokens)
              FILTER (WHERE kind <> 'late'), 0) AS input,
            coalesce(sum(output_tokens) FILTER (WHERE kind <> 'late'), 0) AS output, sum(cost_nano) AS cost
          FROM usage_records
          WHERE cardinality(tags) > 0 AND settled_at >= from_day::timestamp AT TIME ZONE 'UTC' GROUP BY 1, 2, 3, 4) a) b) c
    GROUP BY 1, 2, 3, 4;
END $$;
REVOKE EXECUTE ON FUNCTION rebuild_usage_daily_tags(date) FROM PUBLIC;
