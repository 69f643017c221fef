/** The rule of the ledger's names against small samples. */
import { describe, expect, test } from 'bun:test'
import { checkLedgerNames } from './ledger-rules'
import { readSource } from './source'

function names(code: string, path = 'src/usage/flusher.ts'): string[] {
  return checkLedgerNames(readSource(path, `/** A sample. */\n${code}`)).map(({ detail }) => detail)
}

/** A place in a template. */
const HOLE = '$' + '{value}'

describe('the names of the ledger', () => {
  test('stay inside: the rest of the house goes through its doors', () => {
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
  ])('are not spelled out either: %s', (code) => {
    expect(names(code)).toEqual(['only ledger/ builds a name of its store'])
    expect(names(code, 'src/ledger/store/names.ts')).toEqual([])
  })

  test('are told from what only looks like one', () => {
    expect(names(`const css = '{line-height: 1}'; const name = \`{${HOLE}}:l\`; redis.get('health:1')`)).toEqual([])
  })
})
