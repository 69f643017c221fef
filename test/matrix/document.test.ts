/** docs/COMPATIBILITY.md shows what the cases declare, and the cases cover every pair. */
import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { FORMAT_NAMES } from '@/chat/format-name'
import { GROUPS, PROVIDERS_ALONE } from './cases/index'
import { noteOn } from './expectation'
import { cellsOf } from './lanes'
import { renderDocument } from './table'

const cases = GROUPS.flatMap((group) => group.cases)
const cells = GROUPS.flatMap((group) => group.cases.flatMap((declared) => cellsOf(group.name, declared)))

test('docs/COMPATIBILITY.md is up to date (write it with `bun run matrix`)', async () => {
  const written = await Bun.file(join(import.meta.dir, '..', '..', 'docs', 'COMPATIBILITY.md')).text()
  expect(written).toBe(renderDocument())
})

describe('the cases of the matrix', () => {
  test('the cases of the matrix have unique names', () => {
    const names = cases.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })

  test('the cases of the matrix cover every pair in every mode', () => {
    for (const client of FORMAT_NAMES) {
      for (const provider of FORMAT_NAMES) {
        for (const mode of ['json', 'stream']) {
          const found = cells.filter(
            (each) => each.client === client && each.provider === provider && each.mode === mode,
          )
          expect(found.length).toBeGreaterThan(50)
        }
      }
    }
  })

  test('in cases about providers, translation between formats loses and refuses no field', () => {
    const found = PROVIDERS_ALONE.flatMap((group) => group.cases.flatMap((declared) => cellsOf(group.name, declared)))
    const lossy = found.filter((cell) => {
      const { lost, refused } = noteOn(cell)
      return refused !== undefined || (lost !== undefined && cell.client !== cell.provider)
    })
    expect(lossy.map((cell) => `${cell.case.name}: ${cell.client} to ${cell.provider}`)).toEqual([])
  })

  test('a translated body that differs without a noted loss is in the list of known cases', () => {
    const silent = cells.filter((cell) => {
      const { receives, lost } = noteOn(cell)
      const isDifferent = cell.case.golden?.[cell.provider] !== undefined || Object.keys(receives ?? {}).length > 0
      const canAsk = cell.case.asks[cell.provider] !== undefined
      return cell.client !== cell.provider && isDifferent && !canAsk && lost === undefined
    })
    const names = new Set(silent.map((cell) => `${cell.case.name}: ${cell.client} to ${cell.provider}`))
    expect([...names].sort()).toEqual(SAME_MEANING)
  })
})

/** Bodies that say the same in other words, though no client of that format would have asked so. */
const SAME_MEANING = [
  'JSON schema in upper-case types: generate-content to chat-completions',
  'JSON schema in upper-case types: generate-content to responses',
  'a stop sequence as a plain text: chat-completions to generate-content',
  'a stop sequence as a plain text: chat-completions to messages',
  'adaptive thinking: generate-content to chat-completions',
  'adaptive thinking: generate-content to responses',
  'adaptive thinking: messages to chat-completions',
  'adaptive thinking: messages to responses',
  'an output limit in the older field: chat-completions to generate-content',
  'an output limit in the older field: chat-completions to messages',
  'an output limit in the older field: chat-completions to responses',
  'cache marks in OpenRouter’s spelling: chat-completions to messages',
  'effort, not shown: generate-content to chat-completions',
  'effort, not shown: messages to chat-completions',
  'effort, not shown: responses to chat-completions',
  'generate-content: a call that came out malformed: chat-completions to generate-content',
  'generate-content: a call that came out malformed: messages to generate-content',
  'generate-content: a call that came out malformed: responses to generate-content',
]
