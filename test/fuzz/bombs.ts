/** JSON without end: in bodies, and in every text of a body that is parsed later; and long values in every place. */
import type { Probe } from './probe'
import type { World } from './world'

type BombSize = { depth: number; bytes: number }

const PROVIDERS = ['svc/chat-completions', 'svc/messages', 'svc/generate-content']

/** Probes of every size in every place, for a model of each format. */
export function bombProbes(world: World, { depth, bytes }: BombSize): Probe[] {
  const texts: [name: string, text: string][] = [
    [`arrays ${depth} deep`, '['.repeat(depth) + ']'.repeat(depth)],
    [`objects ${depth} deep`, `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`],
    [`arrays ${depth} deep, never closed`, `{"a":${'['.repeat(depth)}`],
    [`${bytes} bytes of values`, `{"a":[${'0,'.repeat(bytes / 2)}0]}`],
    [`${bytes} bytes of objects`, `{"a":[${'{},'.repeat(bytes / 3)}{}]}`],
    [`${bytes} bytes of names`, `{${namesOf(bytes)}}`],
    [`${bytes} bytes of text`, JSON.stringify({ a: 'x'.repeat(bytes) })],
    [`${bytes} bytes of escapes`, `{"a":"${'\\u0001'.repeat(bytes / 6)}"}`],
    [`${bytes} bytes of backslashes`, `{"a":"${'\\\\'.repeat(bytes / 2)}"}`],
  ]
  return PROVIDERS.flatMap((model) =>
    texts.flatMap(([name, text]) =>
      placesFor(model, text).map(([place, path, body]): Probe => {
        const user = world.users[0]
        const headers = { authorization: `Bearer ${user?.key}`, 'content-type': 'application/json' }
        return { name: `${name} as ${place} for ${model}`, method: 'POST', path, headers, body, ...(user && { user }) }
      }),
    ),
  )
}

function namesOf(bytes: number): string {
  const names: string[] = []
  for (let length = 0, index = 0; length < bytes; index++) {
    const name = `"${index.toString(36)}":0`
    names.push(name)
    length += name.length + 1
  }
  return names.join(',')
}

/** Where the text goes: as a value of the body, and as a text in it. `"SPOT"` and `SPOT` stand for the two. */
function placesFor(model: string, text: string): [place: string, path: string, body: string][] {
  const quoted = JSON.stringify(text)
  const chat = (turns: string) => `{"model":"${model}","messages":[{"role":"user","content":"Hi"},${turns}]}`
  const call = (args: string) =>
    `{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${args}}}]}`
  const result = (content: string) => `{"role":"tool","tool_call_id":"c","content":${content}}`
  const tool = (schema: string) => `"tools":[{"type":"function","function":{"name":"f","parameters":${schema}}}]`
  const messages = (content: string) =>
    `{"model":"${model}","max_tokens":9,"messages":[{"role":"user","content":${content}}]}`
  const generate = `/v1beta/models/${encodeURIComponent(model)}:generateContent`
  const parts = (part: string) => `{"contents":[{"role":"user","parts":[${part}]}]}`
  const completions = '/v1/chat/completions'
  return [
    ['a body', completions, text],
    ['arguments', completions, chat(`${call(quoted)},${result('"ok"')}`)],
    ['arguments that are an object', completions, chat(`${call(text)},${result('"ok"')}`)],
    ['a result', completions, chat(`${call('"{}"')},${result(quoted)}`)],
    ['a schema', completions, chat('{"role":"user","content":"x"}').replace('{', `{${tool(text)},`)],
    ['metadata', completions, chat('{"role":"user","content":"x"}').replace('{', `{"metadata":${text},`)],
    ['a message', '/v1/messages', messages(quoted)],
    ['input', '/v1/messages', messages(`[{"type":"tool_result","tool_use_id":"c","content":${quoted}}]`)],
    ['a user id', '/v1/messages', messages('"x"').replace('{', `{"metadata":{"user_id":${quoted}},`)],
    ['a text to count', '/v1/messages/count_tokens', messages(quoted)],
    ['a part', generate, parts(`{"text":${quoted}}`)],
    ['a response', generate, parts(`{"functionResponse":{"name":"f","response":{"output":${quoted}}}}`)],
    ['a response that is an object', generate, parts(`{"functionResponse":{"name":"f","response":${text}}}`)],
    ['a signature', generate, parts(`{"text":"x","thoughtSignature":${quoted}}`)],
    ['an explained request', '/v1/route', chat(call(quoted))],
  ]
}
