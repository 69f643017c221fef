-- How models answered for tiers: sums of a day over the share of requests that is observed. No text, and no request.
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

-- What customers said of their requests, kept so that each counts once however often it is said.
CREATE TABLE feedback (
  request_id  text PRIMARY KEY,
  account_id  text NOT NULL,
  rating      text NOT NULL CHECK (rating IN ('up', 'down')),
  rated_at    timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX feedback_rated_index ON feedback (rated_at);
