/** Stores hashes of session tokens, so that a copy of the table opens no session. */
import type { BetterAuthOptions } from 'better-auth'
import type { drizzleAdapter } from 'better-auth/adapters/drizzle'
import { sha256Hex } from '@/lib/ids'

type AdapterFactory = ReturnType<typeof drizzleAdapter>
type Adapter = ReturnType<AdapterFactory>
type TransactionAdapter = Omit<Adapter, 'transaction'>
type Where = NonNullable<Parameters<Adapter['findMany']>[0]['where']>

/** The stored form of `token`. A fast hash is enough, since a token has 190 random bits. */
export function hashSessionToken(token: string): string {
  return sha256Hex(token)
}

/** The library's adapter, which hashes session tokens when writing. A look-up by token returns the token, not its hash. */
export function withHashedSessions(createAdapter: AdapterFactory): AdapterFactory {
  return (options: BetterAuthOptions) => {
    const adapter = createAdapter(options)
    return {
      ...hashing(adapter),
      transaction: (work) => adapter.transaction((inside) => work(hashing(inside))),
    }
  }
}

function hashing<Inner extends TransactionAdapter>(adapter: Inner): Inner {
  const hashed = {
    async create(input) {
      const token = input.model === SESSION ? tokenOf(input.data) : undefined
      if (token === undefined) return adapter.create(input)
      return named(await adapter.create({ ...input, data: { ...input.data, token: hashSessionToken(token) } }), token)
    },
    findOne: async (input) => named(await adapter.findOne(whereHashed(input)), tokenIn(input)),
    async findMany<Row>(input: Parameters<Adapter['findMany']>[0]) {
      const rows = await adapter.findMany<Row>(whereHashed(input))
      return rows.map((row) => named(row, tokenIn(input)))
    },
    count: (input) => adapter.count(whereHashed(input)),
    update: async (input) => named(await adapter.update(whereHashed(input)), tokenIn(input)),
    updateMany: (input) => adapter.updateMany(whereHashed(input)),
    delete: (input) => adapter.delete(whereHashed(input)),
    deleteMany: (input) => adapter.deleteMany(whereHashed(input)),
    consumeOne: async (input) => named(await adapter.consumeOne(whereHashed(input)), tokenIn(input)),
    incrementOne: async (input) => named(await adapter.incrementOne(whereHashed(input)), tokenIn(input)),
  } satisfies Partial<TransactionAdapter>
  return { ...adapter, ...hashed }
}

const SESSION = 'session'

type Query = { model: string; where?: Where | undefined }

function whereHashed<Input extends Query>(input: Input): Input {
  if (input.model !== SESSION || !input.where) return input
  return { ...input, where: input.where.map((part) => (part.field === 'token' ? hashedPart(part) : part)) }
}

function hashedPart(part: Where[number]): Where[number] {
  const { value } = part
  if (typeof value === 'string') return { ...part, value: hashSessionToken(value) }
  return Array.isArray(value) ? { ...part, value: value.map((token) => hashSessionToken(String(token))) } : part
}

/** The token that a query looks for. */
function tokenIn({ model, where }: Query): string | undefined {
  const value = model === SESSION ? where?.find((part) => part.field === 'token')?.value : undefined
  return typeof value === 'string' ? value : undefined
}

function tokenOf(data: Readonly<Record<string, unknown>>): string | undefined {
  return typeof data.token === 'string' ? data.token : undefined
}

/** The row as the library expects it: with the token instead of its hash. */
function named<Row>(row: Row, token: string | undefined): Row {
  return row && token !== undefined ? { ...row, token } : row
}
