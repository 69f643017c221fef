/** Every compose file is valid by the JSON schema of the Compose Specification. */
import { describe, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './compose-file'
import { complaintsOf, python } from './judges'

const FILES = readdirSync(ROOT).filter((name) => /^compose(\.\w+)?\.yaml$/.test(name))

const complaints = (...paths: string[]) =>
  complaintsOf('check_jsonschema', '--builtin-schema', 'vendor.compose-spec', ...paths)

describe.skipIf(!python)('the Compose Specification', () => {
  test('every compose file follows the Compose Specification', async () => {
    expect(FILES).toEqual(expect.arrayContaining(['compose.cluster.yaml', 'compose.yaml']))
    expect(await complaints(...FILES.map((name) => join(ROOT, name)))).toBe('')
  })

  test('the schema refuses a misspelt name, also inside an anchor, and a wrong type', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-compose-'))
    const text = await Bun.file(join(ROOT, 'compose.yaml')).text()
    const bad = [
      ['stop_grace_period:', 'stop_grace_time:'],
      ['    healthcheck:', '    healthchecks:'],
      ['read_only: true', 'read_only: [1]'],
      ['condition: service_healthy', 'condition: service_well'],
    ] as const
    for (const [right, wrong] of bad) {
      expect(text).toContain(right)
      const path = join(folder, 'compose.yaml')
      await Bun.write(path, text.replaceAll(right, wrong))
      expect({ wrong, isFine: (await complaints(path)) === '' }).toEqual({ wrong, isFine: false })
    }
    await rm(folder, { recursive: true })
  })
})
