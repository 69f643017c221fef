/** When a provider switches a model off: what its pages announce, and what its own client library says of old models. */
import { join } from 'node:path'

/** The day on which the table below was compared with the providers' pages. */
export const READ_ON = '2026-11-22'

/** From the providers' pages of deprecations; the first words of a model's name, and the last day on which it answers. */
const ANNOUNCED: Readonly<Record<string, string>> = {
  'claude-sonnet-4-5': '2026-11-30',
  'gemini-2.5-flash': '2026-12-01',
  'gemini-2.5-pro': '2026-12-01',
  'gemini-3-pro-preview': '2026-03-09',
}
/** Younger names that begin like one above, and that nobody retires. */
const SPARED = ['gemini-2.5-flash-lite', 'gemini-2.5-flash-image']

const LIBRARY = join(import.meta.dir, '../../node_modules/@anthropic-ai/sdk/resources/messages/messages.js')
const TABLE = /const DEPRECATED_MODELS = \{([^}]*)\}/
const ROW = /'([^']+)': '(\w+ \d+)(?:st|nd|rd|th), (\d{4})'/g

const ofLibrary = await readLibrary()

/** The day (`2026-11-30`) on which `model` retires; undefined if nothing is announced. */
export function retirementOf(model: string): string | undefined {
  const told = ofLibrary.get(model)
  if (told !== undefined || SPARED.some((name) => model.startsWith(name))) return told
  return Object.entries(ANNOUNCED).find(([name]) => model === name || model.startsWith(`${name}-`))?.[1]
}

/** The library warns of models by name, but exports no list. */
async function readLibrary(): Promise<ReadonlyMap<string, string>> {
  const rows = TABLE.exec(await Bun.file(LIBRARY).text())?.[1]
  if (rows === undefined) throw new Error(`${LIBRARY} has no table of deprecated models any more`)
  return new Map(
    [...rows.matchAll(ROW)].map(([, model = '', day = '', year = '']) => [
      model,
      new Date(`${day}, ${year} UTC`).toISOString().slice(0, 10),
    ]),
  )
}
