/** What tests of batches share: input files, their upload, and waiting for a batch to end. */
import type { Customer, TestGateway } from '@test/support/gateway'
import { untilSeldom } from '@test/support/until'
import OpenAI, { toFile } from 'openai'
import type { Batch } from 'openai/resources/batches'

export type InputLine = { custom_id: string; method: string; url: string; body: Record<string, unknown> }

export const CHAT = '/v1/chat/completions' as const

/** A line that asks for a chat completion. */
export function chatLine(id: string, body: Record<string, unknown> = {}): InputLine {
  const messages = [{ role: 'user', content: `Question ${id}` }]
  return { custom_id: id, method: 'POST', url: CHAT, body: { model: 'svc/alpha', max_tokens: 20, messages, ...body } }
}

/** The official client of a customer. */
export function clientOf(url: string, { key: apiKey }: Customer): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })
}

/** The lines as a file; texts stay as they are. */
export function jsonl(lines: readonly unknown[]): string {
  return lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('')
}

/** Uploads a file. Returns its id. */
export async function upload(client: OpenAI, text: string): Promise<string> {
  const file = await client.files.create({ file: await toFile(Buffer.from(text), 'in.jsonl'), purpose: 'batch' })
  return file.id
}

/** Uploads `lines` and makes a batch of them. */
export async function begin(client: OpenAI, lines: readonly unknown[], endpoint: typeof CHAT = CHAT): Promise<Batch> {
  const input_file_id = await upload(client, jsonl(lines))
  return client.batches.create({ input_file_id, endpoint, completion_window: '24h' })
}

const ENDED: readonly string[] = ['completed', 'expired', 'cancelled', 'failed']

/** The batch once it has ended; `beforeLook` is done before each look. */
export function ended(client: OpenAI, id: string, beforeLook = async () => {}): Promise<Batch> {
  const look = async () => {
    await beforeLook()
    const batch = await client.batches.retrieve(id)
    return ENDED.includes(batch.status) && batch
  }
  return untilSeldom(look, 'the batch to end')
}

/** The reason of the batch's pause, once it has paused. */
export function paused({ gateway }: TestGateway, id: string): Promise<string> {
  const look = async () => {
    const [row] = await gateway.database.sql<{ paused: string | null }[]>`SELECT paused FROM batches WHERE id = ${id}`
    return row?.paused ?? undefined
  }
  return untilSeldom(look, 'the batch to pause')
}

/** Ends the time that a paused batch and its lines wait. */
export async function hurry({ gateway }: TestGateway, id: string): Promise<void> {
  const { sql } = gateway.database
  await sql`UPDATE batch_lines SET due_at = now() WHERE batch_id = ${id} AND state = 'waiting'`
  await sql`UPDATE batches SET due_at = now() WHERE id = ${id}`
}

export type ResultLine = {
  id: string
  custom_id: string
  response: { status_code: number; request_id: string; body: Record<string, unknown> } | null
  error: { code: string; message: string } | null
}

/** The lines of a file of results; none without a file. */
export async function resultLines(client: OpenAI, fileId: string | null | undefined): Promise<ResultLine[]> {
  if (!fileId) return []
  const text = await (await client.files.content(fileId)).text()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
}
