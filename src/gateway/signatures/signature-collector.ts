/** Collects a provider's signatures in an answer: of tool calls, and of the reasoning before each. */
import type { ChatEvent } from '@/chat/event'
import type { ReasoningBlock, Signature } from '@/chat/request'
import type { ChatResponse } from '@/chat/response'

/** The signatures for one tool call: its own, and those of the reasoning before it. */
export type SignedCall = { call?: Signature; reasoning: ReasoningBlock[] }

export interface SignatureCollector {
  observe(event: ChatEvent): void
  observeResponse(response: ChatResponse): void
  signedCalls(): ReadonlyMap<string, SignedCall>
}

export function createSignatureCollector(): SignatureCollector {
  const signed = new Map<string, SignedCall>()
  const callIds = new Map<number, string>()
  const open = new Map<number, ReasoningBlock>()
  let reasoning: ReasoningBlock[] = []

  function note(id: string, call: Signature | undefined): void {
    if (call || reasoning.length > 0) signed.set(id, { ...(call && { call }), reasoning })
    // Only the first of several parallel calls follows the reasoning.
    reasoning = []
  }

  function noteReasoning(block: ReasoningBlock): void {
    if (block.signature || block.redacted) reasoning = [...reasoning, block]
  }

  return {
    observe(event) {
      switch (event.type) {
        case 'reasoning-start':
          open.set(event.block, { type: 'reasoning', text: '', ...(event.redacted && { redacted: event.redacted }) })
          return
        case 'reasoning-delta': {
          const block = open.get(event.block)
          if (block) block.text += event.text
          return
        }
        case 'reasoning-end': {
          const block = open.get(event.block)
          if (block) noteReasoning({ ...block, ...(event.signature && { signature: event.signature }) })
          return
        }
        case 'tool-call-start':
          callIds.set(event.block, event.id)
          return
        case 'tool-call-end':
          note(callIds.get(event.block) ?? '', event.signature)
          return
        default:
          return
      }
    },
    observeResponse(response) {
      for (const block of response.choices.flatMap((choice) => choice.content)) {
        if (block.type === 'reasoning') noteReasoning(block)
        else if (block.type === 'tool-call') note(block.id, block.signature)
      }
    },
    signedCalls: () => signed,
  }
}
