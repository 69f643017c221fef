/** Conversations in a few words: what the user says in turn, and tools that answer. */
import type { Turn } from '@/chat/request'

/** What the user said, in turn; between two of them an assistant has answered. */
export function talk(...said: string[]): Turn[] {
  return said.flatMap((text, index): Turn[] => [
    ...(index > 0 ? [{ role: 'assistant' as const, content: [{ type: 'text' as const, text: 'Very well.' }] }] : []),
    { role: 'user', content: [{ type: 'text', text }] },
  ])
}

/** A call of a tool, and its result. */
export function answered(callId: string): Turn[] {
  return [
    { role: 'assistant', content: [{ type: 'tool-call', id: callId, name: 'look', argumentsText: '' }] },
    {
      role: 'user',
      content: [{ type: 'tool-result', callId, content: [{ type: 'text', text: 'Found.' }], isError: false }],
    },
  ]
}
