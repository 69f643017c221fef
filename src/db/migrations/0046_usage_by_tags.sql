-- Sums per day (UTC) of what the tags of its requests say, all tags of a request together as name=value,… in order. Of an account and day at
-- most 500 of these; '' is the rest. What said nothing has no row: it is what usage_daily has beyond. An older gateway writes none.
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

-- Sums the records of each day from from_day on anew, those of archived months not. Writers wait until it is done.
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
SELECT rebuild_usage_daily_tags('1970-01-01');
