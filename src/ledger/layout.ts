/**
 * The fields of an account, a key and a hold in the store, and the Lua that reads and writes them.
 *
 * Each is one string: a byte that says its form, then its fields in the order of the list. Numbers are as `struct` writes them, a text
 * ends with a zero byte. Form 1 has every field; the forms after it leave out fields with usual values.
 */

/** `amount`: a whole number; `count`: 32 bits; `limit`: an amount, or -1 for none. */
type Field = 'amount' | 'count' | 'limit' | 'text'
/** Seven bytes hold every whole number that a double holds exactly. */
const CODES: Record<Field, string> = { amount: 'i7', count: 'i4', limit: 'i7', text: 's' }

/** In the order of the string. */
export const STORED_FIELDS = {
  account: {
    status: 'text',
    epoch: 'text',
    available: 'amount',
    held: 'amount',
    spent: 'amount',
    spentMonth: 'amount',
    month: 'count',
    seq: 'amount',
    overrun: 'amount',
    version: 'count',
    hasBudgets: 'count',
    open: 'count',
    requestsLevel: 'amount',
    tokensLevel: 'amount',
    levelsAtMs: 'amount',
    hangUpHour: 'count',
    hangUps: 'count',
    requestsPerMinute: 'limit',
    tokensPerMinute: 'limit',
    concurrency: 'limit',
  },
  key: {
    status: 'text',
    epoch: 'text',
    allowedModels: 'text',
    owner: 'text',
    held: 'amount',
    spentMonth: 'amount',
    month: 'count',
    version: 'count',
    open: 'count',
    requestsLevel: 'amount',
    requestsAtMs: 'amount',
    tokensLevel: 'amount',
    tokensAtMs: 'amount',
    requestsPerMinute: 'limit',
    tokensPerMinute: 'limit',
    concurrency: 'limit',
    monthlyBudget: 'limit',
    expiresAtMs: 'limit',
  },
  hold: {
    state: 'text',
    payer: 'text',
    record: 'text',
    amount: 'amount',
    inputCost: 'amount',
    tokens: 'amount',
    cost: 'amount',
    reached: 'count',
  },
} as const satisfies Record<string, Record<string, Field>>

export type StoredThing = keyof typeof STORED_FIELDS

type Values = Record<string, string | number>
const NO_LIMITS = { requestsPerMinute: -1, tokensPerMinute: -1, concurrency: -1 }
/** The fields that a form leaves out, with their values. Of holds: the open ones, and the settled ones. */
const USUAL: Record<StoredThing, readonly Values[]> = {
  account: [{ status: 'active', overrun: 0, hasBudgets: 0, hangUpHour: 0, hangUps: 0, ...NO_LIMITS }],
  key: [{ status: 'active', allowedModels: '', ...NO_LIMITS, monthlyBudget: -1, expiresAtMs: -1 }],
  hold: [
    { state: 'open', record: '', cost: 0, reached: 0 },
    { state: 'settled', record: '', amount: 0, inputCost: 0, tokens: 0, reached: 0 },
  ],
}
/** The form with every field. */
const WHOLE = 1

/** Lua for the scripts that use such a thing: `readX(name, text)` (`text` is optional), `xText(x)` and `writeX(name, x)`. */
export const LAYOUT_TEXTS: Record<StoredThing, string> = {
  account: luaOf('account', STORED_FIELDS.account),
  key: luaOf('key', STORED_FIELDS.key),
  hold: luaOf('hold', STORED_FIELDS.hold),
}

function literal(value: string | number): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

/** Lua that reads and Lua that writes one form of a thing. `left` has the fields that the form leaves out. */
function formLua(thing: StoredThing, fields: Record<string, Field>, left: Values, form: number) {
  const names = Object.keys(fields).filter((name) => !(name in left))
  const codes = names.map((name) => CODES[fields[name] ?? 'text']).join('')
  const values = [
    ...names.map((name) => `${name} = ${name}`),
    ...Object.entries(left).map(([name, value]) => `${name} = ${literal(value)}`),
  ]
  return {
    read: `local ${names.join(', ')} = struct.unpack('<x${codes}', text)
  return { ${values.join(', ')} }`,
    test: Object.entries(left)
      .map(([name, value]) => `${thing}.${name} == ${literal(value)}`)
      .join(' and '),
    write: `return struct.pack('<B${codes}', ${form}, ${names.map((name) => `${thing}.${name}`).join(', ')})`,
  }
}

function luaOf(thing: StoredThing, fields: Record<string, Field>): string {
  const title = thing[0]?.toUpperCase() + thing.slice(1)
  const whole = formLua(thing, fields, {}, WHOLE)
  const usual = USUAL[thing].map((left, index) => {
    const form = WHOLE + 1 + index
    return { form, ...formLua(thing, fields, left, form) }
  })
  return `
local function read${title}(name, text)
  text = text or call('GET', name)
  if not text then
    return nil
  end
  local form = string.byte(text)
${usual.map(({ form, read }) => `  if form == ${form} then\n  ${read}\n  end\n`).join('')}  if form ~= ${WHOLE} then
    refuse('the ${thing} has a form that is not known')
  end
  ${whole.read}
end

local function ${thing}Text(${thing})
${usual.map(({ test, write }) => `  if ${test} then\n    ${write}\n  end\n`).join('')}  ${whole.write}
end

local function write${title}(name, ${thing})
  call('SET', name, ${thing}Text(${thing}))
end
`
}
