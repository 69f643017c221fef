-- Whose turn it is to do what one gateway does for all. A row whose time is over is anybody's.
CREATE TABLE worker_turns (
  worker   text PRIMARY KEY,
  holder   text NOT NULL,
  ends_at  timestamptz NOT NULL
);
