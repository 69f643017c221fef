/**
 * All resources that customers share, and the limit of each. Code that grants a resource takes its limits from here. The table of
 * docs/SECURITY.md is this list, and a test compares both.
 */

/** One shared resource. A missing number does not apply, or is named in `beyond`. */
export type SharedResource = {
  resource: string
  unit: string
  /** The maximum for one account with all its keys. */
  perAccount?: number
  /** The maximum for all accounts together, in one process. */
  perProcess?: number
  /** The effect on a caller that exceeds the limit. */
  beyond: string
}

const MIB = 1024 * 1024

export const SHARED = {
  freeAnswers: {
    resource: 'Free answers: token counts, `/v1/route`, `/v1/usage`, `/v1/feedback`, stored responses',
    unit: "requests a minute, or the catalogue's limit if higher",
    perAccount: 600,
    beyond: '429 `too_many_unpaid`',
  },
  unpaidBytes: {
    resource: 'Bodies and conversations read for free or for a refusal',
    unit: 'bytes a minute',
    perAccount: 32 * MIB,
    beyond: '429 `too_many_unpaid`',
  },
  unreadBytes: {
    resource: 'The event loop, for bodies above 256 KiB that are refused unread',
    unit: 'bytes a minute, per address',
    perAccount: 32 * MIB,
    beyond: 'the answer closes the connection',
  },
  unpaidTurns: {
    resource: 'The event loop, for large free bodies, many fields, long stored conversations',
    unit: 'requests at once',
    perAccount: 1,
    perProcess: 2,
    beyond: 'waits 5 s, then 503',
  },
  longSteps: {
    resource: 'The event loop, for a processing step of a body above 256 KiB or of such vectors',
    unit: 'steps in one turn',
    perProcess: 1,
    beyond: 'waits its turn',
  },
  bodies: {
    resource: 'Memory for bodies until the end of their answers',
    unit: 'bytes at once, of bodies above 16 KiB',
    perAccount: 128 * MIB,
    perProcess: 320 * MIB,
    beyond: 'waits 5 s, then 503',
  },
  vectors: {
    resource: 'Memory for vectors until the client received them',
    unit: 'bytes at once, estimated',
    perAccount: 96 * MIB,
    perProcess: 256 * MIB,
    beyond: 'waits 20 s, then 503',
  },
  chainBytes: {
    resource: 'Reading a stored conversation',
    unit: 'bytes for one request',
    perAccount: 16 * MIB,
    beyond: '400 `chain_too_large`',
  },
  chainValues: {
    resource: 'Parsing a stored conversation',
    unit: 'JSON values for one request',
    perAccount: 100_000,
    beyond: '400 `chain_too_large`',
  },
  keptAnswers: {
    resource: 'Redis, for answers kept by an `Idempotency-Key` or `x-svc-cache`',
    unit: 'bytes for 24 hours; less in a full Redis',
    perAccount: 32 * MIB,
    beyond: 'the oldest are dropped: 409 `idempotency_answer_lost`',
  },
  signatures: {
    resource: 'Redis, for signatures of providers',
    unit: 'bytes in 24 hours; none in a full Redis',
    perAccount: 32 * MIB,
    beyond: 'not stored: the conversation continues without earlier reasoning',
  },
  storedCopies: {
    resource: 'Redis, for copies of the newest stored answers',
    unit: 'bytes in ten minutes; none in a full Redis',
    perAccount: 16 * MIB,
    perProcess: 64 * MIB,
    beyond: 'not copied: the answer is written to Postgres',
  },
  storedWrites: {
    resource: 'Postgres, for stored answers without a copy in Redis',
    unit: 'writes at once',
    perAccount: 8,
    perProcess: 32,
    beyond: 'the answer says `store: false`',
  },
  idempotencyKeys: {
    resource: 'Redis, for idempotency keys',
    unit: 'keys in 24 hours (fewer beyond half of `REDIS_FULL_PERCENT`, 1,000 beyond three quarters)',
    perAccount: 50_000,
    beyond: '429 `too_many_idempotency_keys`',
  },
  paidCounts: {
    resource: "The tokenizer's thread, for paid requests",
    unit: 'waiting counts',
    perAccount: 16,
    perProcess: 64,
    beyond: 'one byte is reserved as one token',
  },
  freeCounts: {
    resource: "The tokenizer's thread, for free requests",
    unit: 'waiting counts',
    perAccount: 4,
    perProcess: 32,
    beyond: 'the answer is an estimate',
  },
  readingOn: {
    resource: 'Calls that are read on after a disconnect',
    unit: "percent of a provider's `onDisconnect.maxConcurrent` (50)",
    perAccount: 25,
    perProcess: 100,
    beyond: 'the call is cancelled; our count is charged',
  },
  openRequests: {
    resource: 'Open requests',
    unit: 'at once (default)',
    perAccount: 200,
    beyond: '429 `rate_limit_exceeded`',
  },
  connections: {
    resource: 'File descriptors, for connections without an open request',
    unit: 'at once, for each address (`CONNECTIONS_PER_ADDRESS`)',
    perAccount: 512,
    beyond: 'the oldest are closed',
  },
  providerSlots: {
    resource: 'Slots and queue places of a provider (`maxConcurrency`)',
    unit: 'percent (all, if fewer than five)',
    perAccount: 80,
    perProcess: 100,
    beyond: 'the next target; without one waits 2 s, then 503 `provider_busy`',
  },
  keyLimits: {
    resource: 'Provider keys that pause after a 429',
    unit: 'accounts with a 429 until a key pauses for all',
    perProcess: 2,
    beyond: 'the key pauses for the account that got the 429',
  },
  batchUploads: {
    resource: 'Postgres, for uploads of files and creation of batches',
    unit: 'at once',
    perAccount: 2,
    perProcess: 4,
    beyond: 'waits 5 s, then 503',
  },
  batchStorage: {
    resource: 'Postgres, for files, waiting lines and results of batches',
    unit: 'bytes',
    perAccount: 1024 * MIB,
    beyond: '403 `storage_full`; a running batch pauses',
  },
  batchLines: {
    resource: 'The event loop, for lines of batches',
    unit: 'lines at once; one while the event loop is busy',
    perAccount: 16,
    perProcess: 32,
    beyond: 'the line waits',
  },
  reads: {
    resource: 'Postgres, for reads by pages and management keys',
    unit: 'reads at once',
    perAccount: 2,
    perProcess: 8,
    beyond: 'waits 5 s, then 503',
  },
  pageReads: {
    resource: "Postgres, for usage on the dashboard's pages",
    unit: 'look-ups at once',
    perAccount: 2,
    perProcess: 4,
    beyond: 'waits 5 s, then 503',
  },
  exports: {
    resource: 'Postgres, for exports',
    unit: 'exports at once',
    perAccount: 2,
    perProcess: 8,
    beyond: '429',
  },
  changes: {
    resource: 'The audit log, for changes by people, management keys and operator keys',
    unit: 'changes a minute (a person half, a key a quarter)',
    perAccount: 240,
    beyond: '429 `too_many_attempts`',
  },
  mails: {
    resource: 'The mail outbox, except mails that a person waits for',
    unit: 'mails an hour of each sort (alerts, reports, changes, invitations)',
    perAccount: 60,
    beyond: 'further mails wait for the next hour',
  },
  hashing: {
    resource: 'Password hashing, for people who have not signed in before',
    unit: 'hashes at once',
    perProcess: 3,
    beyond: 'waits behind at most 200 others, else 503',
  },
} as const satisfies Record<string, SharedResource>
