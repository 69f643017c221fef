/** What an account can filter its usage by: the keys and models that ever occurred in it. */
import type { Database } from '@/db/client'

export type FilterChoices = {
  /** Every key of the account, deleted ones too, newest first. */
  keys: { keyId: string; name: string }[]
  /** Every model that answered lately, by id. */
  models: string[]
}

/** How far back a model must have answered to be offered. */
const MODEL_DAYS = 400
const MAX_KEYS = 1_000

/** Reads the choices. */
export async function readChoices({ sql }: Database, accountId: string): Promise<FilterChoices> {
  const [keys, models] = await Promise.all([
    sql<{ keyId: string; name: string }[]>`SELECT id AS "keyId", name FROM api_keys WHERE account_id = ${accountId}
      ORDER BY created_at DESC, id LIMIT ${MAX_KEYS}`,
    sql<{ model: string }[]>`SELECT DISTINCT model FROM usage_daily
      WHERE account_id = ${accountId} AND day > current_date - ${MODEL_DAYS}::int ORDER BY model`,
  ])
  return { keys: [...keys], models: models.map(({ model }) => model) }
}
