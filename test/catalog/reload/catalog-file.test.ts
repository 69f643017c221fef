/** Reading the catalogue file again: the same checks as at a start, and changes that need a restart. */
import { afterAll, expect, test } from 'bun:test'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ALL_KEYS, SAMPLE, spoil } from '@test/catalog/sample-catalog'
import { createCatalogFile } from '@/catalog/reload/catalog-file'

const path = join(tmpdir(), `catalog-${crypto.randomUUID()}.json`)
afterAll(() => rm(path, { force: true }))

const REAL = { path, environment: ALL_KEYS, service: 'svc', sandboxBaseUrl: undefined }
const KEYLESS = spoil('providers.provider1.keys', [''])
const SIMULATED = { ...REAL, environment: {}, sandboxBaseUrl: 'http://localhost:1' }

async function placesOf(text: string, options: Parameters<typeof createCatalogFile>[0]): Promise<string[]> {
  await Bun.write(path, text)
  const reading = await createCatalogFile(options).read()
  return reading.kind === 'refused' ? reading.faults.map(({ place }) => place) : []
}

test('a valid catalogue file is loaded, and has the catalogue’s hash', async () => {
  await Bun.write(path, JSON.stringify(SAMPLE))
  const file = createCatalogFile(REAL)
  const reading = await file.read()
  expect(reading.kind).toBe('loaded')
  if (reading.kind === 'loaded') expect(file.hashOf(reading.catalog)).toBe(reading.hash)
})

test('a reload reports the same errors as a start; a missing file is an error', async () => {
  expect(await placesOf('{', REAL)).toEqual(['line 1, column 2'])
  expect(await placesOf(spoil('models.0.contextLength', -1), REAL)).toEqual(['models[0].contextLength'])
  const gone = await createCatalogFile({ ...REAL, path: '/nowhere/catalog.json' }).read()
  expect(gone).toEqual({
    kind: 'refused',
    faults: [{ place: 'CATALOG', message: 'cannot read /nowhere/catalog.json' }],
  })
})

test('a changed service name, the loss of the last key, and the first key of a sandbox need a restart', async () => {
  expect(await placesOf(JSON.stringify(SAMPLE), { ...REAL, service: 'other' })).toEqual(['service'])
  expect(await placesOf(KEYLESS, { ...REAL, environment: {} })).toEqual(['providers'])
  expect(await placesOf(KEYLESS, SIMULATED)).toEqual([])
  expect(await placesOf(JSON.stringify(SAMPLE), SIMULATED)).toEqual(['providers'])
})
