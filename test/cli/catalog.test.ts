/** The check of a catalogue file before use: faults, losses, and changes. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './run'

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'catalog-check-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function write(
  change: (file: Record<string, unknown> & { models: Record<string, unknown>[] }) => void,
): Promise<string> {
  const file = await Bun.file('config/catalog.json').json()
  change(file)
  const path = join(folder, 'next.json')
  await Bun.write(path, JSON.stringify(file))
  return path
}

test('catalog check accepts the default catalogue without stores or keys', async () => {
  const { code, json, stderr } = await run(['catalog', 'check'], { REDIS_URL: 'redis://127.0.0.1:1' })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(json).toMatchObject({ ok: true, file: 'config/catalog.json', faults: [], losses: [], providers: 3 })
  expect([json.changes, json.warnings]).toEqual([undefined, undefined])
})

test('catalog check reports all faults with their place, and exits with 1', async () => {
  const path = await write((file) => {
    const [first, second] = file.models
    Object.assign(first ?? {}, { contextLength: -1 })
    Object.assign(second ?? {}, { targets: [{ provider: 'nobody', model: 'x' }] })
  })
  const { code, json } = await run(['catalog', 'check', path], {})
  expect(code).toBe(1)
  expect(json.ok).toBe(false)
  const places = (json.faults as { place: string }[]).map(({ place }) => place)
  expect(places).toContain('models[0].contextLength')
  expect(places).toContain('models[1].targets[0].provider')
})

test('catalog check names the models after their expiration date', async () => {
  const dates = ['2020-02-29', '2999-12-31']
  const path = await write(({ models }) => {
    for (const [index, expirationDate] of dates.entries()) Object.assign(models[index] ?? {}, { expirationDate })
  })
  const { code, json } = await run(['catalog', 'check', path], {})
  const { models } = await Bun.file(path).json()
  expect({ code, expired: json.expired }).toEqual({
    code: 0,
    expired: [{ model: models[0].id, expirationDate: '2020-02-29' }],
  })
})

test.each(['2027-02-29', '2027-13-01', '2027-1-1', 'soon'])(
  'catalog check refuses the expiration date %s',
  async (day) => {
    const path = await write(({ models: [first] }) => Object.assign(first ?? {}, { expirationDate: day }))
    const { code, json } = await run(['catalog', 'check', path], {})
    const faults = [{ place: 'models[0].expirationDate', message: 'expected a day such as 2027-01-31' }]
    expect({ code, faults: json.faults }).toEqual({ code: 1, faults })
  },
)

test('catalog check reports losses and changes of a valid file', async () => {
  const path = await write(({ models }) => {
    const alpha = models.find(({ id }) => id === 'svc/alpha')
    const pricing = alpha?.pricing as Record<string, number>
    pricing.costPer1mOutputTokens = (pricing.outputPer1mTokens ?? 0) + 1
    pricing.inputPer1mTokens = (pricing.inputPer1mTokens ?? 0) * 2
  })
  const { code, json } = await run(['catalog', 'check', path], {})
  expect(code).toBe(0)
  expect(json).toMatchObject({
    ok: true,
    against: 'config/catalog.json',
    losses: [{ model: 'svc/alpha', loss: expect.stringContaining('output: sold at $') }],
  })
  const changes = json.changes as { what: string; before: string; after: string }[]
  expect(changes.map(({ what }) => what)).toContain('model svc/alpha price input')
  expect(changes.every(({ what }) => what.startsWith('model svc/alpha'))).toBe(true)
  const input = changes.find(({ what }) => what === 'model svc/alpha price input')
  expect(Number(input?.after.slice(1))).toBe(2 * Number(input?.before.slice(1)))
})

test('catalog check warns of a newer generation of a sold model, and still exits with 0', async () => {
  const path = await write(({ models }) => {
    const [alpha] = models
    const [target] = (alpha?.targets ?? []) as { model: string }[]
    if (target) target.model = 'gpt-5.6-sol'
  })
  const { code, json } = await run(['catalog', 'check', path], {})
  expect(code).toBe(0)
  const message = 'gpt-5.6-sol has a newer generation: gpt-6.1-sol'
  expect(json).toMatchObject({ ok: true, faults: [], warnings: [{ place: 'svc/alpha', message }] })
})
