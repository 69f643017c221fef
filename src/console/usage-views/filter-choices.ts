/** Values to choose from in usage filters: the account's keys, models and members, and its latest tags and apps. */
import type { Database } from '@/db/client'
import { madeByCondition, type Sight } from './usage-filter'

type FilterChoices = {
  keys: { keyId: string; name: string }[]
  models: string[]
  members: { memberId: string; name: string }[]
  tags: string[]
  apps: string[]
}

const MODEL_DAYS = 400
const MAX_KEYS = 1_000
/** Number of latest records that are searched for tags and apps, and maximum number of tags and of apps. */
const LATEST_RECORDS = 20_000
const MAX_LABELS = 500

type LabelRow = { kind: 'tag' | 'app'; label: string }

export async function readChoices({ sql }: Database, sight: Sight): Promise<FilterChoices> {
  const { accountId, madeBy } = sight
  const isSeen =
    madeBy === undefined
      ? sql``
      : sql`AND (created_by = ${madeBy} OR id IN (SELECT key_id FROM usage_daily WHERE account_id = ${accountId} AND member_id = ${madeBy}))`
  const [keys, models, members, labels] = await Promise.all([
    sql<
      { keyId: string; name: string }[]
    >`SELECT id AS "keyId", name FROM api_keys WHERE account_id = ${accountId} ${isSeen}
      ORDER BY created_at DESC, id LIMIT ${MAX_KEYS}`,
    sql<{ model: string }[]>`SELECT DISTINCT model FROM usage_daily
      WHERE account_id = ${accountId} ${madeByCondition(sql, sight)} AND day > current_date - ${MODEL_DAYS}::int ORDER BY model`,
    sql<{ memberId: string; name: string }[]>`SELECT id AS "memberId", name FROM users
      WHERE id IN (SELECT created_by FROM api_keys WHERE account_id = ${accountId}
          UNION SELECT member_id FROM usage_daily_members WHERE account_id = ${accountId})
        ${madeBy === undefined ? sql`` : sql`AND id = ${madeBy}`} ORDER BY name, id LIMIT ${MAX_KEYS}`,
    sql<LabelRow[]>`
      WITH latest AS MATERIALIZED (SELECT tags, app FROM usage_records
        WHERE account_id = ${accountId} ${madeByCondition(sql, sight)} ORDER BY settled_at DESC LIMIT ${LATEST_RECORDS})
      (SELECT DISTINCT 'tag' AS kind, tag AS label FROM latest, unnest(tags) AS tag ORDER BY label LIMIT ${MAX_LABELS})
      UNION ALL
      (SELECT DISTINCT 'app', app FROM latest WHERE app IS NOT NULL ORDER BY app LIMIT ${MAX_LABELS})`,
  ])
  const labelsOf = (kind: LabelRow['kind']) => labels.filter((row) => row.kind === kind).map(({ label }) => label)
  return {
    keys: [...keys],
    models: models.map(({ model }) => model),
    members: [...members],
    tags: labelsOf('tag'),
    apps: labelsOf('app'),
  }
}
