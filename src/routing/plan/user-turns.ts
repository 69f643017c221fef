/** Finds what the user said in a conversation: the latest turns and the first, however many tool results stand between them. */
import type { Turn } from '@/chat/request'

/** A turn of the user that has text, and its place in the conversation, which stays the same as the conversation grows. */
export type UserTurn = { texts: string[]; place: number }

/** Turns that are looked through from either end: a loop of tools is long, a body of nothing but turns is longer. */
const MAX_TURNS_READ = 2_000

/** The user's last `most` turns with text, the latest first, and then the first of all, where it is not among them. */
export function readUserTurns(turns: readonly Turn[], most: number): UserTurn[] {
  const found: UserTurn[] = []
  const oldest = Math.max(0, turns.length - MAX_TURNS_READ)
  let place = turns.length - 1
  for (; place >= oldest && found.length < most; place--) add(turns[place], place, found)
  // What was looked through already is not looked through again.
  const end = Math.min(place + 1, MAX_TURNS_READ)
  for (let early = 0; early < end; early++) if (add(turns[early], early, found)) break
  return found
}

function add(turn: Turn | undefined, place: number, found: UserTurn[]): boolean {
  if (turn?.role !== 'user') return false
  const texts: string[] = []
  for (const block of turn.content) if (block.type === 'text' && block.text !== '') texts.push(block.text)
  if (texts.length > 0) found.push({ texts, place })
  return texts.length > 0
}
