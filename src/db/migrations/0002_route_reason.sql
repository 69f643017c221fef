-- Why the model that answered was the one to answer: `x-svc-route-reason` of the answer. NULL where nothing had answered
-- yet, and for records older than this column. Without a default no row is rewritten.
ALTER TABLE usage_records ADD COLUMN route_reason text;
