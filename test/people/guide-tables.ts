/** The guide's tables of operations, made from the declarations. `bun test/people/print.ts` writes them into the pages. */

import { MANAGED_OPERATIONS } from '@/people/all-operations'
import { placeOf } from '@/people/operation'
import { OPERATOR_OPERATIONS } from '@/people/operators/operations'

type Row = { method: string; path: string; scope: string }

export const HEADER = '| scope | operations |\n|---|---|\n'

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
  const lines = [...Map.groupBy(rows, ({ scope }) => scope)].map(([scope, operations]) => {
    const places = operations.map(({ method, path }) => `\`${method} ${prefix}${path.replace(/:(\w+)/g, '{$1}')}\``)
    return `| \`${scope}\` | ${places.join(', ')} |\n`
  })
  return `\n${HEADER}${lines.join('')}\n`
}
