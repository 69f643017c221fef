/** The settlement journal in a real folder: one process writes, another settles, and files are deleted once booked. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { fstatSync } from 'node:fs'
import { appendFile, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FACTS, memoryLogger } from '@test/ledger/harness'
import { type ManualClock, manualClock } from '@test/routing/world'
import { until } from '@test/support/until'
import { createSettlementJournal, type OpenJournal } from '@/gateway/hold/settlement-journal'
import type { Settlement } from '@/ledger/outcomes'
import { nano } from '@/lib/money'

/** So long a file is written here. */
const FILE_MS = 20

let parent: string
let folder: string
let clock: ManualClock
let logger: ReturnType<typeof memoryLogger>
/** Holds whose settlements the history has. */
let booked: Set<string>
let opened: OpenJournal[]

beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'svc-gateway-journal-'))
  folder = join(parent, 'settlements')
  clock = manualClock()
  logger = memoryLogger()
  booked = new Set()
  opened = []
})
afterEach(async () => {
  for (const journal of opened) await journal.stop()
  await rm(parent, { recursive: true, force: true })
})

type Options = Pick<Parameters<typeof createSettlementJournal>[0], 'maxBytes' | 'syncData'>

function open(options: Options = {}): OpenJournal {
  const journal = createSettlementJournal({
    ...{ folder, clock, logger, fileMs: FILE_MS, ...options },
    ledger: { bookedHolds: async (holdIds) => holdIds.filter((id) => booked.has(id)) },
  })
  opened.push(journal)
  return journal
}

/** Writes at once: what comes first, the end of the turn or an acknowledgement, is the settler's matter. */
function write(journal: OpenJournal, ...args: Parameters<typeof settlement>): void {
  journal.add(settlement(...args))
  journal.flush()
}

const settlement = (holdId: string, cost = 5): Settlement => {
  return { accountId: 'acct_1', keyId: 'key_1', holdId, cost: nano(cost), tokens: 1, facts: FACTS }
}
const files = async () => (await readdir(folder)).map((name) => join(folder, name))
const events = () => logger.lines.map(({ event }) => event)
const makeOld = async (path: string) => utimes(path, new Date(0), new Date(0))

describe('the journal’s disk', () => {
  test('all written settlements are on disk before the journal has stopped', async () => {
    const synced: number[] = []
    const journal = open({ syncData: async (descriptor) => void synced.push(fstatSync(descriptor).size) })
    for (const holdId of ['a', 'b']) write(journal, holdId)
    await journal.stop()
    const [file = ''] = await files()
    expect(synced.at(-1)).toBe((await stat(file)).size)
  })

  test('a disk that cannot sync makes the journal count as failed', async () => {
    const journal = open({ syncData: async () => Promise.reject(new Error('no disk')) })
    write(journal, 'a')
    await until(() => !journal.isSound())
    expect(events()).toContain('settlement_journal_failed')
  })
})

describe('the journal file of a settlement', () => {
  test('a journal file is usable while the disk accepts writes', () => {
    const journal = open()
    const file = journal.add(settlement('a'))
    journal.flush()
    expect(file).toMatchObject({ isSound: true })
  })

  test('a journal file fails once the disk refuses a write, and the next settlement has no file', async () => {
    const journal = open({ syncData: async () => Promise.reject(new Error('no disk')) })
    const file = journal.add(settlement('a'))
    journal.flush()
    await until(() => file?.isSound === false)
    expect(journal.add(settlement('b'))).toBeUndefined()
  })

  test('without a folder a settlement has no journal file', async () => {
    await writeFile(folder, 'no folder')
    expect(open().add(settlement('a'))).toBeUndefined()
  })
})

