/** The typed client of operations: inputs and results have the types of their declarations. */
import type { Static, TSchema } from '@sinclair/typebox'
import { send, type Versioned } from '@/dashboard/client'
import { accountPath } from '@/dashboard/shown-account'
import type { ACCOUNT_OPERATIONS, ADMINISTRATION, PERSONAL_OPERATIONS, VISITOR_OPERATIONS } from './all-operations'
import type { Input, ParamsOf } from './operation'

type Operations = (typeof ACCOUNT_OPERATIONS)[number]
type Unbound = (typeof PERSONAL_OPERATIONS | typeof VISITOR_OPERATIONS)[number]
type Administration = (typeof ADMINISTRATION)[number]

type Declared = { path: string; takes?: Input; gives: TSchema }
type At<All extends Declared, Place extends All['path']> = Extract<All, { path: Place }>

/** The input of the operation at `Place`: the parameters of its path, and the fields of its body or query. */
type InputOf<All extends Declared, Place extends All['path']> = ParamsOf<Place> &
  Static<NonNullable<At<All, Place>['takes']>>

export type ResultOf<Place extends Operations['path']> = Static<At<Operations, Place>['gives']>

/** The result of an administrators' operation. */
export type AdminResultOf<Place extends Administration['path']> = Static<At<Administration, Place>['gives']>

export type AdminInputOf<Place extends Administration['path']> = InputOf<Administration, Place>

/** Performs an operation on the shown account. Throws an ApiError if it is refused, or the service can't be reached. */
export async function perform<Place extends Operations['path']>(
  path: Place,
  input: InputOf<Operations, Place>,
): Promise<ResultOf<Place>> {
  return (await sendTo(accountPath(''), path, input)).value as ResultOf<Place>
}

/** Performs an operation, and returns the version of its result. With `ifMatch`, a change is refused if a newer version exists. */
export async function performVersioned<Place extends Operations['path']>(
  path: Place,
  input: InputOf<Operations, Place>,
  ifMatch?: string,
): Promise<Versioned<ResultOf<Place>>> {
  return (await sendTo(accountPath(''), path, input, ifMatch)) as Versioned<ResultOf<Place>>
}

/** Performs an administrators' operation. Throws like {@link perform}. */
export async function administer<Place extends Administration['path']>(
  path: Place,
  input: InputOf<Administration, Place>,
): Promise<AdminResultOf<Place>> {
  return (await sendTo('/dashboard/api/admin/', path, input)).value as AdminResultOf<Place>
}

export type OwnResultOf<Place extends Unbound['path']> = Static<At<Unbound, Place>['gives']>

/** Performs an operation of a person or a visitor that belongs to no account. Throws like {@link perform}. */
export async function performOwn<Place extends Unbound['path']>(
  path: Place,
  input: InputOf<Unbound, Place>,
): Promise<OwnResultOf<Place>> {
  return (await sendTo('/dashboard/api/', path, input)).value as OwnResultOf<Place>
}

async function sendTo(prefix: string, path: string, input: object, ifMatch?: string): Promise<Versioned<unknown>> {
  const [method = '', place = ''] = path.split(' ')
  const rest: Record<string, unknown> = { ...input }
  const filled = place.replace(/:(\w+)/g, (_, name: string) => {
    const { [name]: value } = rest
    delete rest[name]
    return encodeURIComponent(String(value))
  })
  const isQuery = method === 'GET' || method === 'DELETE'
  const query = isQuery ? new URLSearchParams(rest as Record<string, string>).toString() : ''
  const body = isQuery ? undefined : rest
  return await send(method, prefix + filled.slice(1) + (query && `?${query}`), { body, ifMatch })
}
