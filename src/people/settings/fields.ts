/**
 * The settings of an account, a row each: routes, page, command and audit log take from here what they say of a setting. CONTRIBUTING.md
 * says how to add one.
 */

type Row = {
  /** What holds until somebody chooses. */
  standard: boolean
  /** For the API document and the command. */
  words: string
  /** On the page: its name, what it means, and what is said after it was switched. */
  label: string
  help: string
  on: string
  off: string
}

/** By their names in bodies, in the audit log and in `accounts.settings`, in the order of the page. */
const SETTINGS = {
  developersSeeAllUsage: {
    standard: false,
    words: 'Whether developers see usage and failed requests of all keys, and not of their own alone',
    label: 'Developers see all usage',
    help: 'The usage and failed requests of every key in the account. Its balance and orders, and the keys of others, stay hidden from them.',
    on: 'Developers see all usage now.',
    off: 'Developers see their own usage.',
  },
} as const satisfies Record<string, Row>

export type Settings = { -readonly [Name in keyof typeof SETTINGS]: boolean }

/** What somebody has chosen, as `accounts.settings` has it. */
export type ChosenSettings = Partial<Settings>

/** Every setting, with its name. */
export const SETTING_ROWS = Object.entries<Row>(SETTINGS).map(([name, row]) => ({
  ...{ name: name as keyof Settings },
  ...row,
}))

/** The settings that hold if these were chosen. */
export function settingsOf(chosen: ChosenSettings): Settings {
  const standards = Object.fromEntries(SETTING_ROWS.map(({ name, standard }) => [name, standard])) as Settings
  return { ...standards, ...chosen }
}
