/** The tables of batches, their lines and files, for typed queries. */
import { bigint, boolean, customType, index, integer, json, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { nano } from '@/lib/money'
import { amount, moment } from './columns'

const bytes = customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })

export const batchFiles = pgTable(
  'batch_files',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id').notNull(),
    /** The member whose key uploaded the file; null: a key of the account itself. */
    madeBy: text('made_by'),
    name: text('name').notNull(),
    bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
    /** False while the file is being received: no request can see it yet. */
    isWhole: boolean('is_whole').notNull().default(false),
    createdAt: moment('created_at').notNull().defaultNow(),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    index('batch_files_account_index').on(table.accountId, table.createdAt.desc(), table.id.desc()),
    index('batch_files_expiry_index').on(table.expiresAt),
  ],
)

export const batchFileParts = pgTable(
  'batch_file_parts',
  {
    fileId: text('file_id').notNull(),
    place: integer('place').notNull(),
    content: bytes('content').notNull(),
  },
  (table) => [primaryKey({ columns: [table.fileId, table.place] })],
)

export type BatchStatus = 'validating' | 'in_progress' | 'cancelling' | 'completed' | 'cancelled' | 'expired'

/** Why a batch waits although it has lines to run. */
export type PauseReason = 'no_credit' | 'key_disabled' | 'storage_full'

export const batches = pgTable(
  'batches',
  {
    id: text('id').primaryKey(),
    accountId: text('account_id').notNull(),
    keyId: text('key_id').notNull(),
    madeBy: text('made_by'),
    endpoint: text('endpoint').notNull(),
    /** The first ten models that its lines name. */
    models: text('models').array().notNull(),
    status: text('status').$type<BatchStatus>().notNull().default('validating'),
    inputFileId: text('input_file_id'),
    outputFileId: text('output_file_id'),
    errorFileId: text('error_file_id'),
    outputBytes: bigint('output_bytes', { mode: 'number' }).notNull().default(0),
    errorBytes: bigint('error_bytes', { mode: 'number' }).notNull().default(0),
    metadata: json('metadata').$type<Record<string, string>>(),
    /** The headers of the creating request that apply to each line. */
    headers: json('headers').$type<Record<string, string>>().notNull(),
    clientAddress: text('client_address').notNull(),
    total: integer('total').notNull().default(0),
    succeeded: integer('succeeded').notNull().default(0),
    errored: integer('errored').notNull().default(0),
    canceled: integer('canceled').notNull().default(0),
    expired: integer('expired').notNull().default(0),
    bytes: bigint('bytes', { mode: 'number' }).notNull().default(0),
    cost: amount('cost_nano').notNull().default(nano(0)),
    /** The maximum cost of all lines, computed when the batch was made. */
    most: amount('most_nano').notNull().default(nano(0)),
    paused: text('paused').$type<PauseReason>(),
    pausedMessage: text('paused_message'),
    dueAt: moment('due_at').notNull().defaultNow(),
    createdAt: moment('created_at').notNull().defaultNow(),
    endsAt: moment('ends_at').notNull(),
    cancellingAt: moment('cancelling_at'),
    endedAt: moment('ended_at'),
    expiresAt: moment('expires_at').notNull(),
  },
  (table) => [
    index('batches_account_index').on(table.accountId, table.createdAt.desc(), table.id.desc()),
    index('batches_key_index').on(table.keyId),
    index('batches_expiry_index').on(table.expiresAt),
  ],
)

export type LineState = 'waiting' | 'running' | 'succeeded' | 'errored' | 'canceled' | 'expired'

export const batchLines = pgTable(
  'batch_lines',
  {
    batchId: text('batch_id').notNull(),
    place: integer('place').notNull(),
    customId: text('custom_id').notNull(),
    state: text('state').$type<LineState>().notNull().default('waiting'),
    /** The body of the line's request as JSON; null once the line has ended. */
    request: text('request'),
    tries: integer('tries').notNull().default(0),
    /** Tries up to this number are known to have cost nothing. */
    cleared: integer('cleared').notNull().default(0),
    faults: integer('faults').notNull().default(0),
    dueAt: moment('due_at').notNull().defaultNow(),
    status: integer('status'),
    requestId: text('request_id'),
    result: text('result'),
    cost: amount('cost_nano').notNull().default(nano(0)),
  },
  (table) => [
    primaryKey({ columns: [table.batchId, table.place] }),
    index('batch_lines_due_index').on(table.batchId, table.dueAt, table.place),
  ],
)
