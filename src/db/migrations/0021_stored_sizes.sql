-- How much a stored answer is to read, known before it is read: JSON values, the tokens that its provider counted of all it built on,
-- and its items. Null in rows of before, which are measured when they are read.
ALTER TABLE stored_responses
  ADD COLUMN json_values integer,
  ADD COLUMN tokens integer,
  ADD COLUMN input_items integer,
  ADD COLUMN output_items integer;
-- place: among the items of the input and then those of the answer.
ALTER TABLE stored_response_items ADD COLUMN bytes integer, ADD COLUMN place integer;
