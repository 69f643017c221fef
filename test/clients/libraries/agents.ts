/** OpenAI's agents SDK, which speaks Responses and runs tools itself. */
import { Agent, type AgentInputItem, OpenAIProvider, Runner, tool } from '@openai/agents'
import { APIError } from 'openai'
import type { JsonValue } from '@/lib/json'
import {
  type Access,
  type Library,
  MAX_ROUNDS,
  type Talk,
  type Talked,
  TOOL_DESCRIPTION,
  TOOL_NAME,
  TOOL_RESULT,
  TOOL_SCHEMA,
  thrownBy,
} from './library'

export const agentsLibrary: Library = {
  name: '@openai/agents',
  family: 'responses',
  talk: converse,
  runTools: (access, run) => converse(access, { ...run, withTools: true }),
  fail: (access, model, isStream = false) =>
    thrownBy(() => converse(access, { model, prompt: 'Hi', isStream, withTools: false }), APIError),
}

/** Runs `agent`; nothing is sent to anybody but the gateway. */
async function run<Context>(
  access: Access,
  agent: Agent<Context>,
  prompt: string | AgentInputItem[],
  isStream: boolean,
) {
  const { baseUrl, key } = access
  const modelProvider = new OpenAIProvider({ apiKey: key, baseURL: `${baseUrl}/v1`, useResponses: true })
  const runner = new Runner({ modelProvider, tracingDisabled: true, modelSettings: { retry: { maxRetries: 0 } } })
  if (!isStream) return runner.run(agent, prompt, { maxTurns: MAX_ROUNDS })
  const result = await runner.run(agent, prompt, { maxTurns: MAX_ROUNDS, stream: true })
  await result.completed
  if (result.error) throw result.error
  return result
}

async function converse(access: Access, talk: Talk & { system?: string }): Promise<Talked> {
  const calls: Talked['calls'] = []
  const weather = tool({
    name: TOOL_NAME,
    description: TOOL_DESCRIPTION,
    parameters: { ...TOOL_SCHEMA, additionalProperties: true },
    strict: false,
    execute(input) {
      calls.push({ name: TOOL_NAME, arguments: input as JsonValue })
      return TOOL_RESULT
    },
  })
  const agent = new Agent({
    name: 'Weatherman',
    model: talk.model,
    ...(talk.system && { instructions: talk.system }),
    tools: talk.withTools ? [weather] : [],
  })
  return { text: String((await run(access, agent, talk.prompt, talk.isStream)).finalOutput), calls }
}

/** One agent hands the conversation over to another, which answers. Returns its name and what it said. */
export async function handOver(
  access: Access,
  { model, prompt, isStream }: Pick<Talk, 'model' | 'prompt' | 'isStream'>,
): Promise<{ agent: string | undefined; text: string }> {
  const specialist = new Agent({ name: 'Specialist', model, instructions: 'You know all about clouds.' })
  const porter = new Agent({
    name: 'Porter',
    model,
    instructions: 'Hand over what you do not know.',
    handoffs: [specialist],
  })
  const result = await run(access, porter, prompt, isStream)
  return { agent: result.lastAgent?.name, text: String(result.finalOutput) }
}
