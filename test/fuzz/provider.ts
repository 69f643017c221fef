/** The provider that neighbours share, as a process of its own, and the words by which they have it do what they want. */
import { join } from 'node:path'

const PROGRAM = join(import.meta.dir, 'patient-provider.ts')
/** As many calls at once as its gateways are to make. */
export const SLOTS = 120

/** A request that holds this is limited. */
export const LIMITED_WORDS = 'more than a minute allows'
/** One that holds this is thought about at length, and the thoughts are signed, where the provider signs any. */
export const SIGNED_WORDS = 'think it over'
/** One that holds this has a long answer. */
export const LONG_WORDS = 'tell me everything'
/** One that holds this is answered after long, or in a stream that goes on for as long. */
export const SLOW_WORDS = 'take your time'

let signed = 0

/** An answer of format messages that calls a tool, after a long thought that its history has to bring back. */
export function signedAnswer(): Response {
  const content = [
    { type: 'thinking', thinking: 'So it goes. '.repeat(20_000), signature: 'proof' },
    { type: 'tool_use', id: `toolu_${signed++}`, name: 'f', input: {} },
  ]
  const usage = { input_tokens: 9, output_tokens: 9 }
  const answer = { id: 'msg_1', type: 'message', role: 'assistant', model: 'upstream', content, usage }
  return Response.json({ ...answer, stop_reason: 'tool_use', stop_sequence: null })
}

/** Starts it. It ends with this process, or when it is stopped. */
export async function startProvider(): Promise<{ url: string; stop(): void }> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const onExit = () => reject(new Error('the provider did not start'))
  const stdio = ['ignore', 'inherit', 'inherit'] as const
  const child = Bun.spawn(['bun', PROGRAM], { stdio: [...stdio], ipc: (url: string) => resolve(url), onExit })
  return { url: await promise, stop: () => child.disconnect() }
}
