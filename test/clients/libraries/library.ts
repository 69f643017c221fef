/** What the tests want of any client library: a conversation, an error, the model list, a count of tokens. */
import type { SeenCall } from '@test/matrix/types'
import type { FormatName } from '@/chat/format-name'

export type Talk = {
  model: string
  prompt: string
  isStream: boolean
  /** Offers `get_weather`, answers every call with {@link TOOL_RESULT}, and asks again until there is no call. */
  withTools: boolean
}

/** A conversation that the library's own runner leads: it calls `get_weather` itself, and asks again. */
export type ToolRun = { model: string; system: string; prompt: string; isStream: boolean }

/** What was said in the end, and every call on the way. */
export type Talked = { text: string; calls: SeenCall[] }

/** What the library threw: whether it is of its own class for API errors, the status it read, and its words. */
type Thrown = { isOwnClass: boolean; status: number | undefined; className: string; message: string }

export type Access = { baseUrl: string; key: string }

export interface Library {
  /** With its major version, e.g. `openai 7`. */
  name: string
  family: FormatName
  talk(access: Access, talk: Talk): Promise<Talked>
  /** Asks what must fail; throws if it does not. Retries are off. */
  fail(access: Access, model: string, isStream?: boolean): Promise<Thrown>
  /** Absent where the library has no runner of tools. */
  runTools?(access: Access, run: ToolRun): Promise<Talked>
  /** Model ids as the library lists them; absent where it has no such call. */
  listModels?(access: Access): Promise<string[]>
  /** The id that the library reads from one retrieved model. */
  getModel?(access: Access, model: string): Promise<string | undefined>
  countTokens?(access: Access, model: string): Promise<number | undefined>
}

export const TOOL_RESULT = 'Sunny'
export const TOOL_NAME = 'get_weather'
export const TOOL_DESCRIPTION = 'The weather in a city'
export const TOOL_SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
}
/** More rounds than any test needs: a loop that does not end is a bug. */
export const MAX_ROUNDS = 4

/** Runs `ask` until it throws, and describes what it threw. */
export async function thrownBy(
  ask: () => Promise<unknown>,
  ownClass: abstract new (...args: never[]) => Error,
  statusOf: (error: Error) => unknown = (error) => (error as { status?: unknown }).status,
): Promise<Thrown> {
  try {
    await ask()
  } catch (error) {
    const thrown = error as Error
    const status = statusOf(thrown)
    return {
      isOwnClass: thrown instanceof ownClass,
      status: typeof status === 'number' ? status : undefined,
      className: thrown.constructor.name,
      message: thrown.message,
    }
  }
  throw new Error('nothing was thrown')
}
