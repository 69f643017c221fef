/**
 * Operations for people and their programs: each is declared once, and its routes, client, command and documents are made from the
 * declaration.
 */
import { type Static, type TObject, type TProperties, type TSchema, type TUnion, Type } from '@sinclair/typebox'
import type { ChangedBy } from '@/accounts/audit'
import type { OperatorScope } from '@/accounts/management/operator-keys'
import type { Scope } from '@/accounts/management/scopes'
import type { Permission } from '@/accounts/members/permissions'
import { type ErrorKind, GatewayError } from '@/chat/error'
import type { Command } from '@/cli/command'
import type { Member, Viewer } from '@/console/auth/viewer'
import type { Caller } from '@/console/http/changed-by'

/** Method and path, such as `PATCH /keys/:id`. In the dashboard the path is below the account's, in the management API below `/v1`. */
export type OperationPath = `${Method} /${string}`

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** The parameters of a path: `id` of `/keys/:id/rotate`. */
type NamesIn<Path extends string> = Path extends `${string}:${infer Name}/${infer Rest}`
  ? Name | NamesIn<Rest>
  : Path extends `${string}:${infer Name}`
    ? Name
    : never

export type ParamsOf<Path extends string> = Record<NamesIn<Path>, string>

/** The acting member, or a program that acts like one; the request; and the origin of audit entries. */
export type OperationCaller = { viewer: Member; request: Request; by: ChangedBy }

/** The input of a call: its caller, the parameters of its path, and the services that it uses. */
type Call<Caller, Deps, Path extends string> = Caller & { deps: Deps; params: ParamsOf<Path> }

/** The fields of an input, or several alternative sets of fields. */
export type Input = TObject | TUnion<TObject[]>

/** The declared properties that all operations share. */
export type Declaration<Path extends OperationPath, Takes extends Input, Gives extends TSchema> = {
  /** The action of its audit entry, such as `key.change`; unused if the operation writes no entry of its own. */
  name: string
  path: Path
  summary: string
  description: string
  /** Schemas of path parameters that aren't ids. */
  names?: TProperties
  /** The fields of its body; for `GET` and `DELETE`, of its query. */
  takes?: Takes
  maxBodyBytes?: number
  gives: Gives
  /** The response in the API document, if the operation gives a {@link FileAnswer}. */
  file?: object
  commands?: readonly Command[]
}

type Operation<
  Deps,
  Path extends OperationPath = OperationPath,
  Takes extends TObject = TObject,
  Gives extends TSchema = TSchema,
> = Declaration<Path, Takes, Gives> & {
  may: Permission
  /** Whether it needs a recent proof of the person's identity. */
  isProved?: true
  /** The scope that a management key needs. Undefined: no management key may perform the operation. */
  scope: Scope | undefined
  /** The scope that an operator key needs, on any account. Undefined: no operator key may perform the operation. */
  operator?: OperatorScope
  /**
   * The fields of the result that forms change. They make the `ETag` of the response. A change whose `If-Match` names other values is
   * refused with the present result of the path's `GET`. For that, `run` calls `expectVersion`.
   */
  versioned?(given: Static<Gives>): object
  /** The operation changes a person's own choice, which the audit log doesn't contain. */
  isUnaudited?: true
  run(call: Call<OperationCaller, Deps, Path>, input: Static<Takes>): Promise<Static<Gives>>
}

/** The result schema of operations whose response is a file. */
export const FileAnswer = Type.Unsafe<Response>({})

/** An operation that uses the services `Deps`, with any input and result. */
export type AnyOperation<Deps> = Omit<Operation<Deps>, 'run'> & {
  run(call: Call<OperationCaller, Deps, string>, input: object): Promise<unknown>
}

/** The type of an input or result without fields. */
type Nothing = TObject<TProperties & Record<never, never>>

/** Returns the function that declares operations with the services `Deps`. */
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

