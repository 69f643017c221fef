/** What an entry of a record stream is made of, in each of the three layouts that a shard may have. */

/** The fields of a stream entry by their stored names; '' for one that is missing. */
const NO_FIELDS = {
  eventId: '',
  holdId: '',
  accountId: '',
  keyId: '',
  kind: '',
  cost: '',
  held: '',
  seq: '',
  atMs: '',
  flags: '',
  record: '',
}
/** `member` is there only of an account that had budgets; empty where the key had no member. */
export type StoredFields = typeof NO_FIELDS & { member?: string | undefined }

/** Reads an entry: `fields` are its names and values in turn. */
export function storedFields(fields: readonly string[]): StoredFields {
  const stored: StoredFields = { ...NO_FIELDS }
  if (fields[0] === 'r') return compactFields(fields) ?? stored
  if (fields[0] === 'envelope') return packedFields(fields) ?? stored
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index] as keyof StoredFields
    if (name in NO_FIELDS || name === 'member') stored[name] = fields[index + 1] ?? ''
  }
  return stored
}

const ENVELOPE_WORDS = 9

/** Of a compact shard: the words of the envelope and the facts, with a blank between each two. */
function compactFields([, text = '', , member]: readonly string[]): StoredFields | undefined {
  const words = text.split(' ', ENVELOPE_WORDS)
  return fieldsOf(words, text.slice(words.join(' ').length + 1), member)
}

/** Of a packed one: the envelope and the facts apart. */
function packedFields([, envelope = '', name, record, , member]: readonly string[]): StoredFields | undefined {
  return name === 'facts' && record !== undefined ? fieldsOf(envelope.split(' '), record, member) : undefined
}

function fieldsOf(words: readonly string[], record: string, member: string | undefined): StoredFields | undefined {
  if (words.length !== ENVELOPE_WORDS) return undefined
  const [holdId = '', accountId = '', keyId = '', kind = '', cost = '', held = '', seq = '', atMs = '', flags = ''] =
    words
  const eventId = kind === 'late' ? `${holdId}:late` : holdId
  return { eventId, holdId, accountId, keyId, kind, cost, held, seq, atMs, flags, record, member }
}
