-- Uses of tools that ran at the provider, and what they cost: [{"name", "uses", "cost"}], cost in nano-USD and part of cost_nano. NULL
-- where none was charged, and for records older than this column. Without a default no row is rewritten.
ALTER TABLE usage_records ADD COLUMN tool_charges jsonb;
