-- Calls of providers that were begun and thrown away, by the day and model of the request they were made for: its client left before
-- the first byte, or another call outran them. What they may cost is an estimate, and is a part of provider_cost_nano of the daily sums.
CREATE TABLE thrown_away_daily (
  day        date NOT NULL,
  model      text NOT NULL,
  calls      bigint NOT NULL CHECK (calls > 0),
  cost_nano  bigint NOT NULL CHECK (cost_nano >= 0),
  PRIMARY KEY (day, model)
);
