/** The rule about names of Redis keys, on small samples. */
import { describe, expect, test } from 'bun:test'
import { checkLedgerAssembly, checkLedgerNames } from './ledger-rules'
import { readSource } from './source'

function names(code: string, path = 'src/usage/flusher.ts'): string[] {
  return checkLedgerNames(readSource(path, `/** A sample. */\n${code}`)).map(({ detail }) => detail)
}

/** A place in a template. */
const HOLE = '$' + '{value}'

describe('names of Redis keys', () => {
  test('names of Redis keys are only used inside ledger/', () => {
    for (const door of ['ledger', 'outcomes', 'usage-record', 'records/record-streams', 'store/connection']) {
      expect(names(`import '@/ledger/${door}'`)).toEqual([])
    }
    for (const room of ['store/names', 'store/epoch', 'scripts/scripts', 'accounts/restore']) {
      expect(names(`import type { X } from '@/ledger/${room}'`)).toEqual([`@/ledger/${room} is private to ledger/`])
      expect(names(`import '@/ledger/${room}'`, 'src/ledger/holds/settle.ts')).toEqual([])
    }
  })

  test.each([
    `redis.hset(\`{l${HOLE}}:meta\`, 'epoch', epoch)`,
    "redis.hset('{l5}:meta', 'epoch', epoch)",
    "const pattern = '{l*}:*'",
    `redis.del(\`keyhash:${HOLE}\`)`,
  ])('a name of a Redis key outside ledger/ is found: %s', (code) => {
    expect(names(code)).toEqual(['only ledger/ builds a name of its store'])
    expect(names(code, 'src/ledger/store/names.ts')).toEqual([])
  })

  test('text that only looks like a name of a Redis key is not reported', () => {
    expect(names(`const css = '{line-height: 1}'; const name = \`{${HOLE}}:l\`; redis.get('health:1')`)).toEqual([])
  })
})

test('a ledger is built in one place, except in the ledger’s own tests', () => {
  const built = (path: string) => {
    const text = "/** A sample. */\nimport { createLedger } from '@/ledger/ledger'\n"
    return checkLedgerAssembly(readSource(path, text)).length
  }
  for (const path of ['src/boot/compose.ts', 'src/cli/services.ts', 'faults/world/bank.ts', 'test/usage/x.test.ts']) {
    expect(built(path)).toBe(1)
  }
  for (const path of ['src/accounts/assemble-ledger.ts', 'test/ledger/harness.ts']) expect(built(path)).toBe(0)
})
