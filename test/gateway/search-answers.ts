/** Answers of a messages provider that searched the web, whole and as a stream, with everything that a client gets of it. */

/** The tool that asks for it. */
export const SEARCH = { type: 'web_search_20250305', name: 'web_search' }

/** A search, what it found, and a text that cites it. */
export const SEARCH_CONTENT = [
  { type: 'text', text: 'I look it up.' },
  { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: 'srvtoolu_1',
    content: [{ type: 'web_search_result', url: 'https://a.example', title: 'A', encrypted_content: 'EqgfCioIARgB' }],
  },
  {
    type: 'text',
    text: 'Sun.',
    citations: [{ type: 'web_search_result_location', url: 'https://a.example', title: 'A', cited_text: 'sun' }],
  },
]

/** A whole answer that made a search; `uses` is what its usage says of it. */
export function message(uses: Record<string, number> | undefined, input = 100) {
  return {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'x', stop_reason: 'end_turn', stop_sequence: null },
    content: SEARCH_CONTENT,
    usage: { input_tokens: input, output_tokens: 10, ...(uses && { server_tool_use: uses }) },
  }
}

/** The same as the events of a stream. */
export function messageEvents(uses: Record<string, number>): Record<string, unknown>[] {
  const { content: blocks, usage, ...start } = message(undefined)
  return [
    { type: 'message_start', message: { ...start, content: [], usage: { ...usage, output_tokens: 1 } } },
    ...blocks.flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: block.type === 'text' ? { type: 'text', text: '' } : block },
      ...(block.type === 'text' ? [delta(index, { type: 'text_delta', text: block.text })] : []),
      ...(block.citations ?? []).map((citation) => delta(index, { type: 'citations_delta', citation })),
      { type: 'content_block_stop', index },
    ]),
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { ...usage, server_tool_use: uses } },
    { type: 'message_stop' },
  ]
}

function delta(index: number, value: object) {
  return { type: 'content_block_delta', index, delta: value }
}

/** Events as the messages format writes them. */
export function namedEvents(events: Record<string, unknown>[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

/** An event stream of this text. */
export function sse(text: string): Response {
  return new Response(text, { headers: { 'content-type': 'text/event-stream' } })
}
