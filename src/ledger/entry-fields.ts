/** What an entry of a record stream is made of, as the scripts write it, and as those of older gateways do. */

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
/** `member` is there only of an account that had budgets; empty where the key was nobody's. */
export type StoredFields = typeof NO_FIELDS & { member?: string | undefined }

/** Reads an entry of either form: `fields` are its names and values in turn. */
export function storedFields(fields: readonly string[]): StoredFields {
  const stored: StoredFields = { ...NO_FIELDS }
  if (fields[0] === 'envelope') return packedFields(fields) ?? stored
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const name = fields[index] as keyof StoredFields
    if (name in NO_FIELDS || name === 'member') stored[name] = fields[index + 1] ?? ''
  }
  return stored
}

const ENVELOPE_WORDS = 9

/** An entry of newer scripts: the envelope with a blank between each two of its words, and the facts. */
function packedFields([, envelope = '', name, record, , member]: readonly string[]): StoredFields | undefined {
  const words = envelope.split(' ')
  if (words.length !== ENVELOPE_WORDS || name !== 'facts' || record === undefined) return undefined
  const [holdId = '', accountId = '', keyId = '', kind = '', cost = '', held = '', seq = '', atMs = '', flags = ''] =
    words
  const eventId = kind === 'late' ? `${holdId}:late` : holdId
  return { eventId, holdId, accountId, keyId, kind, cost, held, seq, atMs, flags, record, member }
}
