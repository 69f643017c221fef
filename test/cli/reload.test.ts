/** `catalog reload` over several gateways on the same stores: all of them take the new catalogue, or none does. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { ask, rewrite, startWorld, type World } from '@test/boot/reload/world'
import type { TestGateway } from '@test/support/gateway'
import { asGateway } from '@test/support/stores'
import { type Outcome, run } from './run'

let world: World
let first: TestGateway
let second: TestGateway

beforeAll(async () => {
  world = await startWorld()
  first = world.gateway
  second = await first.twin()
})
afterAll(() => world.stop())

type Row = Record<string, string>

/** Where the first gateway is, with no more rights than it has. */
function command(args: readonly string[], catalog = first.catalogPath ?? ''): Promise<Outcome> {
  return run(args, {
    CATALOG: catalog,
    REDIS_URL: asGateway(world.redis.url),
    DATABASE_URL: asGateway(world.databaseUrl),
    DATABASE_MIGRATOR_URL: world.databaseUrl,
    PROVIDER1_API_KEY_FILE: world.keyPath,
  })
}

const hashes = () => [first, second].map(({ gateway }) => gateway.deps.reloads?.state().hash)

function setPrice(inputPer1mTokens: number) {
  return (file: { models: Record<string, unknown>[] }) => {
    Object.assign((file.models[0]?.pricing ?? {}) as object, { inputPer1mTokens })
  }
}

test('if one gateway still has the old file, no gateway reloads, and the difference is reported', async () => {
  const before = hashes()
  await rewrite(first, setPrice(3))
  const { code, json } = await command(['catalog', 'reload'])
  expect(code).toBe(1)
  expect(json.ok).toBe(false)
  const processes = json.processes as Row[]
  expect(processes.map(({ state }) => state)).toEqual(['ready', 'ready'])
  expect(new Set(processes.map(({ hash }) => hash)).size).toBe(2)
  expect(json.changes).toEqual([
    { hash: expect.any(String), what: 'model svc/alpha price input', before: '$1', after: '$3' },
  ])
  expect(hashes()).toEqual(before)
})

test('if one gateway’s file has errors, no gateway reloads, and the errors are reported with the gateway’s name', async () => {
  const before = hashes()
  await rewrite(second, setPrice(-1))
  const { code, json } = await command(['catalog', 'reload'])
  expect(code).toBe(1)
  expect((json.processes as Row[]).map(({ state }) => state).sort()).toEqual(['ready', 'refused'])
  expect(json.faults).toMatchObject([{ gateway: expect.any(String), place: 'models[0].pricing.inputPer1mTokens' }])
  expect(hashes()).toEqual(before)
})

test('if all files are equal, all gateways reload, and the audit log has the operator’s action', async () => {
  await rewrite(second, setPrice(3))
  const { code, json } = await command(['catalog', 'reload'])
  expect(code).toBe(0)
  expect(json).toMatchObject({
    ok: true,
    changes: [{ what: 'model svc/alpha price input', before: '$1', after: '$3' }],
  })
  const processes = json.processes as Row[]
  expect(processes.map(({ state }) => state)).toEqual(['taken', 'taken'])
  expect(new Set([...hashes(), ...processes.map(({ hash }) => hash)])).toEqual(new Set([json.hash as string]))
  for (const gateway of [first, second]) {
    const { key } = await gateway.customer('1')
    expect((await ask(gateway, key)).status).toBe(200)
    const list = (await (await fetch(`${gateway.url}/v1/models`)).json()) as { data: { pricing: object }[] }
    expect(list.data[0]?.pricing).toMatchObject({ input_per_1m_tokens: 3 })
  }
  const audit = await command(['audit', 'list', '--action', 'catalog.reload'])
  expect(audit.json.entries).toMatchObject([
    {
      actor: 'operator',
      subject: json.hash,
      details: { processes: 2, changes: 'model svc/alpha price input: $1 → $3' },
    },
  ])
})

test('errors in the operator’s own file are reported before any gateway is asked', async () => {
  const taken = () => first.gateway.deps.reloads?.state().reloads
  const before = { ...taken() }
  const { code, json } = await command(['catalog', 'reload'], 'package.json')
  expect([code, json.ok, json.file]).toEqual([1, false, 'package.json'])
  expect(json.faults).not.toEqual([])
  expect(taken() as object).toEqual(before)
})

test('a gateway that starts later reloads with the others', async () => {
  const third = await first.twin()
  await rewrite(third, setPrice(4))
  await rewrite(second, setPrice(4))
  await rewrite(first, setPrice(4))
  const { json } = await command(['catalog', 'reload'])
  expect((json.processes as Row[]).map(({ state }) => state)).toEqual(['taken', 'taken', 'taken'])
})
