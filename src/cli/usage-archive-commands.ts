/** Operator commands that archive old months of usage records and restore them. */
import { ArchiveRefusal } from '@/console/administration/usage-archive/archive-step'
import { type ArchivedMonth, isMonth, listArchive } from '@/console/administration/usage-archive/months'
import {
  type ArchiveDeps,
  archiveUsage,
  dropUsage,
  planArchive,
  restoreUsage,
} from '@/console/administration/usage-archive/usage-archive'
import { type Command, flag, required, type Values } from './command'
import { fail } from './failure'
import type { Services } from './services'

export const USAGE_ARCHIVE_COMMANDS: readonly Command[] = [
  {
    words: 'usage archive',
    help: 'moves whole months of usage records out of the live table, and keeps sums that `ledger check` uses; safe under traffic; repeat it after an interruption',
    options: {
      before: required('YYYY-MM', 'every month before this one, in UTC'),
      'dry-run': flag('only says which months that would be'),
    },
    prepare(values) {
      const before = readMonth(values, 'before')
      if (values['dry-run'] !== undefined) {
        return (services) => refusable(async () => ({ before, due: await planArchive(depsOf(services), before) }))
      }
      return (services) =>
        refusable(async () => ({ before, archived: (await archiveUsage(depsOf(services), before)).map(shownMonth) }))
    },
  },
  {
    words: 'usage archive list',
    help: 'lists the archived months with their sums, and where their records are',
    options: {},
    prepare: () => async (services) => ({
      output: { months: (await listArchive(services.database)).map(shownMonth) },
    }),
  },
  {
    words: 'usage archive drop',
    help: 'deletes the records of archived months permanently (dump them before); their sums stay',
    options: { before: required('YYYY-MM', 'every archived month before this one') },
    prepare(values) {
      const before = readMonth(values, 'before')
      return (services) =>
        refusable(async () => ({ before, dropped: (await dropUsage(depsOf(services), before)).map(shownMonth) }))
    },
  },
  {
    words: 'usage restore',
    help: 'moves archived months back to the live records, after comparing them with their checkpoints',
    options: { from: required('YYYY-MM', 'this month and every archived one after it') },
    prepare(values) {
      const from = readMonth(values, 'from')
      return (services) =>
        refusable(async () => ({ from, restored: (await restoreUsage(depsOf(services), from)).map(shownMonth) }))
    },
  },
]

function readMonth(values: Values, name: string): string {
  const text = values[name] ?? ''
  return isMonth(text) ? text : fail(`--${name} must be a month, e.g. 2026-01`)
}

/** Reports progress: a month with millions of records takes minutes. */
function depsOf({ owner, redis, by, tell }: Services): ArchiveDeps {
  return { owner, redis, by, onStep: (step, month) => tell(`${month}: ${step}`) }
}

async function refusable(work: () => Promise<Record<string, unknown>>) {
  try {
    return { output: await work() }
  } catch (error) {
    if (error instanceof ArchiveRefusal) fail(error.message)
    throw error
  }
}

function shownMonth({ digest, ...month }: ArchivedMonth) {
  return { ...month, digest: digest.slice(0, 12) }
}
