/**
 * What lies in an account, a key and a hold: the one list of their fields, and the Lua that reads and writes them.
 *
 * Each is one packed string: its fields in the order of the list, numbers as `struct` writes them, texts ended by a zero byte. In a
 * compact shard it begins with a byte that says its form: whole, or one whose usual values are left out. Gateways of older versions
 * know hashes only, with the same names, or strings without that byte: all are read, and a shard says what is written.
 */

/** `amount`: a whole number in a double; `count`: 32 bits; `limit`: an amount, or -1 (a hash: empty) for none. */
type Field = 'amount' | 'count' | 'limit' | 'text'
type Codes = Record<Field, string>
const CODES: Codes = { amount: 'd', count: 'i4', limit: 'd', text: 's' }
/** Where usual values are left out. Seven bytes hold every whole number that a double holds exactly. */
const SHORT_CODES: Codes = { ...CODES, amount: 'i7' }

/** In the order of the string. The first is never empty; a hash without it is none. */
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
/** What most have, and what is left out of those that have all of it; of holds, the open ones and the settled ones. */
const USUAL: Record<StoredThing, readonly Values[]> = {
  account: [{ status: 'active', overrun: 0, hangUpHour: 0, hangUps: 0, ...NO_LIMITS }],
  key: [{ status: 'active', allowedModels: '', ...NO_LIMITS, monthlyBudget: -1, expiresAtMs: -1 }],
  hold: [
    { state: 'open', record: '', cost: 0, reached: 0 },
    { state: 'settled', record: '', amount: 0, inputCost: 0, tokens: 0, reached: 0 },
  ],
}
/** The first byte of a whole one; those with usual values count on from there. Every older string begins with a letter. */
const WHOLE = 1

/** A hash that lacks this field was loaded by a version that did not know it: it counts as unconfirmed. */
const YOUNGEST: Partial<Record<string, string>> = { account: 'requestsPerMinute', key: 'allowedModels' }

/**
 * Lua that stands in front of the scripts which touch such a thing: `readX(name, text)`, where the text
 * may be left out, `xText(x)` and `writeX(name, x)`. MGET says nothing of a hash, where GET would fail.
 */
export const LAYOUT_TEXTS: Record<StoredThing, string> = {
  account: luaOf('account', STORED_FIELDS.account),
  key: luaOf('key', STORED_FIELDS.key),
  hold: luaOf('hold', STORED_FIELDS.hold),
}

function codesOf(codes: Codes, fields: Record<string, Field>, names: readonly string[]): string {
  return names.map((name) => codes[fields[name] ?? 'text']).join('')
}

function literal(value: string | number): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}

function tableOf(layout: string, names: readonly string[], others: readonly string[] = []): string {
  return `{ layout = ${layout}, ${[...names.map((name) => `${name} = ${name}`), ...others].join(', ')} }`
}

/** Lua that reads and that writes the form of things which have these values. */
function usualLua(thing: StoredThing, fields: Record<string, Field>, values: Values, index: number) {
  const form = WHOLE + 1 + index
  const names = Object.keys(fields).filter((name) => !(name in values))
  const others = Object.entries(values).map(([name, value]) => `${name} = ${literal(value)}`)
  const tests = Object.entries(values).map(([name, value]) => `${thing}.${name} == ${literal(value)}`)
  const codes = codesOf(SHORT_CODES, fields, names)
  return {
    read: `    if form == ${form} then
      local ${names.join(', ')} = struct.unpack('<x${codes}', text)
      return ${tableOf('COMPACT', names, others)}
    end\n`,
    write: `    if ${tests.join(' and ')} then
      return struct.pack('<B${codes}', ${form}, ${names.map((name) => `${thing}.${name}`).join(', ')})
    end\n`,
  }
}

function luaOf(thing: StoredThing, fields: Record<string, Field>): string {
  const list = Object.entries(fields)
  const names = list.map(([name]) => name)
  const title = thing[0]?.toUpperCase() + thing.slice(1)
  const usual = USUAL[thing].map((values, index) => usualLua(thing, fields, values, index))
  const numbers = names.filter((name) => fields[name] !== 'text')
  const codes = codesOf(CODES, fields, names)
  const whole = `struct.pack('<${codes}', ${names.map((name) => `${thing}.${name}`).join(', ')})`
  const asText = (name: string, field: Field) => {
    if (field === 'text') return `${thing}.${name}`
    return field === 'limit' ? `limitText(${thing}.${name})` : `decimal(${thing}.${name})`
  }
  const fromText = (name: string, field: Field, index: number) => {
    if (name === 'epoch') return `fields[${names.indexOf(YOUNGEST[thing] ?? '') + 1}] and fields[${index + 1}] or ''`
    if (field === 'text') return `fields[${index + 1}] or ''`
    return field === 'limit' ? `storedLimit(fields[${index + 1}])` : `stored(fields[${index + 1}], '${thing} ${name}')`
  }
  return `
local function read${title}(name, text)
  if text == nil then
    text = call('MGET', name)[1]
  end
  if text then
    local form = string.byte(text)
${usual.map(({ read }) => read).join('')}    local ${names.join(', ')} = struct.unpack('<${codes}', text, form == ${WHOLE} and 2 or 1)
    if (${numbers.join(' + ')}) % 1 ~= 0 then
      refuse('a number of the ${thing} is not an integer')
    end
    return ${tableOf(`form == ${WHOLE} and COMPACT or PACKED`, names)}
  end
  local fields = call('HMGET', name, ${names.map((name) => `'${name}'`).join(', ')})
  return fields[1] and { ${list.map(([name, field], index) => `${name} = ${fromText(name, field, index)}`).join(', ')} } or nil
end

local function ${thing}Text(${thing})
  if ${thing}.layout == COMPACT then
${usual.map(({ write }) => write).join('')}    return '\\${WHOLE}' .. ${whole}
  end
  return ${whole}
end

local function write${title}(name, ${thing})
  if ${thing}.layout then
    call('SET', name, ${thing}Text(${thing}))
  else
    call('HSET', name, ${list.map(([name, field]) => `'${name}', ${asText(name, field)}`).join(', ')})
  end
end
`
}
