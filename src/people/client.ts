/** The typed client of operations: they take and give what their declarations say. */
import type { Static } from '@sinclair/typebox'
import { accountPath } from '@/dashboard/account'
import { send } from '@/dashboard/client'
import type { BUDGET_OPERATIONS } from '@/people/budgets/operations'
import type { KEY_OPERATIONS } from '@/people/keys/operations'
import type { ORDER_OPERATIONS } from '@/people/orders/operations'
import type { SETTING_OPERATIONS } from '@/people/settings/operations'
import type { ParamsOf } from './operation'

type Operations = (
  | typeof KEY_OPERATIONS
  | typeof SETTING_OPERATIONS
  | typeof BUDGET_OPERATIONS
  | typeof ORDER_OPERATIONS
)[number]
type Path = Operations['path']
type At<Place extends Path> = Extract<Operations, { path: Place }>

/** What the operation at `Place` takes: the names of its path, and the fields of its body or query. */
type InputOf<Place extends Path> = ParamsOf<Place> & Static<NonNullable<At<Place>['takes']>>

export type ResultOf<Place extends Path> = Static<At<Place>['gives']>

/** Performs an operation on the account that is shown. Throws an ApiError if it is refused, or the service can't be reached. */
export async function perform<Place extends Path>(path: Place, input: InputOf<Place>): Promise<ResultOf<Place>> {
  const [method = '', place = ''] = path.split(' ')
  const rest: Record<string, unknown> = { ...input }
  const filled = place.replace(/:(\w+)/g, (_, name: string) => {
    const { [name]: value } = rest
    delete rest[name]
    return encodeURIComponent(String(value))
  })
  const query = method === 'GET' ? new URLSearchParams(rest as Record<string, string>).toString() : ''
  const body = method === 'GET' || method === 'DELETE' ? undefined : rest
  const address = accountPath(filled.slice(1)) + (query && `?${query}`)
  return (await send(method, address, body)) as ResultOf<Place>
}
