/** The header rules on small samples: sentences that are too short or used twice are found. */
import { describe, expect, test } from 'bun:test'
import { checkHeader, checkTwins } from './header-rules'
import { readSource } from './source'

const GOOD = '/** Money as integers, which is what the ledger counts. */\n'
const header = (text: string) => checkHeader(readSource('src/lib/a.ts', text)).map(({ detail }) => detail)

describe('a file’s first comment', () => {
  test.each([
    [GOOD],
    [`#!/usr/bin/env bun\n${GOOD}`],
    ['/**\n * Money as integers,\n * which is what the ledger counts. More of it.\n */\n'],
    ['/**\n * Money as integers, which `ledger.ts` counts up to 2.5 of.\n *\n * And so on\n */\n'],
    [`const a = 1\n${GOOD}export function b() {}\n/** Short. */\nexport type C = string\n`],
    [`const a = 1\n${GOOD}export type C = string\n`],
  ])('this first comment is a sentence: %j', (text) => {
    expect(header(text)).toEqual([])
  })

  test.each([
    ['const a = 1\n'],
    [''],
    ['// Says what it is and why, in a comment of the wrong kind.\n'],
    ['/* Says what it is and why, in a comment of the wrong kind. */\n'],
    ['/***/\n'],
    ['/** Money. */\n'],
    ['/** Money as integers. Which is what the ledger counts. */\n'],
    ['/** Money as integers, which is what the ledger counts */\n'],
    ['/**\n * Money as integers, which is what\n *\n * The ledger counts.\n */\n'],
    [`const a = 1\n${GOOD}`],
    [`const a = 1\n${GOOD}function b() {}\nexport { b }\n`],
    [`const a = 1\n${GOOD}export function b() {}\n${GOOD.replace('Money', 'Time')}export const c = 1\n`],
    ['const a = 1\n/** Money. */\nexport function b() {}\n'],
  ])('this first comment is no sentence: %j', (text) => {
    expect(header(text)).toHaveLength(1)
  })
})

test('no two files open with the same sentence', () => {
  const files = [GOOD, GOOD.replace('counts.', 'counts. And more.'), GOOD.replace('Money', 'Time')]
  const sources = files.map((text, index) => readSource(`src/lib/${index}.ts`, text))
  expect(checkTwins(sources).map(({ path }) => path)).toEqual(['src/lib/1.ts'])
  expect(checkTwins(sources.slice(1))).toEqual([])
})
