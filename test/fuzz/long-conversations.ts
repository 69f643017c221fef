/** Stored conversations as long as one may be, which a neighbour has others' time wasted with. */
import type { Database } from '@/db/client'

type Stored = { id: string; parent: string | null; input: string; values: number }

/** Stores them for an account: `resp_3`, as many bytes as may be; `resp_values` and `resp_many_values`, as many values, and more. */
export async function storeConversations({ sql }: Pick<Database, 'sql'>, accountId: string): Promise<void> {
  async function store({ id, parent, input, values }: Stored): Promise<void> {
    await sql`
      INSERT INTO stored_responses
        (account_id, id, key_id, parent_id, model, input, answer, bytes, created_at, expires_at, json_values, input_items, output_items)
      VALUES (${accountId}, ${id}, 'key', ${parent}, 'svc/responses', ${input},
        '{"output":[]}', ${input.length}, now(), now() + interval '1 day', ${values}, 1, 0)`
  }

  const words = 'So it goes on and on. '.repeat(170_000)
  for (let link = 0; link < 4; link++) {
    const input = JSON.stringify([{ type: 'message', role: 'user', id: `msg_${link}`, content: words }])
    await store({ id: `resp_${link}`, parent: link === 0 ? null : `resp_${link - 1}`, input, values: 5 })
    await sql`
      INSERT INTO stored_response_items (account_id, item_id, response_id, bytes, place)
      VALUES (${accountId}, ${`msg_${link}`}, ${`resp_${link}`}, ${input.length}, 0)`
  }
  for (const [id, count] of [
    ['resp_values', 18_000],
    ['resp_many_values', 30_000],
  ] as const) {
    const items = Array.from({ length: count }, () => ({ type: 'message', role: 'user', content: 'x' }))
    await store({ id, parent: null, input: JSON.stringify(items), values: 5 * count })
  }
}
