/** Computes the maximum cost of a request, for batches, which show their maximum cost before their lines run. */
import type { ChatRequest } from '@/chat/request'
import { EmbeddingOffer } from '@/gateway/embed/embedding-offer'
import { quickSize } from '@/gateway/hold/hold-size'
import { EVERYTHING } from '@/ledger/allowed'
import type { Nano } from '@/lib/money'
import type { Plan } from '@/routing/plan/plan'
import type { EmbeddingPlan } from '@/routing/plan/plan-embedding'

/** The most that a conversation of `bytes` can cost at any target of its plan. Throws for content without a price there. */
export function mostOfChat(request: ChatRequest, plan: Plan, bytes: number): Nano {
  return quickSize({ request, prompt: plan.requirements.prompt, plan }, bytes).amount
}

/** The most that embeddings can cost. */
export function mostOfEmbeddings(plan: EmbeddingPlan): Nano {
  return new EmbeddingOffer(plan, EVERYTHING).size.amount
}
