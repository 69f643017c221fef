/** System turns in the middle of a conversation: kept where the model takes them, else told inside a user turn. */
import type { ContentBlock, Turn } from '@/chat/request'

/**
 * Returns the turns with every system turn folded into user text, except, where `isSupported`, those that stand where the
 * API accepts them: right after a user turn, and last or right before an assistant turn.
 */
export function foldSystemTurns(turns: readonly Turn[], isSupported: boolean): Turn[] {
  const joined = joinSystemTurns(turns)
  return joined.map((turn, index) => {
    if (turn.role !== 'system') return turn
    const next = joined[index + 1]
    const isAccepted = joined[index - 1]?.role === 'user' && (!next || next.role === 'assistant')
    return isSupported && isAccepted ? turn : { role: 'user', content: turn.content.map(wrap) }
  })
}

function joinSystemTurns(turns: readonly Turn[]): Turn[] {
  const joined: Turn[] = []
  for (const turn of turns) {
    const last = joined.at(-1)
    if (turn.role === 'system' && last?.role === 'system') last.content.push(...turn.content)
    else joined.push(turn.role === 'system' ? { ...turn, content: [...turn.content] } : turn)
  }
  return joined
}

function wrap(block: ContentBlock): ContentBlock {
  return block.type === 'text' && block.text !== '' ? { ...block, text: `<system>${block.text}</system>` } : block
}
