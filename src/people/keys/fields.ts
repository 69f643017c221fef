/**
 * The settings of an API key, one row each, for form, routes, command line, audit log and database. CONTRIBUTING.md says how to add one.
 */
import type { Nano } from '@/lib/money'
import { MAX_TAGS } from '@/usage/tags'

/** The value of each kind of setting: in code, in bodies of routes, and in forms. Null, or empty in a form: the default, or no limit. */
type Kinds = {
  count: { value: number | null; wire: number | null; form: number | '' }
  usd: { value: Nano | null; wire: string | null; form: string }
  /** Code: milliseconds since 1970. Bodies: ISO 8601. Forms: a day, yyyy-mm-dd, until its end in the viewer's time zone. */
  moment: { value: number | null; wire: string | null; form: string }
  /** Ids of models or providers in the catalogue. */
  ids: { value: readonly string[] | null; wire: string[] | null; form: string[] }
  /** Forms have one network per line. */
  networks: { value: readonly string[] | null; wire: string[] | null; form: string }
  /** In forms, commas or blanks separate the tags. */
  tags: { value: readonly string[] | null; wire: string[] | null; form: string }
  /** In forms, commas or blanks separate the regions. */
  regions: { value: readonly string[] | null; wire: string[] | null; form: string }
  flag: { value: boolean; wire: boolean; form: boolean }
}

export type Kind = keyof Kinds
export type FormValue<One extends Kind> = Kinds[One]['form']

type Row = {
  kind: Kind
  /** The setting's name in bodies, forms and the audit log, if it differs from that in code. */
  wire?: string
  /** Its column in `api_keys`, if that differs from the name in code. */
  column?: string
  /** Whether the setting is in the body's `limits`. */
  isLimit: boolean
  /** The text in the API document. */
  words: string
  /** The permission that is needed to set it, besides the one to change keys. Members without it get the error `refusal`. */
  may?: { permission: 'limits.raise'; refusal: string }
  /** The permission to raise it, if it is a limit of the ledger. */
  raise?: 'limits.raise' | 'budgets.change'
  /** Maximum of a count, if not {@link MAX_KEY_LIMIT}. */
  most?: number
  /** Maximum items of a list, and maximum characters of each. */
  items?: { most: number; chars: number }
  /** In forms: its label, help text, an example, and the text for no value. */
  label: string
  help?: string
  example?: string
  none?: string
  shownAs?: string
}

/** A setting, including the names that its row omits. */
export type Field = Row & { wire: string; column: string }

/** The name of a key. It is not in the list of settings, so each form has a separate field for it. */
export const KEY_NAME = {
  most: 200,
  label: 'Name',
  help: 'To tell keys apart, such as the program that will use it',
  example: 'Production website',
  missing: 'Give the key a name, such as the program that will use it.',
}

/** Maximum characters of an amount in USD. */
export const MAX_USD_CHARS = 20

/** Maximum of a key's limits: the database column can store it, and no gateway serves as much. */
export const MAX_KEY_LIMIT = 2_000_000_000

const COUNT_WORDS = "at most the account's `ceilings`; null = the service's default"
const COUNT = { kind: 'count', isLimit: true, raise: 'limits.raise' } as const
const IDS = { kind: 'ids', isLimit: true, raise: 'limits.raise' } as const
const FLAG = { kind: 'flag', isLimit: true, raise: 'limits.raise' } as const

/** The settings by their names in code, in the order of forms. */
export const KEY_FIELDS = {
  monthlyBudget: {
    kind: 'usd',
    wire: 'monthlyBudgetUsd',
    isLimit: true,
    raise: 'budgets.change',
    words: 'Decimal USD per calendar month (UTC); null = none',
    label: 'Monthly budget',
    help: 'USD per calendar month (UTC)',
    example: 'No budget',
    none: 'None',
  },
  expiresAtMs: {
    kind: 'moment',
    wire: 'expiresAt',
    column: 'expiresAt',
    isLimit: true,
    raise: 'limits.raise',
    words: 'ISO 8601 moment in the future from which the key is refused; null = never',
    label: 'Last day',
    help: 'Works until the end of this day',
    none: 'No end',
    shownAs: 'Works until',
  },
  requestsPerMinute: { ...COUNT, label: 'Requests per minute', words: `Requests per minute, ${COUNT_WORDS}` },
  tokensPerMinute: {
    ...COUNT,
    label: 'Tokens per minute',
    words: `Tokens per minute, input and output limit together, ${COUNT_WORDS}`,
  },
  concurrency: { ...COUNT, label: 'Requests at once', words: `Requests open at once, ${COUNT_WORDS}` },
  allowedModels: {
    ...IDS,
    items: { most: 500, chars: 200 },
    words:
      'Ids or aliases of the models that may be called, and that tiers may choose; kept as ids; null = every model',
    label: 'Allowed models',
    help: 'Calls to other models are refused, and auto tiers choose among these only',
    none: 'Every model',
  },
  allowedProviders: {
    ...IDS,
    items: { most: 100, chars: 100 },
    words: 'Names of the providers that may answer; null = every provider',
    label: 'Allowed providers',
    help: 'Requests go to no other provider, even if these fail',
    none: 'Every provider',
  },
  zeroRetention: {
    ...FLAG,
    words: 'Whether only providers may answer that are stated to keep no content; a request can ask for it too',
    label: 'Only providers that keep no content',
    help: 'Other providers are never called. If none is left, a request is refused.',
  },
  noTraining: {
    ...FLAG,
    words: 'Whether only providers may answer that are stated to train no models on content',
    label: 'Only providers that train no models on content',
  },
  regions: {
    ...{ kind: 'regions', isLimit: true, raise: 'limits.raise', items: { most: 16, chars: 64 } },
    words:
      'Only providers may answer that are stated to process content in one of these regions: `eu` means `eu-central-1` too; null = everywhere',
    label: 'Regions where content may be processed',
    help: 'Such as eu, which includes eu-central-1',
    example: 'Every region',
    none: 'Every region',
  },
  allowedAddresses: {
    kind: 'networks',
    isLimit: true,
    items: { most: 50, chars: 45 },
    may: { permission: 'limits.raise', refusal: 'does not say where keys may be used from' },
    words: 'Addresses and networks (CIDR, IPv4 or IPv6) that requests may come from; null = everywhere',
    label: 'Allowed addresses',
    help: 'Addresses or networks that requests may come from, one in a line; others are refused',
    example: '203.0.113.7\n2001:db8::/32',
    none: 'Everywhere',
  },
  tags: {
    kind: 'tags',
    isLimit: false,
    items: { most: MAX_TAGS, chars: 97 },
    may: { permission: 'limits.raise', refusal: 'does not say by which tags usage is sorted' },
    words: '`name=value`; they override tags of a request; null = none',
    label: 'Tags',
    help: 'By which all usage of this key is sorted, whatever tags its requests say; at most eight, name=value',
    example: 'team=search, env=prod',
    none: 'None',
    shownAs: 'Tags of its usage',
  },
} as const satisfies Record<string, Row>

