-- What providers ask of us for what we charge, why a charge is not the price of what they counted, and where their counts are
-- far from ours. For operators only. NULL: not known, or nothing to say; so in all older records. Plain types without
-- defaults: no row is rewritten.
ALTER TABLE usage_records
  ADD COLUMN provider_cost_nano bigint,
  ADD COLUMN charge_basis text,
  ADD COLUMN count_gaps text[],
  ADD COLUMN provider_input_tokens bigint,
  ADD COLUMN provider_output_tokens bigint,
  ADD COLUMN local_input_tokens bigint,
  ADD COLUMN local_output_tokens bigint;

-- The few records to reconcile with providers; an ordinary one is not in it.
CREATE INDEX usage_records_gaps_index ON usage_records (settled_at DESC) WHERE count_gaps IS NOT NULL;

-- costed_nano: the part of cost_nano for which provider_cost_nano is known, so that a margin compares like with like.
ALTER TABLE usage_daily
  ADD COLUMN provider_cost_nano bigint,
  ADD COLUMN costed_nano bigint;
CREATE INDEX usage_daily_day_index ON usage_daily (day);
