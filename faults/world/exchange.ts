/** One call to the scripted provider with the answer it is to get, and what plays it: a script. */
import type { Answer } from './answer'

/** One call as the provider saw it. */
export type Call = {
  index: number
  path: string
  headers: ReadonlyMap<string, string>
  body: Record<string, unknown>
  /** Names the client's request: taken from its prompt. */
  marker: string
  /** How many calls came for this request before. */
  attempt: number
  atMs: number
}

export type Exchange = { call: Call; answer: Answer; bill(kind: 'input' | 'output', tokens: number): void }
export type Script = (exchange: Exchange) => Promise<void>
