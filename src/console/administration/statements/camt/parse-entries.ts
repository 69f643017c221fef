/** Parses the XML of a CAMT.053 statement, and hands over one entry at a time, so that only one is in memory. */
import { SaxesParser } from 'saxes'
import { MAX_STATEMENT_CHARS } from '@/console/administration/statements/statement'
import { ownTurn } from '@/lib/wait/own-turn'

/** An element below an entry or an account. Elements of other namespaces have an empty name. */
export type Element = {
  name: string
  /** The element's own text, without that of its children. */
  text: string
  /** The `Ccy` attribute of amounts. */
  currency: string | undefined
  children: Element[]
}

/** `statement`: the number of the entry's statement in the file, from 1. */
export type Entry = { statement: number; account: Element | undefined; entry: Element }

/** A fault of the whole file: a sentence for the person who uploaded it. */
export class CamtFault extends Error {}

const MAX_DEPTH = 64
const MAX_ELEMENTS = 1_000_000
const NAMESPACES = ['urn:iso:std:iso:20022:tech:xsd:camt.053.001.02', 'urn:iso:std:iso:20022:tech:xsd:camt.053.001.08']
/** The elements that contain an entry, the outermost first. */
const AROUND = ['Document', 'BkToCstmrStmt', 'Stmt']
/** Characters that are parsed at once. Between two pieces, the gateway serves requests. */
const PIECE_CHARS = 65_536

/** Calls `onEntry` for each entry of `text`. Throws a {@link CamtFault} if the text is no CAMT.053, or breaks a limit. */
export async function parseEntries(text: string, onEntry: (entry: Entry) => void): Promise<void> {
  if (text.length > MAX_STATEMENT_CHARS) {
    throw new CamtFault(`The statement is longer than ${MAX_STATEMENT_CHARS} characters.`)
  }
  const parser = createParser(onEntry)
  for (let start = 0; start < text.length; start += PIECE_CHARS) {
    parser.write(text.slice(start, start + PIECE_CHARS))
    await ownTurn()
  }
  parser.close()
}

function createParser(onEntry: (entry: Entry) => void) {
  const parser = new SaxesParser({ xmlns: true })
  const at = () => `line ${parser.line}, column ${parser.column}`
  const open: Element[] = []
  let namespace = ''
  let elements = 0
  let statement = 0
  let account: Element | undefined
  parser.on('error', ({ message }) => {
    throw new CamtFault(`The XML is broken at ${at()}: ${message.replace(/^\d+:\d+: /, '').replace(/\.$/, '')}.`)
  })
  parser.on('doctype', () => {
    throw new CamtFault(`The XML has a DOCTYPE at ${at()}. Statements with one are refused.`)
  })
  parser.on('opentag', ({ local, uri, attributes }) => {
    if (++elements > MAX_ELEMENTS) throw new CamtFault(`The XML has more than ${MAX_ELEMENTS} elements.`)
    if (open.length >= MAX_DEPTH) throw new CamtFault(`The XML is nested deeper than ${MAX_DEPTH} at ${at()}.`)
    if (open.length === 0) namespace = checkNamespace(uri)
    const name = uri === namespace ? local : ''
    // Below `BkToCstmrStmt`, any element is accepted: besides `Stmt`, there is a group header.
    const required = open.length < 2 ? AROUND[open.length] : name
    if (name !== required) throw new CamtFault(`Expected the element ${required} at ${at()}.`)
    if (open.length === 2 && name === 'Stmt') {
      statement++
      account = undefined
    }
    open.push({ name, text: '', currency: attributes.Ccy?.value, children: [] })
  })
  const addText = (piece: string) => {
    const element = open.at(-1)
    if (element && open.length > AROUND.length) element.text += piece
  }
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', () => {
    const element = open.pop()
    if (!element) return
    if (open.length > AROUND.length) open.at(-1)?.children.push(element)
    if (open.length !== AROUND.length || open.at(-1)?.name !== 'Stmt') return
    if (element.name === 'Acct') account = element
    if (element.name === 'Ntry') onEntry({ statement, account, entry: element })
  })
  return parser
}

function checkNamespace(uri: string): string {
  if (NAMESPACES.includes(uri)) return uri
  const kind = /^urn:iso:std:iso:20022:tech:xsd:(.{1,40})$/.exec(uri)?.[1]
  throw new CamtFault(
    `${kind === undefined ? 'The XML is no bank statement' : `The XML is a ${kind}`}. ` +
      'Export the statement as camt.053.001.02 or camt.053.001.08.',
  )
}