/** The rules for all keys of an account, in the order of its form. */
const POLICY_FIELDS = {
  allowedModels: {
    ...{ kind: 'ids', isLimit: true, items: KEY_FIELDS.allowedModels.items },
    words: KEY_FIELDS.allowedModels.words,
    label: 'Models that keys may call',
    help: 'The playground as well',
  },
  allowedProviders: {
    ...{ kind: 'ids', isLimit: true, items: KEY_FIELDS.allowedProviders.items },
    words: KEY_FIELDS.allowedProviders.words,
    label: 'Providers that may answer',
    help: KEY_FIELDS.allowedProviders.help,
  },
  zeroRetention: KEY_FIELDS.zeroRetention,
  noTraining: KEY_FIELDS.noTraining,
  regions: KEY_FIELDS.regions,
  maxKeyAgeDays: {
    ...{ kind: 'count', isLimit: true, most: 3650 },
    words: 'A key ends so many days after it was made or last rotated; null = never',
    label: 'Greatest age of a key, in days',
    help: 'A key ends so long after it was made or last rotated. Older ones end at once.',
    example: 'No limit',
  },
} as const satisfies Record<string, Row>

/** Ten years, in days. */
export const MAX_KEY_AGE_DAYS = POLICY_FIELDS.maxKeyAgeDays.most

/** A rule that accounts, members and keys can have. If several have it, the narrowest applies. */
export type RuleName = Exclude<keyof typeof POLICY_FIELDS, 'maxKeyAgeDays'>
export type KeyRules = Pick<KeySettings, RuleName>
/** Rules in bodies, with the same names as in code. */
export type WireRules = Pick<WireSettings, RuleName>

/** Every rule for all keys of an account. */
export const POLICY_ROWS: readonly Field[] = Object.entries<Row>(POLICY_FIELDS).map(([name, row]) => ({
  ...{ wire: name, column: name },
  ...row,
}))

/** Every rule for all keys of a member. */
export const MEMBER_POLICY_ROWS = POLICY_ROWS.filter(({ wire }) => wire !== 'maxKeyAgeDays')
const RULE_NAMES = MEMBER_POLICY_ROWS.map(({ wire }) => wire as RuleName)

/** An object with a property for each rule. */
export function ofEachRule<Of>(of: (name: RuleName) => Of): Record<RuleName, Of> {
  return Object.fromEntries(RULE_NAMES.map((name) => [name, of(name)])) as Record<RuleName, Of>
}

/** A copy of the rules for bodies and columns: lists are copied, too. */
export function copyRules(rules: KeyRules): WireRules {
  return ofEachRule((name) => {
    const rule = rules[name]
    return Array.isArray(rule) ? [...rule] : rule
  }) as WireRules
}

/** Only the properties of an object that have the names of rules. */
export function rulesOf<Rules extends Record<RuleName, unknown>>(rules: Rules): Pick<Rules, RuleName> {
  return ofEachRule((name) => rules[name]) as Pick<Rules, RuleName>
}

export const POLICY_AGE: Field = { wire: 'maxKeyAgeDays', column: 'maxKeyAgeDays', ...POLICY_FIELDS.maxKeyAgeDays }

type Rows = typeof KEY_FIELDS
export type KeyField = keyof Rows
type WireName<Name extends KeyField> = Rows[Name] extends { wire: infer Wire extends string } ? Wire : Name

export type KeySettings = { [Name in KeyField]: Kinds[Rows[Name]['kind']]['value'] }

export type WireSettings = { [Name in KeyField as WireName<Name>]: Kinds[Rows[Name]['kind']]['wire'] }

export type FormSettings = { [Name in KeyField as WireName<Name>]: Kinds[Rows[Name]['kind']]['form'] }

/** The names of the settings that a body has in its `limits`. */
export type LimitName = {
  [Name in KeyField]: Rows[Name]['isLimit'] extends true ? WireName<Name> : never
}[KeyField]

/** Every setting as a row with all its names. */
export const FIELD_ROWS = Object.entries<Row>(KEY_FIELDS).map(([name, row]) => ({
  ...{ wire: name, column: name, ...row },
  name: name as KeyField,
}))

/** The setting of this name. */
export function fieldOf(name: KeyField): Field {
  return { wire: name, column: name, ...(KEY_FIELDS[name] as Row) }
}
