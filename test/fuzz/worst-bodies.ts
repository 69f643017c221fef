/** The bodies that are dearest to read of all that anybody may send, on each route that takes one: how long each keeps all others waiting. */
import type { GatewayProcess } from './world'

/** The longest that one of them may keep all others waiting, in processor time. */
const MOST_MS = 100
/** The least of so many counts, and of more where that is too long: what else happened on the machine is not the body's doing. */
const TIMES = 3
const MOST_TIMES = 12
const MOST_BYTES = 19 * 1024 * 1024

function list(count: number, item: (index: number) => string): string {
  return Array.from({ length: count }, (_, index) => item(index)).join(',')
}

const objectOf = (count: number, name: (index: number) => string) =>
  `{${list(count, (index) => `"${name(index)}":1.0`)}}`

/** JSON values by what is dear about them. Each holds little less than a body may. */
const VALUES: readonly [name: string, value: string][] = [
  ['numbers that keep their digits', `{"enum":[${'1.0,'.repeat(90_000)}1]}`],
  ['long numbers', `{"enum":[${list(90_000, (index) => `1.${'7'.repeat(30)}${index % 10}`)}]}`],
  ['names that differ', `{"enum":[${list(9, () => objectOf(9_000, (index) => String(index * 7_919)))}]}`],
  ['long names', `{"enum":[${list(9, () => objectOf(9_000, (index) => String(index).padStart(150, 'q')))}]}`],
  ['small objects', `{"enum":[${list(45_000, (index) => `{"${(index % 9_000) * 7_919}":1.0}`)}]}`],
  ['deep arrays', `{"enum":[${list(1_900, () => `${'['.repeat(50)}1.0${']'.repeat(50)}`)}]}`],
  ['indentation', `{"enum":[${' '.repeat(3_900_000)}1.0]}`],
]
const TEXTS: readonly [name: string, text: string][] = [
  ['a long text', `"${'So it goes. '.repeat(MOST_BYTES / 12)}"`],
  ['a long text of many scripts', `"漢${'xé'.repeat(MOST_BYTES / 3)}"`],
  ['as many escapes as there may be', `"${'\\"'.repeat(2_090_000)}${'x'.repeat(MOST_BYTES - 4_300_000)}"`],
]
const MANY = 30_000

/** JSON inside a text, which a provider of another format is sent as an object: arguments of a call, the result of one. */
const INSIDE: readonly [name: string, json: string][] = [
  ['numbers', `{"x":[${'1.0,'.repeat(99_000)}1]}`],
  ['names', objectOf(10_000, (index) => String(index * 7_919))],
  ['long names', objectOf(10_000, (index) => String(index).padStart(300, 'q'))],
  ['objects', `{"x":[${list(45_000, (index) => `{"${(index % 9_000) * 7_919}":1.0}`)}]}`],
  ['a long text', JSON.stringify({ x: 'So it goes. '.repeat(340_000) })],
  ['more than may be', objectOf(200_000, (index) => String(index * 7_919))],
]

function withCall(model: string, [args, result]: [string, string]): string {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: args } }
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'call_1', content: result },
  ]
  return JSON.stringify({ model, max_tokens: 1, messages })
}

/** What embeddings may be asked for, of which no route of a conversation has so much. */
const EMBEDDED: readonly [name: string, input: string][] = [
  ['tokens of one text', `[${list(299_000, (index) => String(index % 50_000))}]`],
  ['tokens of many texts', `[${list(2_000, () => `[${list(149, String)}]`)}]`],
  ['tokens that are written at length', `[${'1.0,'.repeat(299_000)}1]`],
  ...TEXTS,
]

type Route = { path: string; schema(value: string): string; text(value: string): string; many: string }

