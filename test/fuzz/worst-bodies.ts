/** The bodies that are dearest to read of all that anybody may send, on each route that takes one: how long each keeps all others waiting. */
import type { GatewayProcess } from './world'

/** The longest that one of them may keep all others waiting, in processor time. */
const MOST_MS = 100
/** The least of so many counts: what else happened on the machine is not the body's doing. */
const TIMES = 3
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

/** Sends each of them alone. Returns those that kept others waiting for too long. */
export async function judgeWorstBodies(gateway: GatewayProcess, note: (line: string) => void): Promise<string[]> {
  const faults: string[] = []
  for (const { path, schema, text, many } of routes) {
    const bodies: [name: string, body: string][] = [
      ...VALUES.map(([name, value]): [string, string] => [name, schema(value)]),
      ...TEXTS.map(([name, value]): [string, string] => [name, text(value)]),
      [`${MANY} parts`, many],
    ]
    for (const [name, body] of bodies) {
      const { status, leastMs } = await sendAlone(gateway, path, body)
      note(`${path}, ${name}: ${Math.round(leastMs)} ms (${status})`)
      if (leastMs > MOST_MS) faults.push(`${path}: ${name} kept all others waiting for ${Math.round(leastMs)} ms`)
    }
  }
  return faults
}

async function sendAlone(gateway: GatewayProcess, path: string, body: string) {
  let leastMs = Number.POSITIVE_INFINITY
  let status = 0
  for (let time = 0; time < TIMES; time++) {
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