describe('a process that reads a former process’s journal', () => {
  test('a new process reads each settlement that a former one wrote, in its last version', async () => {
    const dead = open()
    for (const holdId of ['a', 'b']) write(dead, holdId)
    write(dead, 'a', 7)
    expect(await open().takeOver()).toEqual([settlement('a', 7), settlement('b')])
  })

  test('a decision on a disconnect applies even if a later line lacks it, in either file', async () => {
    const undecided = { ...settlement('a', 9), freePerHour: 3 }
    const dead = open()
    dead.add(undecided)
    dead.add(settlement('a', 0))
    dead.add(undecided)
    dead.flush()
    const other = open()
    other.add(undecided)
    other.flush()
    expect(await open().takeOver()).toEqual([settlement('a', 0)])
  })

  test('a new process skips incomplete and unknown lines of a journal', async () => {
    write(open(), 'a')
    const [file = ''] = await files()
    const wrong = { ...settlement('b'), cost: -1 }
    const empty = { ...settlement('c'), facts: {} }
    const lines = [
      JSON.stringify(wrong),
      JSON.stringify(empty),
      '\u0000\u0000',
      JSON.stringify(settlement('d')).slice(0, 80),
    ]
    await appendFile(file, lines.join('\n'))
    expect(await open().takeOver()).toEqual([settlement('a')])
    expect(logger.lines).toMatchObject([{ event: 'settlement_journal_torn', fields: { lines: lines.length } }])
  })

  test('without a folder no journal is read', async () => {
    expect(await open().takeOver()).toEqual([])
  })

  test('a journal file is removed once all its settlements are in Postgres and its writer has ended', async () => {
    write(open(), 'a')
    const next = open()
    await next.takeOver()
    next.start()
    booked.add('a')
    const [file = ''] = await files()
    await makeOld(file)
    await until(async () => (await files()).length === 0, 'the file to go')
  })

  test('the journal file of a running process is kept', async () => {
    const living = open()
    write(living, 'a')
    const next = open()
    await next.takeOver()
    write(living, 'b')
    next.booked([{ holdId: 'a', kind: 'settle' }])
    const [file = ''] = await files()
    await makeOld(file)
    await next.stop()
    expect(await open().takeOver()).toEqual([settlement('a'), settlement('b')])
  })
})

describe('when a journal file is removed', () => {
  test('a journal file is removed once its settlements are booked, but kept if only an expiry is booked', async () => {
    const journal = open()
    for (const holdId of ['a', 'b', 'c']) write(journal, holdId)
    journal.booked([
      { holdId: 'a', kind: 'settle' },
      { holdId: 'b', kind: 'late' },
      { holdId: 'c', kind: 'expire' },
    ])
    await journal.stop()
    expect(await files()).toHaveLength(1)
    const again = open()
    write(again, 'd')
    again.booked([{ holdId: 'd', kind: 'settle' }])
    await again.stop()
    expect(await files()).toHaveLength(1)
  })

  test('a journal file is removed if another process has booked its settlements', async () => {
    const journal = open()
    journal.start()
    write(journal, 'a')
    clock.advance(2 * FILE_MS)
    booked.add('a')
    await until(async () => (await files()).length === 0, 'the file to go')
  })

  test('a journal file is written for a while, then the next one begins', async () => {
    const journal = open()
    write(journal, 'a')
    clock.advance(FILE_MS - 1)
    write(journal, 'b')
    expect(await files()).toHaveLength(1)
    clock.advance(1)
    write(journal, 'c')
    expect(await files()).toHaveLength(2)
  })

  test('only the owner can read a journal file, and it has all fields of a settlement', async () => {
    write(open(), 'a')
    const [file = ''] = await files()
    expect([(await stat(folder)).mode & 0o777, (await stat(file)).mode & 0o777]).toEqual([0o700, 0o600])
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(settlement('a'))
  })

  test('above the total size the oldest journal file is deleted', async () => {
    const journal = open({ maxBytes: 1 })
    for (const holdId of ['a', 'b']) {
      write(journal, holdId)
      clock.advance(FILE_MS)
    }
    write(journal, 'c')
    journal.start()
    await until(
      () => events().filter((event) => event === 'settlement_journal_full').length === 2,
      'two to be given up',
    )
    await until(async () => (await files()).length === 1, 'their files to go')
    expect(await open().takeOver()).toEqual([settlement('c')])
  })
})

test('a failing disk does not stop settlements, is reported once, and is tried again', async () => {
  await writeFile(folder, 'no folder')
  const journal = open()
  for (const holdId of ['a', 'b']) {
    write(journal, holdId)
    clock.advance(1_000)
  }
  expect([journal.isSound(), events()]).toEqual([false, ['settlement_journal_failed']])
  await rm(folder)
  write(journal, 'c')
  expect([journal.isSound(), events().at(-1)]).toEqual([true, 'settlement_journal_works'])
  expect(await open().takeOver()).toEqual([settlement('c')])
})
