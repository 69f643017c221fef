/** The settings of an account, one row for each. Routes, page, command and audit log use them. CONTRIBUTING.md says how to add one. */

type Row = {
  /** The value of an account that has not chosen one. */
  standard: boolean
  /** The text in the API document and the command's help. */
  words: string
  /** On the page: its label, help text, and the messages after switching it. */
  label: string
  help: string
  on: string
  off: string
}

/** Settings by their names in bodies, in the audit log and in `accounts.settings`, in the order of the page. */
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

/** The chosen settings in `accounts.settings`. */
export type ChosenSettings = Partial<Settings>

/** Every setting, with its name. */
export const SETTING_ROWS = Object.entries<Row>(SETTINGS).map(([name, row]) => ({
  ...{ name: name as keyof Settings },
  ...row,
}))

/** All settings: the chosen values, and the defaults of the others. */
export function settingsOf(chosen: ChosenSettings): Settings {
  const standards = Object.fromEntries(SETTING_ROWS.map(({ name, standard }) => [name, standard])) as Settings
  return { ...standards, ...chosen }
}
