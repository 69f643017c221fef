/** The guide's tables of operations, made from the declarations. `bun test/people/print.ts` writes them into the pages. */

import { MANAGED_OPERATIONS } from '@/people/all-operations'
import { placeOf } from '@/people/operation'
import { OPERATOR_OPERATIONS } from '@/people/operators/operations'

type Row = { method: string; path: string; scope: string; summary: string }

export const HEADER = '| operation | scope | use |\n|---|---|---|\n'

const OPERATOR = OPERATOR_OPERATIONS.map((operation) => {
  const { method, place: path } = placeOf(operation)
  return { ...operation, method, path }
})

/** The pages with their tables. */
export const GUIDE_TABLES = [
  { page: 'docs/guide/management.md', table: tableOf('/v1', MANAGED_OPERATIONS) },
  { page: 'docs/guide/your-own-shop.md', table: tableOf('/v1/operator', OPERATOR) },
]

function tableOf(prefix: string, rows: readonly Row[]): string {
  const lines = rows.map(({ method, path, scope, summary }) => {
    const place = prefix + path.replace(/:(\w+)/g, '{$1}')
    return `| \`${method} ${place}\` | \`${scope}\` | ${summary} |\n`
  })
  return `\n${HEADER}${lines.join('')}\n`
}