/** An operation of administrators, on all accounts. Its path is below `/dashboard/api/admin`. */
type Administration<
  Deps,
  Path extends OperationPath = OperationPath,
  Takes extends TObject = TObject,
  Gives extends TSchema = TSchema,
> = Declaration<Path, Takes, Gives> & {
  /** `movesMoney`: it also needs a recent proof of the person's identity. */
  needs: 'administrator' | 'movesMoney'
  run(call: Call<AdministrationCaller, Deps, Path>, input: Static<Takes>): Promise<Static<Gives>>
}

/** An administrators' operation that uses the services `Deps`, with any input and result. */
export type AnyAdministration<Deps> = Omit<Administration<Deps>, 'run'> & {
  run(call: Call<AdministrationCaller, Deps, string>, input: object): Promise<unknown>
}

/** Returns the function that declares administrators' operations with the services `Deps`. */
export function administrationOver<Deps>() {
  return <const Path extends OperationPath, Gives extends TSchema, Takes extends TObject = Nothing>(
    name: string,
    path: Path,
    needs: 'administrator' | 'movesMoney',
    rest: Omit<Administration<Deps, Path, Takes, Gives>, 'name' | 'path' | 'needs'>,
  ): Administration<Deps, Path, Takes, Gives> => ({ name, path, needs, ...rest })
}

/** A visitor's request, and the headers of its response, for cookies. */
export type VisitorCaller = { request: Request; set: { headers: Record<string, unknown> } }

/** A person who signed in, and their request. */
export type PersonalCaller = AdministrationCaller & VisitorCaller

/** An operation that belongs to no account: of a signed-in person, or of a visitor. Its path is below `/dashboard/api`. */
type Unbound<
  Caller,
  Deps,
  Path extends OperationPath = OperationPath,
  Takes extends Input = Input,
  Gives extends TSchema = TSchema,
> = Declaration<Path, Takes, Gives> & {
  run(call: Call<Caller, Deps, Path>, input: Static<Takes>): Promise<Static<Gives>>
}

/** An operation that belongs to no account and uses the services `Deps`, with any input and result. */
export type AnyUnbound<Caller, Deps> = Omit<Unbound<Caller, Deps>, 'run'> & {
  run(call: Call<Caller, Deps, string>, input: object): Promise<unknown>
}

function unboundOver<Caller>() {
  return <Deps>() =>
    <const Path extends OperationPath, Gives extends TSchema, Takes extends Input = Nothing>(
      name: string,
      path: Path,
      rest: Omit<Unbound<Caller, Deps, Path, Takes, Gives>, 'name' | 'path'>,
    ): Unbound<Caller, Deps, Path, Takes, Gives> => ({ name, path, ...rest })
}

/** Declares operations of a signed-in person that use the services `Deps`. */
export const personalOver = unboundOver<PersonalCaller>()

/** Declares operations of visitors, who have no session, that use the services `Deps`. */
export const visitorsOver = unboundOver<VisitorCaller>()

/** Whether an operation takes its fields in the query. */
export function takesQuery(method: string): boolean {
  return method === 'GET' || method === 'DELETE'
}

/** Method and path of an operation, separately. */
export function placeOf({ path }: { path: OperationPath }) {
  const [method = '', place = ''] = path.split(' ')
  return { method: method as Method, place }
}

/** The reason for refusing an operation, for routes and commands. */
export type Refusal = { error: ErrorKind; code?: string; param?: string; message: string; command(id: string): string }

/** The error of a route that refuses. */
export function refusalError({ error, message, code, param }: Refusal): GatewayError {
  return new GatewayError(error, message, {
    ...(code !== undefined && { code }),
    ...(param !== undefined && { param }),
  })
}

/** The operator's commands of `operations`. */
export function commandsOf(operations: readonly Pick<AnyOperation<never>, 'commands'>[]): Command[] {
  return operations.flatMap(({ commands = [] }) => commands)
}
