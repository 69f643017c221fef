/** How hard a chat-completions request asks to think: `reasoning_effort` in the words of the hub. */
import { EFFORTS, type Effort, type Reasoning } from '@/chat/request'
import type { WireRequest } from './wire'

/** Whoever asks for effort gets to read what it bought, where the provider shows it; this format has no field to say so. */
export function decodeReasoning({ reasoning_effort: given }: WireRequest): Reasoning | undefined {
  const effort = EFFORTS.find((candidate): candidate is Effort => candidate === given)
  if (effort === undefined) return undefined
  return effort === 'none' ? { effort } : { effort, visible: true }
}
