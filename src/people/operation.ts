/** Operations of the part for people: each is declared once, and its routes, client, command and documents come from that. */
import type { Static, TObject, TProperties, TSchema } from '@sinclair/typebox'
import type { ChangedBy } from '@/accounts/audit'
import type { OperatorScope } from '@/accounts/management/operator-keys'
import type { Scope } from '@/accounts/management/scopes'
import type { Permission } from '@/accounts/members/permissions'
import { type ErrorKind, GatewayError } from '@/chat/error'
import type { Command } from '@/cli/command'
import type { Member, Viewer } from '@/console/auth/viewer'
import type { Caller } from '@/console/http/changed-by'

/** Method and path, such as `PATCH /keys/:id`. The path stands below the account in the dashboard, and below `/v1` in the management API. */
export type OperationPath = `${Method} /${string}`

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The names that a path has: `id` of `/keys/:id/rotate`. */
type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

export type ParamsOf<Path extends string> = Record<NamesIn<Path>, string>

/** The acting member, or a program that acts like one; their request, and their name in the audit log. */
export type OperationCaller = { viewer: Member; request: Request; by: ChangedBy }

/** What a call brings: who sent it, the place it is performed on, and the services it works with. */
type Call<Caller, Deps, Path extends string> = Caller & { deps: Deps; params: ParamsOf<Path> }

/** What every operation declares, whoever performs it. */
export type Declaration<Path extends OperationPath, Takes extends TObject, Gives extends TSchema> = {
  /** The action of its audit entry, such as `key.change`, if it has an entry of its own. */
  name: string
  path: Path
  summary: string
  description: string
  /** Schemas of the names in its path that aren't ids. */
  names?: TProperties
  /** The fields of its body; for `GET`, of its query. */
  takes?: Takes
  maxBodyBytes?: number
  gives: Gives
  commands?: readonly Command[]
}

type Operation<
  Deps,
  Path extends OperationPath = OperationPath,
  Takes extends TObject = TObject,
  Gives extends TSchema = TSchema,
> = Declaration<Path, Takes, Gives> & {
  may: Permission
  /** Whether it needs a recent proof of who one is. */
  isProved?: true
  /** The scope of a management key that performs it. Without a scope, no management key does. */
  scope: Scope | undefined
  /** The scope of an operator key that performs it on any account. Without it, no operator key does. */
  operator?: OperatorScope
  /**
   * Those fields of what it gives that forms change. They make the `ETag` of its answer. A change whose `If-Match` names others is refused
   * with what the `GET` of its path gives then; `run` calls `expectVersion` for that.
   */
  versioned?(given: Static<Gives>): object
  run(call: Call<OperationCaller, Deps, Path>, input: Static<Takes>): Promise<Static<Gives>>
}

/** An operation over `Deps`, whatever it takes and gives. */
export type AnyOperation<Deps> = Omit<Operation<Deps>, 'run'> & {
  run(call: Call<OperationCaller, Deps, string>, input: object): Promise<unknown>
}

/** What takes and gives nothing in particular. */
type Nothing = TObject<TProperties & Record<never, never>>

/** Declares operations over the services `Deps`: name, path, permission, scope, and the rest. */
export function operationsOver<Deps>() {
  return <const Path extends OperationPath, Gives extends TSchema, Takes extends TObject = Nothing>(
    name: string,
    path: Path,
    may: Permission,
    scope: Scope | undefined,
    rest: Omit<Operation<Deps, Path, Takes, Gives>, 'name' | 'path' | 'may' | 'scope'>,
  ): Operation<Deps, Path, Takes, Gives> => ({ name, path, may, scope, ...rest })
}

/** The acting administrator, and their request. */
export type AdministrationCaller = { viewer: Viewer; request: Request; by: Caller['by'] }

/** An operation of administrators, on all accounts. Its path stands below `/dashboard/api/admin`. */
type Administration<
  Deps,
  Path extends OperationPath = OperationPath,
  Takes extends TObject = TObject,
  Gives extends TSchema = TSchema,
> = Declaration<Path, Takes, Gives> & {
  /** `movesMoney`: also a recent proof of who one is. */
  needs: 'administrator' | 'movesMoney'
  run(call: Call<AdministrationCaller, Deps, Path>, input: Static<Takes>): Promise<Static<Gives>>
}

/** An operation of administrators over `Deps`, whatever it takes and gives. */
export type AnyAdministration<Deps> = Omit<Administration<Deps>, 'run'> & {
  run(call: Call<AdministrationCaller, Deps, string>, input: object): Promise<unknown>
}

/** Declares operations of administrators over the services `Deps`. */
export function administrationOver<Deps>() {
  return <const Path extends OperationPath, Gives extends TSchema, Takes extends TObject = Nothing>(
    name: string,
    path: Path,
    needs: 'administrator' | 'movesMoney',
    rest: Omit<Administration<Deps, Path, Takes, Gives>, 'name' | 'path' | 'needs'>,
  ): Administration<Deps, Path, Takes, Gives> => ({ name, path, needs, ...rest })
}

/** Method and path of an operation, apart. */
export function placeOf({ path }: { path: OperationPath }) {
  const [method = '', place = ''] = path.split(' ')
  return { method: method as Method, place }
}

/** Why an operation was refused, as routes say it and as a command does. */
export type Refusal = { error: ErrorKind; code?: string; message: string; command(id: string): string }

/** The error of a route that refuses. */
export function refusalError({ error, code, message }: Refusal): GatewayError {
  return new GatewayError(error, message, code === undefined ? {} : { code })
}

/** The operator's commands of `operations`. */
export function commandsOf(operations: readonly Pick<AnyOperation<never>, 'commands'>[]): Command[] {
  return operations.flatMap(({ commands = [] }) => commands)
}
