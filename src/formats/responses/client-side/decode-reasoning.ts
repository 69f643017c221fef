/** How hard a responses request asks to think: `reasoning` in the words of the hub. */
import { EFFORTS, type Effort, type Reasoning } from '@/chat/request'
import type { WireRequest } from './wire'

/** The effort, and whether to show a summary. `latestEffort`, said later in the conversation, wins. */
export function decodeReasoning({ reasoning }: WireRequest, latestEffort?: string | null): Reasoning | undefined {
  const given = latestEffort ?? reasoning?.effort
  const effort = EFFORTS.find((candidate): candidate is Effort => candidate === given)
  const wantsSummary = Boolean(reasoning?.summary ?? reasoning?.generate_summary)
  if (effort === undefined) return wantsSummary ? { visible: true } : undefined
  return effort === 'none' ? { effort } : { effort, visible: wantsSummary }
}
