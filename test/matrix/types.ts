/** The words of the matrix: what a case declares about every pair of client and provider, and what a cell turned out to be. */
import type { FormatName } from '@/chat/format-name'
import type { Usage } from '@/chat/usage'
import type { JsonObject, JsonValue } from '@/lib/json'

/** How the client wants the answer: in one piece, as an event stream, or (generate-content without `alt=sse`) as a JSON array. */
export type Mode = 'json' | 'stream' | 'array'

/** `client>provider`; `*` stands for either side, and the more exact of two keys wins. */
export type PairKey = `${FormatName | '*'}>${FormatName | '*'}`

/** A call as any client sees it: arguments parsed, since their spacing means nothing. */
export type SeenCall = { name: string; arguments: JsonValue }

export type Finish = 'stop' | 'length' | 'tool-calls' | 'refusal' | 'stop-sequence' | 'pause' | 'failed'

/** What a client sees of an answer, in nobody's dialect. Read from the bytes by the strict readers of this folder. */
export type Seen = {
  text: string
  /** Visible reasoning. */
  reasoning: string
  calls: SeenCall[]
  finish: Finish
  usage: SeenUsage
  /** The texts of further answers, where several were asked for. */
  others: string[]
  /** Images in the answer, as `mediaType;base64`. */
  images: string[]
}

/** `input` is the whole prompt; `cacheWrite` is undefined if the client's format has no word for it. */
export type SeenUsage = {
  input: number
  cacheRead: number
  cacheWrite: number | undefined
  output: number
  reasoning: number
}

/** An error as its caller sees it: before the answer with its status, in a stream (`status` 200) after `text`. */
export type SeenError = { status: number; message: string; textBefore: string }

/** How a provider answers. Fixtures are found under `test/fixtures/<format>/`. */
export type Answer = {
  /** The fixture, without its extension; `.json` or `.sse` is added by what was asked for. */
  fixture: string
  /** What the answer says it used, in classes; the ledger must charge exactly this. null = it says nothing usable. */
  usage: Usage | null
  /** The provider answers in this form whatever was asked for. */
  form?: 'json' | 'stream'
  /** Bytes go out one by one, so that every character and every line end is split. */
  bytewise?: boolean
  /** Line ends of the stream, where they are not the fixture's own. */
  lineEnd?: '\n' | '\r\n' | '\r'
  /** An HTTP status other than 200. */
  status?: number
  headers?: Record<string, string>
}

/** What is special about some pairs of a case. Later words overlay those of the whole case. */
export type PairNote = {
  /** Why something is lost or changed on this way: makes the cell `lossy` in the table. */
  lost?: string
  /** The gateway answers 400, by rule, and this is in its message; nothing is sent or charged. */
  refused?: string
  /** Why, for the table, where the message itself does not say it. */
  because?: string
  /** Fields of the body that the provider receives, in place of those of the golden one; undefined removes a field. */
  receives?: Record<string, JsonValue | undefined>
  /** Such fields that differ from one account to the next. */
  receivesFor?: (accountId: string) => JsonObject
  /** What the client sees in place of what the case says. */
  sees?: Partial<Seen>
  /** The client reads the provider's own bytes, dialect and all: only the meaning is checked, not the form. */
  isRaw?: boolean
}

export type Case = {
  /** The row of the table. */
  name: string
  /**
   * How a client of each format asks: the body without model and stream. It is the golden body as well: a provider of a format
   * must receive exactly what a client of that format would have asked, whoever asked. Absent = the format can't ask it.
   */
  asks: Partial<Record<FormatName, JsonObject>>
  /** Where a provider is to receive something else than what its own format's client asks. */
  golden?: Partial<Record<FormatName, JsonObject>>
  answer: Answer | Record<FormatName, Answer>
  /** What every client sees, beside the usage, which is the answer's. Absent = the plain text answer. */
  sees?: Partial<Seen>
  /** Every client gets this error instead of an answer; those of the provider's format in its words, where `own` has them. */
  fails?: { status: number; message: string; own?: string; textBefore?: string }

  /** In a stream the failure comes after content: the same error inside the stream. */
  failsInStream?: { message: string; textBefore: string }
  /** Catalogue switches of the target, by the provider's format. */
  quirks?: Partial<Record<FormatName, string[]>>
  /** Prices of tools that run at the target. */
  toolPrices?: Record<string, number>
  /** Its provider misbehaves, so it must share no health record with other cases. */
  isFaulty?: boolean
  /** Only these modes; all where absent. */
  modes?: Mode[]
  /** Only these providers; all where absent. */
  providers?: FormatName[]
  pairs?: Partial<Record<PairKey, PairNote>>
}

export type Group = { name: string; cases: Case[] }

/** One run of one case. */
export type Cell = { group: string; case: Case; client: FormatName; provider: FormatName; mode: Mode }

/** Every complaint about a cell; empty = it is as declared. */
export type CellResult = { cell: Cell; complaints: string[]; costNano: number }
