/**
 * What lies in an account, a key and a hold: the one list of their fields, and the Lua that reads and writes them.
 *
 * Each is one packed string: its fields in the order of the list, numbers as `struct` writes them, texts ended by a zero byte.
 * Gateways of older versions know hashes only, with the same names: both are read, and a shard says whether it is packed.
 */

/** `amount`: a whole number in a double; `count`: 32 bits; `limit`: an amount, or -1 (a hash: empty) for none. */
type Field = 'amount' | 'count' | 'limit' | 'text'
const CODES: Record<Field, string> = { amount: 'd', count: 'i4', limit: 'd', text: 's' }

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

function luaOf(thing: StoredThing, fields: Record<string, Field>): string {
  const list = Object.entries(fields)
  const names = list.map(([name]) => name)
  const numbers = names.filter((name) => fields[name] !== 'text')
  const title = thing[0]?.toUpperCase() + thing.slice(1)
  const format = `'<${list.map(([, field]) => CODES[field]).join('')}'`
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
    local ${names.join(', ')} = struct.unpack(${format}, text)
    if (${numbers.join(' + ')}) % 1 ~= 0 then
      refuse('a number of the ${thing} is not an integer')
    end
    return { isPacked = true, ${names.map((name) => `${name} = ${name}`).join(', ')} }
  end
  local fields = call('HMGET', name, ${names.map((name) => `'${name}'`).join(', ')})
  return fields[1] and { ${list.map(([name, field], index) => `${name} = ${fromText(name, field, index)}`).join(', ')} } or nil
end

local function ${thing}Text(${thing})
  return struct.pack(${format}, ${names.map((name) => `${thing}.${name}`).join(', ')})
end

local function write${title}(name, ${thing})
  if ${thing}.isPacked then
    call('SET', name, ${thing}Text(${thing}))
  else
    call('HSET', name, ${list.map(([name, field]) => `'${name}', ${asText(name, field)}`).join(', ')})
  end
end
`
}
