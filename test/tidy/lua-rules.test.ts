/** The rules for Lua scripts on small samples: each rule can fail, and accepts good scripts. */
import { describe, expect, test } from 'bun:test'
import { checkParts, type LuaFile, type TypeScriptFile } from './lua-rules'

const PRELUDE = {
  name: 'prelude',
  text: [
    ...[
      '-- Counts.',
      '--',
      '-- BEFORE look pay',
      '-- SHARED account: look pay',
      '--        deadlines: pay watch.ts',
      '',
    ],
    ...['local LIMIT = 9', 'local function count() end', ''],
  ].join('\n'),
}
const MONEY = {
  name: 'money',
  text: '-- Moves money.\n--\n-- NEEDS  prelude: LIMIT\n-- BEFORE pay\n\nlocal function move(name) return LIMIT end\n',
}
const PAY = {
  name: 'pay',
  text: [
    ...['-- Pays.', '--', '-- KEYS  1 account · 2 deadlines', '-- ARGV  none', '-- Returns paid', '--'],
    ...['-- NEEDS  prelude: count', '--        money: move'],
    ...['', 'count()', "return move(KEYS[1], 'LIMIT') -- LIMIT", ''],
  ].join('\n'),
}
const LOOK = {
  name: 'look',
  text: '-- Looks.\n--\n-- KEYS  1 account\n-- ARGV  none\n\nreturn KEYS[1]\n',
}
const WATCH = { path: 'src/ledger/watch.ts', text: 'redis.zcard(deadlinesName(shard)); run(script, [accountName(id)])' }

type Fronts = Record<string, string[]>
const FRONTS: Fronts = { pay: ['prelude', 'money'], look: ['prelude'] }

function complaints(files: LuaFile[], fronts = FRONTS, typescript: TypeScriptFile[] = [WATCH]): string[] {
  const textOf = (part: string) => files.find((file) => file.name === part)?.text ?? ''
  const scripts = files.flatMap(({ name, text }) => {
    const front = fronts[name]
    return front ? [{ name, text: ['#!lua', ...front.map(textOf), text].join('\n') }] : []
  })
  return checkParts(files, scripts, typescript).map(({ path, detail }) => `${path.split('/').at(-1)}: ${detail}`)
}

const GOOD = [PRELUDE, MONEY, PAY, LOOK]
/** `GOOD` with one text changed. */
function changed(name: string, before: string, after: string): LuaFile[] {
  return GOOD.map((file) => (file.name === name ? { name, text: file.text.replace(before, after) } : file))
}

describe('the header of a Lua script', () => {
  test('a script must list its keys, arguments and result', () => {
    expect(complaints(GOOD)).toEqual([])
  })

  test.each([
    ['a file that it needs', '--        money: move\n', ''],
    ['each name that it takes', 'prelude: count', 'prelude: LIMIT'],
    ['no name that it does not take', 'money: move', 'money: move LIMIT'],
    ['all of it', '-- NEEDS', '-- Takes'],
  ])('a faulty Lua header is reported: %s', (_, before, after) => {
    expect(complaints(changed('pay', before, after))).toEqual([
      'pay.lua: the header ends in\n-- NEEDS  prelude: count\n--        money: move',
    ])
  })

  test('a script must list a new Redis name that it uses, wherever the name is defined', () => {
    expect(complaints(changed('pay', 'count()', 'count(LIMIT)'))).toEqual([
      expect.stringContaining('prelude: LIMIT count'),
    ])
    expect(complaints(changed('look', 'return KEYS[1]', 'return count(KEYS[1])'))).toEqual([
      expect.stringContaining('-- NEEDS  prelude: count'),
    ])
  })
})

describe('the prelude of all scripts', () => {
  const SHARED = '-- SHARED account: look pay\n--        deadlines: pay watch.ts'

  test.each([
    ['the scripts that touch a thing', 'account: look pay', 'account: look'],
    ['TypeScript that goes to a thing directly', 'deadlines: pay watch.ts', 'deadlines: pay'],
  ])('the prelude of all scripts lists %s', (_, before, after) => {
    expect(complaints(changed('prelude', before, after))).toEqual([
      `prelude.lua: the header ends in\n-- BEFORE look pay\n${SHARED}`,
    ])
  })

  test('the prelude must list each file that reads or writes a kind of Redis key', () => {
    const late = { path: 'src/ledger/late.ts', text: 'multi.hget(accountName(id))' }
    expect(complaints(GOOD, FRONTS, [WATCH, late])).toEqual([expect.stringContaining('account: late.ts look pay')])
    const stream = { path: 'src/ledger/late.ts', text: 'const stream = deadlinesName(shard)' }
    expect(complaints(GOOD, FRONTS, [WATCH, stream])).toEqual([
      expect.stringContaining('deadlines: late.ts pay watch.ts'),
    ])
  })
})

describe('a prelude of some scripts', () => {
  test('a prelude says which scripts it precedes, and which preludes it needs', () => {
    expect(complaints(changed('money', '-- BEFORE pay', '-- BEFORE look'))).toEqual([
      'money.lua: the header ends in\n-- NEEDS  prelude: LIMIT\n-- BEFORE pay',
    ])
    expect(complaints(changed('money', '-- NEEDS  prelude: LIMIT\n', ''))).toHaveLength(1)
  })

  test('a prelude precedes the scripts that need it, after its own preludes', () => {
    expect(complaints(GOOD, { ...FRONTS, pay: ['prelude'] })).toContain(
      'pay.lua: needs money, which is not put in front of it',
    )
    expect(complaints(GOOD, { ...FRONTS, pay: ['money', 'prelude'] })).toContain(
      'pay.lua: prelude stands behind money, which needs it',
    )
    expect(complaints(GOOD, { ...FRONTS, look: ['prelude', 'money'] })).toContain(
      'look.lua: money is put in front of it for nothing',
    )
  })
})
