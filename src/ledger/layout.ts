/**
 * The fields of an account, a key and a hold in Redis, and Lua code that reads and writes them. Each is one string: a byte for its form,
 * then its fields in the order of the list. Numbers are written by `struct`, and a text ends with a zero byte. Form 1 has every field;
 * other forms omit fields with usual values.
 */

/** `amount`: a whole number; `count`: 32 bits; `limit`: an amount, or -1 for none. */
type Field = 'amount' | 'count' | 'limit' | 'text'
/** Seven bytes are enough for every whole number that is exact in a double. */
const CODES: Record<Field, string> = { amount: 'i7', count: 'i4', limit: 'i7', text: 's' }

/** The fields of an account, a key and a hold, in their order in the string. */
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
/** The fields that each short form omits, with the values that they then have. Holds have two: one for open and one for settled holds. */
const USUAL: Record<StoredThing, readonly Values[]> = {
  account: [{ status: 'active', overrun: 0, hasBudgets: 0, hangUpHour: 0, hangUps: 0, ...NO_LIMITS }],
  key: [{ status: 'active', allowedModels: '', ...NO_LIMITS, monthlyBudget: -1, expiresAtMs: -1 }],
  hold: [
    { state: 'open', record: '', cost: 0, reached: 0 },
    { state: 'settled', record: '', amount: 0, inputCost: 0, tokens: 0, reached: 0 },
  ],
}
const WHOLE = 1

/** Lua functions: `readX(name, text?)`, `xText(x)`, `writeX(name, x)`, and `openHoldText` and `settledHoldText` for these states. */
export const LAYOUT_TEXTS: Record<StoredThing, string> = {
  account: luaOf('account'),
  key: luaOf('key'),
  hold: luaOf('hold'),
}

function literal(value: string | number): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

/** One form with its fields, and its omitted fields with their values, as Lua. */
function formOf(thing: StoredThing, number: number, left: Values) {
  const fields: Record<string, Field> = STORED_FIELDS[thing]
  const names = Object.keys(fields).filter((name) => !(name in left))
  const codes = names.map((name) => CODES[fields[name] ?? 'text']).join('')
  const usual = Object.entries(left).map(([name, value]) => [name, literal(value)] as const)
  return { number, names, codes, usual }
}

type Form = ReturnType<typeof formOf>

/** The forms of an account, key or hold, the usual ones first. */
function formsOf(thing: StoredThing): Form[] {
  return [...USUAL[thing].map((left, index) => formOf(thing, WHOLE + 1 + index, left)), formOf(thing, WHOLE, {})]
}

function byForm(thing: StoredThing, text: string, then: (form: Form) => string): string {
  const branches = formsOf(thing).map((form) => `if form == ${form.number} then\n  ${then(form)}\nelse`)
  return `local form = string.byte(${text})\n${branches.join('')}\n  refuse('the ${thing} has a form that is not known')\nend`
}

/** Lua that runs the code from `then` for the first form that fits; `field` returns the Lua name of a field. */
function byFit(thing: StoredThing, field: (name: string) => string, then: (form: Form) => string): string {
  const branches = formsOf(thing).map((form) => {
    const fits = form.usual.map(([name, value]) => `${field(name)} == ${value}`)
    return fits.length > 0 ? `if ${fits.join(' and ')} then\n  ${then(form)}\nelse` : `\n  ${then(form)}\nend`
  })
  return branches.join('')
}

/** Lua that writes a form; `field` returns the Lua name of a field. */
function packed({ number, names, codes }: Form, field: (name: string) => string): string {
  return `struct.pack('<B${codes}', ${[number, ...names.map(field)].join(', ')})`
}

function indented(lua: string): string {
  return lua.replaceAll('\n', '\n  ')
}

function titleOf(thing: StoredThing): string {
  return `${thing[0]?.toUpperCase()}${thing.slice(1)}`
}

function luaOf(thing: StoredThing): string {
  const title = titleOf(thing)
  const field = (name: string) => `${thing}.${name}`
  const read = byForm(thing, 'text', ({ names, codes, usual }) => {
    const values = [...names.map((name) => [name, name] as const), ...usual]
    const table = values.map(([name, value]) => `${name} = ${value}`).join(', ')
    return `local ${names.join(', ')} = struct.unpack('<x${codes}', text)\n  return { ${table} }`
  })
  const write = byFit(thing, field, (form) => `return ${packed(form, field)}`)
  const ofState = formsOf(thing).flatMap((form) => {
    const state = form.usual.find(([name]) => name === 'state')?.[1].slice(1, -1)
    if (state === undefined) return []
    return `
local function ${state}${title}Text(${form.names.join(', ')})
  return ${packed(form, (name) => name)}
end
`
  })
  return `
local function read${title}(name, text)
  text = text or call('GET', name)
  if not text then
    return nil
  end
  ${indented(read)}
end

local function ${thing}Text(${thing})
  ${indented(write)}
end

local function write${title}(name, ${thing})
  call('SET', name, ${thing}Text(${thing}))
end
${ofState.join('')}`
}

/**
 * The text of a script in which each field of an account, a key and a hold is a local variable, which is faster in a paid request than
 * tables. The script must read each of the three once, from a text, and write it by `local … = xText(x)`.
 */
export function inLocals(script: string): string {
  return Object.keys(STORED_FIELDS).reduce((text, name) => {
    const thing = name as StoredThing
    const field = (one: string) => `${thing}_${one}`
    const read = byForm(thing, thing, ({ names, codes, usual }) => {
      const others = usual.map(([one, value]) => `\n  ${field(one)} = ${value}`)
      return `${names.map(field).join(', ')} = struct.unpack('<x${codes}', ${thing})${others.join('')}`
    })
    const write = (to: string) => `local ${to}\n${byFit(thing, field, (form) => `${to} = ${packed(form, field)}`)}`
    const all = Object.keys(STORED_FIELDS[thing]).map(field).join(', ')
    return text
      .replace(
        new RegExp(`^ *local ${thing} = read${titleOf(thing)}\\(.*, (.*)\\)$`, 'm'),
        (_, from) => `local ${thing}, ${all} = ${from}\nif ${thing} then\n  ${indented(read)}\nend`,
      )
      .replace(new RegExp(`^ *local (\\w+) = ${thing}Text\\(${thing}\\)$`, 'gm'), (_, to) => write(to))
      .replace(new RegExp(`\\b${thing}\\.(\\w+)`, 'g'), (_, one) => field(one))
  }, script)
}