const routes: readonly Route[] = [
  ...['/v1/chat/completions', '/v1/route'].map((path) => ({
    path,
    schema: (value: string) =>
      `{"model":"svc/alpha","max_tokens":1,"messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"function","function":{"name":"f","parameters":${value}}}]}`,
    text: (value: string) => `{"model":"svc/alpha","max_tokens":1,"messages":[{"role":"user","content":${value}}]}`,
    many: `{"model":"svc/alpha","max_tokens":1,"messages":[${list(MANY, () => '{"role":"user","content":"Hi"}')}]}`,
  })),
  ...['/v1/messages', '/v1/messages/count_tokens'].map((path) => ({
    path,
    schema: (value: string) =>
      `{"model":"svc/messages","max_tokens":1,"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"f","input_schema":${value}}]}`,
    text: (value: string) => `{"model":"svc/messages","max_tokens":1,"messages":[{"role":"user","content":${value}}]}`,
    many: `{"model":"svc/messages","max_tokens":1,"messages":[{"role":"user","content":[${list(MANY, () => '{"type":"text","text":"Hi"}')}]}]}`,
  })),
  ...['/v1/responses', '/v1/responses/input_tokens'].map((path) => ({
    path,
    schema: (value: string) =>
      `{"model":"svc/responses","store":false,"input":"Hi","tools":[{"type":"function","name":"f","parameters":${value}}]}`,
    text: (value: string) => `{"model":"svc/responses","store":false,"input":${value}}`,
    many: `{"model":"svc/responses","store":false,"input":[${list(MANY, () => '{"role":"user","content":"Hi"}')}]}`,
  })),
  ...['generateContent', 'countTokens'].map((verb) => ({
    path: `/v1beta/models/svc%2Fgenerate-content:${verb}`,
    schema: (value: string) =>
      `{"contents":[{"parts":[{"text":"Hi"}]}],"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":${value}}]}]}`,
    text: (value: string) => `{"contents":[{"parts":[{"text":${value}}]}]}`,
    many: `{"contents":[{"parts":[${list(MANY, () => '{"text":"Hi"}')}]}]}`,
  })),
]

/** Sends each of them alone, or only those whose path and name hold `only`. Returns those that kept others waiting for too long. */
export async function judgeWorstBodies(
  gateway: GatewayProcess,
  note: (line: string) => void,
  only = '',
): Promise<string[]> {
  const faults: string[] = []
  for (const { path, schema, text, many } of routes) {
    const bodies: [name: string, body: string][] = [
      ...VALUES.map(([name, value]): [string, string] => [name, schema(value)]),
      ...TEXTS.map(([name, value]): [string, string] => [name, text(value)]),
      [`${MANY} parts`, many],
    ]
    await judge(path, bodies)
  }
  await judge(
    '/v1/embeddings',
    EMBEDDED.map(([name, input]) => [name, `{"model":"svc/embed","input":${input}}`]),
  )
  for (const model of ['svc/messages', 'svc/generate-content', 'svc/responses']) {
    const inside = INSIDE.flatMap(([name, json]): [string, string][] => [
      [`arguments: ${name}, to ${model}`, withCall(model, [json, 'x'])],
      [`a result: ${name}, to ${model}`, withCall(model, ['{}', json])],
    ])
    await judge('/v1/chat/completions', inside)
  }
  return faults

  async function judge(path: string, bodies: [name: string, body: string][]): Promise<void> {
    for (const [name, body] of bodies) {
      if (!`${path}, ${name}`.includes(only)) continue
      const { status, leastMs } = await sendAlone(gateway, path, body)
      note(`${path}, ${name}: ${Math.round(leastMs)} ms (${status})`)
      if (leastMs > MOST_MS) faults.push(`${path}: ${name} kept all others waiting for ${Math.round(leastMs)} ms`)
    }
  }
}

async function sendAlone(gateway: GatewayProcess, path: string, body: string) {
  let leastMs = Number.POSITIVE_INFINITY
  let status = 0
  for (let time = 0; time < TIMES || (leastMs > MOST_MS && time < MOST_TIMES); time++) {
    const key = await gateway.customer('1000')
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    await gateway.vitals()
    const response = await fetch(gateway.world.url + path, { method: 'POST', headers, body })
    await response.text()
    status = response.status
    const { stallMs } = await gateway.vitals()
    leastMs = Math.min(leastMs, stallMs)
  }
  return { status, leastMs }
}
