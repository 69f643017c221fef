/** What the frameworks for Python are put through, and what must come of it. */
import type { Access, Talked } from '@test/clients/libraries/library'
import { speak, speakCall } from '@test/clients/spoken'
import { QUESTION, SAW_ALL, SYSTEM, testify } from '@test/clients/witness'
import type { Worker } from '@test/clients/worker'
import type { UpstreamCall } from '@test/support/upstream'
import type { FormatName } from '@/chat/format-name'

/** A framework: the module that drives it, and the packages whose versions it is known by. */
export const FRAMEWORKS = [
  {
    name: 'LangChain',
    module: 'langchain_client',
    packages: ['langchain-openai', 'langchain-anthropic', 'langchain-google-genai'],
  },
  { name: 'pydantic-ai', module: 'pydantic_ai_client', packages: ['pydantic-ai-slim'] },
] as const

type Scenario = {
  name: string
  /** The provider's answer to one call. */
  respond(provider: FormatName, call: UpstreamCall): Response
  /** What is wrong; undefined if nothing is. */
  run(asked: Asked): Promise<string | undefined>
}

type Asked = { worker: Worker; family: FormatName; access: Access; model: string }

export const SCENARIOS: readonly Scenario[] = [
  talking('chat', { isStream: false, withTools: false }),
  talking('stream', { isStream: true, withTools: false }),
  talking('tools', { isStream: false, withTools: true }),
  talking('tools in a stream', { isStream: true, withTools: true }),
  {
    name: 'structured output',
    respond: (provider, { body }) => structured(provider, body),
    async run({ worker, ...asked }) {
      const answer = await worker.call('parse', asked)
      return answer === 42 ? undefined : `it parsed ${JSON.stringify(answer)}`
    },
  },
]

function talking(name: string, how: { isStream: boolean; withTools: boolean }): Scenario {
  return {
    name,
    respond(provider, call) {
      if (how.withTools) return testify(provider, call)
      const text = JSON.stringify(call.body)
      return speak(provider, how.isStream, text.includes(SYSTEM) && text.includes(QUESTION) ? SAW_ALL : 'I saw little.')
    },
    async run({ worker, ...asked }) {
      const talk = { ...asked, ...how, system: SYSTEM, prompt: QUESTION }
      const { text, calls } = (await worker.call('talk', talk)) as Talked
      const cities = calls.map((call) => (call.arguments as { city: string }).city).sort()
      if (text !== SAW_ALL) return `it says ${JSON.stringify(text)}`
      const wanted = how.withTools ? 'Oslo,Rome' : ''
      return cities.join() === wanted ? undefined : `it called the tool for ${cities.join()}`
    },
  }
}

/** Some ask for a schema, and some offer a tool whose arguments are the answer. */
function structured(provider: FormatName, body: Record<string, unknown>): Response {
  const name = /"name":"((?:Answer|final_result)[^"]*)"/.exec(JSON.stringify(body.tools ?? ''))?.[1]
  if (name === undefined) return speak(provider, false, '{"answer":42}')
  return speakCall(provider, { isStream: false, name, pieces: ['{"answer":', '42}'] })
}
