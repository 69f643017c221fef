/** The request whose stages are measured: its bytes, and what each stage makes of it for the next. */
import type { Shot } from '@bench/load/job'
import { requestBody } from '@bench/load/request-bytes'
import type { AppDeps } from '@/app'
import type { ChatRequest } from '@/chat/request'
import type { Format } from '@/formats/format'
import { assert } from '@/lib/assert'
import type { JsonObject } from '@/lib/json'
import type { Plan } from '@/routing/plan/plan'

export type Sample = {
  /** A new one each time: a body can be read only once. */
  request(): Request
  bodyText: string
  json: JsonObject
  chat: ChatRequest
  format: Format
  plan: Plan
}

/** Prepares the sample for one key. */
export async function prepareSample(deps: AppDeps, shot: Shot, key: string): Promise<Sample> {
  const format = deps.formats.get(shot.format)
  assert(format, 'every format has its codec')
  const bodyText = requestBody(shot)
  const json = JSON.parse(bodyText) as JsonObject
  const chat = format.decodeRequest(json, {})
  const plan = await deps.router.plan(chat, { clientFormat: format.name, session: undefined })
  const headers = {
    ...{ 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(bodyText)) },
    ...{ authorization: `Bearer ${key}`, accept: '*/*', 'user-agent': 'bench' },
  }
  const address = `http://127.0.0.1${shot.path}`
  return {
    request: () => new Request(address, { method: 'POST', headers, body: bodyText }),
    ...{ bodyText, json, chat, format, plan },
  }
}
